"""Constructions and merging: the states and arcs of known queries, and references that come out even."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from broker.algebra.cayuga.lowering import lower
from broker.algebra.normal_form import ALWAYS, describe_form
from broker.automaton.automaton import Arc, Automaton, Carry, Computed, EventRow, Kind, describe_arc
from broker.automaton.compilation import STATES_MAX, Compiled, compile_query
from broker.automaton.sharing import Forest
from broker.events.errors import LimitExceeded
from broker.events.schema import Schema
from broker.language import cayuga

STOCK = Schema.declare({"name": "string", "price": "float", "volume": "int"})
AUTQ = """SELECT * FROM FILTER{price > 1.05 * minP_1}(
    FILTER{DUR >= 3}((SELECT name, price, price AS minP FROM FILTER{volume > 10000}(S))
      FOLD{$2.name = $.name, $2.price < $.price, $2.price AS minP} (SELECT name, price FROM S))
    NEXT{$2.name = $1.name} S)"""


def compiled(text: str) -> Compiled:
    return compile_query(lower(cayuga.parse(text), text, {"S": STOCK}.get, lambda: ["S"]))


def only(text: str) -> Automaton:
    (automaton,) = compiled(text).automata
    return automaton


def test_autq_is_the_automaton_of_the_paper() -> None:
    """Cayuga, figure 2: a start, A with filter and rebind, B with filter, an end."""
    automaton = only(AUTQ)
    assert [describe_form(s.theta) for s in automaton.states] == ["TRUE", "name = $.name", "name = $.name"]
    into_a, out_of_a, out_of_b = (automaton.forward(i) for i in range(3))
    assert describe_form(into_a.guard) == "volume > 10000"
    loop = automaton.loop(1)
    assert loop is not None
    assert describe_form(loop.guard) == "price < $.price"
    assert describe_form(out_of_a.guard) == "DUR >= 3"
    assert describe_form(out_of_b.guard) == "price > (1.05 * $.minP)"
    assert automaton.loop(2) is None
    assert out_of_b.target == automaton.final
    assert {a.kind for a in automaton.arcs} == {Kind.FORWARD, Kind.LOOP}


def test_next_binds_the_row_and_nothing_else() -> None:
    automaton = only("FILTER{price > price_1}(S NEXT{$2.name = $1.name} S)")
    assert automaton.forward(0).update == ()


def test_fold_keeps_the_first_row_and_the_aggregate() -> None:
    automaton = only("(SELECT *, 1 AS cnt FROM S) FOLD{$2.name = $.name, , $.cnt + 1 AS cnt} S")
    first, count = automaton.forward(0).update
    assert first == EventRow()
    assert isinstance(count, Computed)
    loop = automaton.loop(1)
    assert loop is not None
    assert loop.update[0] == Carry(0)
    assert describe_arc(loop) == "keep (1 + $.cnt)"


def test_a_union_on_the_left_is_a_branch_each_and_on_the_right_a_stream() -> None:
    left = compiled("(FILTER{price > 1} S UNION FILTER{price < 1} S) NEXT{} S")
    assert len(left.automata) == 2
    assert left.internal == ()
    right = compiled("S NEXT{} (FILTER{price > 1} S UNION FILTER{price < 1} S)")
    assert len(right.automata) == 1
    ((name, automata),) = right.internal
    assert len(automata) == 2
    assert right.automata[0].states[1].stream == name


def test_a_filtered_right_operand_is_inline() -> None:
    automaton = only("S NEXT{$2.name = $1.name} (SELECT name, price FROM FILTER{volume > 5} S)")
    assert describe_form(automaton.states[1].theta) == "name = $.name AND volume > 5"


def test_too_many_states_are_refused() -> None:
    text = "(" + " UNION ".join(["S NEXT{} S NEXT{} S"] * 40) + ") NEXT{} S NEXT{} S NEXT{} S NEXT{} S"
    with pytest.raises(LimitExceeded, match=str(STATES_MAX)):
        compiled(text)


def test_equal_prefixes_merge_and_removal_leaves_the_others() -> None:
    forest = Forest()
    prefix = "FILTER{name = 'IBM' AND price > 100}(S) NEXT{$2.name = $1.name} S"
    same = "FILTER{100 < price AND name = 'IBM'}(S) NEXT{$1.name = $2.name} S"
    up, first = forest.insert(only(f"FILTER{{price > price_1}}({prefix})"))
    down, second = forest.insert(only(f"FILTER{{price < price_1}}({same})"))
    again, third = forest.insert(only(f"FILTER{{price_1 > price}}({same})"))
    assert (len(first.nodes), len(second.nodes), len(third.nodes)) == (2, 0, 0)
    assert again is down
    assert third.end is None
    assert sum(1 for _ in forest.nodes()) == 2
    forest.check_invariants()
    assert forest.remove(down).end is None
    assert forest.remove(up).nodes == ()
    forest.check_invariants()
    gone = forest.remove(down)
    assert gone.end is down
    assert len(gone.nodes) == 2
    assert forest.starts == {}


def test_a_different_aggregate_is_a_different_state() -> None:
    forest = Forest()
    fold = "(SELECT name, price, price AS p FROM S) FOLD{{$2.name = $.name, , {} AS p}} (SELECT name, price FROM S)"
    forest.insert(only(fold.format("$2.price")))
    forest.insert(only(fold.format("$2.price + 1")))
    assert sum(1 for _ in forest.nodes()) == 3
    forest.check_invariants()


def test_a_different_stay_guard_is_a_different_state() -> None:
    forest = Forest()
    forest.insert(only("S NEXT{$2.name = $1.name} S"))
    forest.insert(only("S NEXT{} S"))
    assert sum(1 for _ in forest.nodes()) == 3
    assert only("S NEXT{} S").states[1].theta == ALWAYS


def test_an_arc_with_other_terms_keeps_all_else() -> None:
    values: dict[str, Any] = {each.name: f"its {each.name}" for each in fields(Arc)}
    arc = Arc(**values)
    other = arc.with_terms(ALWAYS, (), ())
    assert other == replace(arc, guard=ALWAYS, update=(), output=())
    assert other.conjuncts == arc.conjuncts, "which is not compared"
