"""Runs that pass events by: they wait for an event that a condition finds greater or less than a number of theirs.

Results and their order are those of each subscription alone. Not here: steps that wait for several constants
(test_groups_skip_till).
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from broker.engine import Engine, Options
from broker.engine.executors.groups.coordinates import ATTRIBUTE, DIFFERENCE, FACTOR, OFFSET, REGISTER, CoordinateBound
from broker.engine.executors.groups.steps import StepClause

EDGE = 2**53
Found = list[tuple[str, list[int] | None]]
Rows = Sequence[tuple[str, int | None, int]]

CEL = (
    "SELECT * FROM FILTER{{TRUE}}(FILTER{{ty = 'A' AND w > {least}}}(S)"
    " NEXT{{$2.ty = $1.ty AND $2.k {operator} {compared}}} S)"
)
SASE = (
    "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b)"
    " {{ [ty] AND a.ty = 'A' AND a.w > {least} AND b.k {operator} {compared} }} WITHIN 9"
)
FORMS = [("cayuga", CEL, "$1.k"), ("sase", SASE, "a.k")]


def found(language: str, queries: list[str], rows: Rows, off: tuple[str, ...]) -> Found:
    engine = Engine(Options(executors_off=off))
    engine.add_stream("S", {"ty": "string", "k": "int?", "w": "int"})
    for number, query in enumerate(queries):
        engine.subscribe(f"s{number}", language=language, query=query, lineage=True)
    matches: Found = []
    for time, row in enumerate(rows, 1):
        matches += sorted(((m.subscription, m.lineage) for m in engine.publish("S", [time], [row])), key=lambda m: m[0])
        engine.check_invariants()
    assert engine.statistics()["groups"] == (0 if off else 1)
    return matches


@pytest.mark.parametrize(("language", "form", "earlier"), FORMS)
def test_a_run_that_waits_keeps_its_place_before_those_that_begin_later(language: str, form: str, earlier: str) -> None:
    """The constant is the template's: whole numbers are not compared with sums as coordinates."""
    queries = [form.format(least=least, operator="<", compared=f"-1 + {earlier}") for least in (2, 3)]
    rows: list[tuple[str, int | None, int]] = [("A", 3, 3), ("A", 6, 0), ("A", 5, 4), ("A", -3, 2), ("A", 6, 0)]
    grouped = found(language, queries, rows, ())
    assert grouped == [("s0", [1, 4]), ("s0", [3, 4]), ("s1", [3, 4])]
    assert grouped == found(language, queries, rows, ("groups",))


@pytest.mark.parametrize("operator", [">", ">=", "<", "<="])
@pytest.mark.parametrize(("language", "form", "earlier"), FORMS)
def test_whole_numbers_beyond_those_of_floats_meet_factors(
    language: str, form: str, earlier: str, operator: str
) -> None:
    numbers = (EDGE, EDGE + 1, EDGE, -EDGE - 1, None, 2**62 + 1, 2**62, 0, 3, -EDGE, -EDGE - 1, 5, EDGE + 1)
    rows = [("A", number, 5) for number in numbers]
    factors = (1.0, 0.5, -1.0, 2.0)
    queries = [form.format(least=1, operator=operator, compared=f"{factor} * {earlier}") for factor in factors]
    grouped = found(language, queries, rows, ())
    assert grouped == found(language, queries, rows, ("groups",))
    assert {name for name, _ in grouped} == {"s0", "s1", "s2", "s3"}


@pytest.mark.parametrize("operator", [">", "<="])
@pytest.mark.parametrize(("language", "form", "earlier"), FORMS)
def test_each_run_ends_once_for_each_member(language: str, form: str, earlier: str, operator: str) -> None:
    """Prices that rise and fall: most events concern the youngest runs only."""
    rows = [("A", 50 + (at * 37) % 23 - (at % 7), 5) for at in range(60)]
    factors = (1.0, 1.125, 1.25, 0.75)
    queries = [form.format(least=1, operator=operator, compared=f"{factor} * {earlier}") for factor in factors]
    grouped = found(language, queries, rows, ())
    assert grouped == found(language, queries, rows, ("groups",))
    assert len(grouped) == len({(name, lineage[0]) for name, lineage in grouped if lineage})


def test_matches_come_in_the_order_of_the_events_for_which_their_runs_waited_last() -> None:
    """Of two runs that wait for the last event, the one comes first that has moved first, not the one begun first."""
    query = (
        "PATTERN SEQ(S a, S b, S c) WHERE skip_till_next_match(a, b, c)"
        " {{ [ty] AND a.ty = 'A' AND a.w > {} AND b.k < a.k AND c.k > 10 + a.k }} WITHIN 20"
    )
    queries = [query.format(least) for least in (1, 2)]
    rows = [("A", number, 5) for number in (3, 7, 5, 2, 40)]
    grouped = found("sase", queries, rows, ())
    assert grouped == found("sase", queries, rows, ("groups",))
    assert [lineage for name, lineage in grouped if name == "s0"] == [[2, 3, 5], [1, 4, 5], [3, 4, 5]]


@pytest.mark.parametrize("source", [ATTRIBUTE, FACTOR, OFFSET, DIFFERENCE])
def test_runs_that_have_met_a_greater_number_are_not_looked_at_again(source: int) -> None:
    """What else a run compares is its own, so that a greater number of the event meets all that a lesser one does."""
    bound = CoordinateBound(0, source, attribute=1, register=0)
    assert StepClause([bound]).ascending(-1) is bound
    assert StepClause([bound, CoordinateBound(2, ATTRIBUTE, attribute=2)]).ascending(-1) is None
    assert StepClause([CoordinateBound(0, REGISTER, register=0)]).ascending(-1) is None
