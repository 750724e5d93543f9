"""What machines of SASE+ patterns keep stays bounded by the window, however long they run; limits are counted."""

from __future__ import annotations

from typing import Any

import pytest

from broker.algebra.sase.lowering import lower
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.engine.executors.kleene.buffer import Pasts
from broker.engine.executors.kleene.event_log import EventLog
from broker.engine.executors.kleene.kleene_plan import compile_kleene
from broker.engine.executors.kleene.machine import KleeneMachine
from broker.engine.executors.kleene.tables import RunBounds
from broker.engine.matches.completions import Completions
from broker.engine.matches.sources import MatchSource
from broker.events.schema import Row, Schema
from broker.language.sase import parse

SCHEMA = Schema.declare({"name": "string", "price": "float", "ty": "string"})
LOWER = "b.price < 50% * a[a.LEN].price"
RISING = f"skip_till_next_match(a[], b) {{ [name] AND a[i].price > avg(a[..i-1].price) AND {LOWER} }}"
HIGHEST = RISING.replace("avg", "max")
ANY = "skip_till_any_match(a[], b) { [name] AND a[1].ty = 'A' AND a[i].ty = 'A' AND b.ty = 'B' }"
JOINED = f"skip_till_any_match(a[], b) {{ [name] AND a[i].price > a[i-1].price AND {LOWER} }}"


def machine(where: str, bounds: RunBounds | None = None, columns: bool = True, tail: str = "") -> KleeneMachine:
    text = f"PATTERN SEQ(S+ a[], S b) WHERE {where} WITHIN 20{tail}"
    pattern = lower(parse(text), text, {"S": SCHEMA}.get, lambda: ["S"])[0]
    return KleeneMachine(compile_kleene(automaton_of_pattern(pattern)), bounds, columns)


def row(number: int) -> Row:
    return ("x" if number & 1 else "y", float(number * 37 % 101), "B" if number % 7 == 0 else "A")


def taken(made: KleeneMachine, mask: int, values: Row, number: int) -> list[MatchSource]:
    found = Completions()
    found.serve(made.audience())
    made.take(mask, values, number, number, 0, 0, number, found)
    return found.since(0, values, number, number)


def run(made: KleeneMachine, first: int, upto: int, keys: int = 0) -> list[MatchSource]:
    found: list[MatchSource] = []
    for number in range(first, upto):
        name, price, ty = row(number)
        values = (f"{name}{number % keys}" if keys else name, price, ty)
        mask = sum(
            1 << at
            for at, given in enumerate(made.plan.inputs)
            if not given.guard[0] or (ty == "A") == ("'A'" in repr(given.guard))
        )
        found += taken(made, mask, values, number)
    return found


@pytest.mark.parametrize("where", [RISING, HIGHEST, ANY, JOINED])
def test_what_is_kept_does_not_grow_with_the_stream(where: str) -> None:
    made = machine(where)
    sizes = []
    for at in range(0, 6_000, 2_000):
        run(made, at, at + 2_000)
        sizes.append(sum(map(kept, made.cells.values())))
        made.check_invariants()
    assert sizes[-1] <= 2 * sizes[0] + 500


def kept(cell: Any) -> int:
    page = cell.page if hasattr(cell, "page") else cell.log
    if isinstance(page, Pasts):
        return int(page.nodes + page.links + len(page.items))
    assert isinstance(page, EventLog)
    return len(page.items) + len(page.begun)


@pytest.mark.parametrize("where", [RISING, HIGHEST, ANY])
def test_keys_without_runs_are_let_go(where: str) -> None:
    made = machine(where)
    run(made, 0, 5_000, keys=4_999)
    assert len(made.cells) < 300
    made.settle(10_000, 10_000)
    assert made.cells == {}


def test_results_that_nobody_has_read_stay_what_they_were() -> None:
    for where in (RISING, HIGHEST, ANY, JOINED):
        made = machine(where)
        found = run(made, 0, 400)
        early = [matched for each in run(machine(where), 0, 400) for matched in each.all()]
        run(made, 400, 4_000)
        assert [matched for each in found for matched in each.all()] == early
        assert early


@pytest.mark.parametrize("where", [RISING, ANY, JOINED])
@pytest.mark.parametrize("columns", [True, False])
def test_a_limit_on_runs_is_counted_and_kept(where: str, columns: bool) -> None:
    made = machine(where, RunBounds(runs=8), columns)
    run(made, 0, 300)
    assert made.lost > 0
    made.check_invariants()
    made.lost = 0
    assert run(made, 1_000, 1_300), "what has left the window makes room"
    if columns:
        return
    assert all(cell.size() <= 8 for cell in made.cells.values())


def test_the_matches_of_an_event_have_a_limit() -> None:
    whole = run(machine(ANY), 0, 100)
    made = machine(ANY, RunBounds(matches=5))
    found = run(made, 0, 100)
    assert max(each.amount() or 0 for each in whole) > 5
    assert max(each.amount() or 0 for each in found) == 5
    assert made.lost > 0
    for each, other in zip(found, whole):
        assert list(each.all()) == list(other.all())[:5]


def test_a_run_of_many_events_is_released_without_recursion() -> None:
    text = "PATTERN SEQ(S+ a[]) WHERE strict_contiguity(a[]) { a.LEN = 200000 } WITHIN 300000"
    pattern = lower(parse(text), text, {"S": SCHEMA}.get, lambda: ["S"])[0]
    made = KleeneMachine(compile_kleene(automaton_of_pattern(pattern)), RunBounds(runs=1))
    found: list[MatchSource] = []
    for number in range(200_000):
        found += taken(made, 1, ("x", 0.0, "A"), number)
    assert [each.amount() for each in found] == [1]
    (matched,) = found[0].all()
    assert len(matched.assigned) == 200_000
    found.clear()
    made.cells.clear()
