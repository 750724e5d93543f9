"""What SASE+ patterns lower to: a line of states with begin, take and proceed, what forbids, and what fills slots."""

from __future__ import annotations

import pytest

from broker.algebra.normal_form import ALWAYS
from broker.algebra.sase.lowering import lower
from broker.automaton.automaton import Accumulated, Automaton, Carry, EventRow, Kind, Report, Stay
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.events.schema import Schema
from broker.language.sase import parse

SCHEMAS = {"S": Schema.declare({"k": "int", "p": "float"}), "T": Schema.declare({"k": "int", "p": "float"})}


def automaton(text: str) -> Automaton:
    return automaton_of_pattern(lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))[0])


def arcs(made: Automaton) -> list[tuple[int, int, Kind, int, bool]]:
    return [(arc.source, arc.target, arc.kind, arc.operand, arc.peeks) for arc in made.arcs]


def test_a_kleene_component_has_two_states_and_proceeds_with_a_peek() -> None:
    made = automaton("PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[]) AND skip_till_any_match(b) WITHIN 9")
    assert [state.stay for state in made.states] == [Stay.UNTAKEN, Stay.UNTAKEN, Stay.ALL, Stay.ALL]
    assert arcs(made) == [
        (0, 1, Kind.FORWARD, 0, False),
        (1, 1, Kind.LOOP, 0, False),
        (1, 2, Kind.EPSILON, -1, True),
        (2, 3, Kind.FORWARD, 1, False),
        (3, 4, Kind.EPSILON, -1, False),
    ]
    assert (made.operands, made.within, made.distinct) == (("a", "b"), 9, True)


def test_behind_a_last_kleene_component_a_match_is_complete_at_once() -> None:
    made = automaton("PATTERN SEQ(S+ a[]) WITHIN 9 OUTPUT compressed")
    assert arcs(made)[2:] == [(1, 2, Kind.EPSILON, -1, False), (2, 3, Kind.EPSILON, -1, False)]
    assert made.report == Report.COMPRESSED


def test_negations_forbid_at_the_state_where_they_stand_and_the_last_one_waits_for_time() -> None:
    made = automaton("PATTERN SEQ(~(T m), S+ a[], ~(S n), S b, ~(T o)) WITHIN 9")
    assert arcs(made)[4:] == [
        (3, 4, Kind.TIMEOUT, -1, False),
        (0, 0, Kind.KILL, 0, False),
        (2, 2, Kind.KILL, 1, False),
        (3, 3, Kind.KILL, 2, False),
    ]
    assert made.forbidden == ("m", "n", "o")
    assert [arc.stream for arc in made.arcs[5:]] == ["T", "S", "T"]


def test_arcs_fill_the_slots_that_the_pattern_numbers() -> None:
    made = automaton(
        "PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match(a[], b) { a[i].p > max(a[..i-1].p)"
        " AND b.k = a[1].k AND b.p < a[a.LEN].p } WITHIN 9"
    )
    begin, take, proceed, last = made.arcs[:4]
    assert begin.update == (Accumulated("max", 1, "float", first=True), EventRow(), EventRow())
    assert take.update == (Accumulated("max", 1, "float"), Carry(1), EventRow())
    assert proceed.update == last.update == (Carry(0), Carry(1), Carry(2))
    assert (last.guard, len(last.joins)) == (ALWAYS, 1)


@pytest.mark.parametrize(
    ("strategy", "stay"),
    [
        ("strict_contiguity", Stay.NONE),
        ("partition_contiguity", Stay.FOREIGN),
        ("skip_till_next_match", Stay.UNTAKEN),
        ("skip_till_any_match", Stay.ALL),
    ],
)
def test_strategies_are_how_states_stay(strategy: str, stay: Stay) -> None:
    made = automaton(f"PATTERN SEQ(S a, S b) WHERE {strategy}(a, b) {{ [k] }} WITHIN 9")
    assert [state.stay for state in made.states[:2]] == [stay, stay]
