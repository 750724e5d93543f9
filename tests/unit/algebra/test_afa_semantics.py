"""The meaning of AFA: the conformance cases by hand, its typed form, and what is refused with its place."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from broker.algebra.afa.lowering import lower, lower_arcs
from broker.algebra.afa.register_automaton import RegisterAutomaton
from broker.algebra.afa.semantics import LivingEvent, Result, results
from broker.events.errors import QueryError
from broker.events.schema import Schema
from broker.language.afa import parse, parse_arc

FILE = Path(__file__).parents[2] / "conformance" / "cases.jsonl"
CASES = [case for case in map(json.loads, FILE.read_text().splitlines()) if case["language"] == "afa"]
S = Schema.declare({"ty": "string", "x": "float", "n": "int"})


def automaton_of(text: str, schema: Schema = S) -> RegisterAutomaton:
    schemas = {"S": schema, "T": Schema.declare({"ty": "string"})}
    return lower(parse(text), text, schemas.get, lambda: list(schemas))


def played(case: dict[str, Any]) -> list[Result]:
    """The net results of a case, computed from the events that are left at the end."""
    definitions = tomllib.loads(case["subscriptions"])
    schema = Schema.declare(definitions["streams"]["S"]["attributes"])
    automaton = automaton_of(definitions["subscriptions"]["q"]["query"], schema)
    events: dict[int, LivingEvent] = {}
    newest = 0
    for line in case["events"]:
        if "update" in line:
            for text in line["update"]["insert"]:
                automaton = automaton.inserted(lower_arcs(automaton, parse_arc(text), text), newest + 1)
        elif "retract" in line:
            del events[line["retract"]]
        elif "stream" in line:
            row = tuple(line["data"][name] for name in schema.names)
            events[line["id"]] = LivingEvent(line["id"], line["time"], 0, row)
            newest = max(newest, line["time"])
    return results(automaton, list(events.values()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_conformance_case(case: dict[str, Any]) -> None:
    found, expect = played(case), dict(case["expect"])
    if "log" in expect:  # of what was told on the way, only the net result is the meaning's
        told = [entry[1:] for entry in expect["log"] if entry[0] == "match"]
        for entry in expect["log"]:
            if entry[0] == "retraction":
                told.remove(entry[1:])
        assert [[list(one.lineage), [one.begin, one.end]] for one in found] == told
    if "lineages" in expect:
        assert sorted(list(one.lineage) for one in found) == sorted(expect["lineages"])
    if "lifetimes" in expect:
        assert sorted([one.begin, one.end] for one in found) == sorted(expect["lifetimes"])
    if "spans" in expect:
        assert sorted([one.lineage[0], one.lineage[-1]] for one in found) == sorted(expect["spans"])
    if "data" in expect:
        assert len(found) == len(expect["data"])
        for wanted, one in zip(expect["data"], found):
            assert list(one.registers) == pytest.approx(list(wanted.values()), rel=1e-9)


def test_an_arc_without_event_is_followed_after_each_event_and_before_the_first() -> None:
    automaton = automaton_of(
        "FROM S REGISTER k INT = 0 START a FINAL d a ~> b SET k = 1 b -> c WHEN ty = 'A' c ~> d WHEN k = 1 SET k = 2"
    )
    found = results(automaton, [LivingEvent(1, 1, 0, ("A", 1.0, 1)), LivingEvent(2, 2, 0, ("B", 1.0, 1))])
    assert [(one.lineage, one.registers) for one in found] == [((1,), (2,))]


def test_two_runs_that_come_to_the_same_are_one_result_with_the_first_arcs_lineage() -> None:
    automaton = automaton_of("FROM S START a FINAL c a -> b WHEN ty = 'A' a -> b WHEN x > 0 b -> c")
    found = results(automaton, [LivingEvent(1, 1, 0, ("A", 1.0, 1)), LivingEvent(2, 2, 0, ("B", 1.0, 1))])
    assert [one.lineage for one in found] == [(1, 2)]


def test_an_arc_without_on_takes_the_events_of_every_stream() -> None:
    automaton = automaton_of("FROM S, T START a FINAL c a -> b WHEN ty = 'A' b -> c ON T")
    assert [(arc.stream, arc.name) for arc in automaton.arcs] == [(0, ""), (1, ""), (1, "")]
    rows = ((1, ("A",)), (1, ("B",)), (0, ("A", 1.0, 1)), (1, ("C",)))
    events = [LivingEvent(at, at, stream, row) for at, (stream, row) in enumerate(rows, 1)]
    assert [one.lineage for one in results(automaton, events)] == [(1, 2), (3, 4)]


def test_a_register_without_value_is_null_and_satisfies_nothing() -> None:
    automaton = automaton_of("FROM S REGISTER r FLOAT = 1 START a FINAL b, c a -> b SET r = x / 0 b -> c WHEN r = r")
    found = results(automaton, [LivingEvent(1, 1, 0, ("A", 1.0, 1)), LivingEvent(2, 2, 0, ("A", 1.0, 1))])
    assert [(one.lineage, one.registers) for one in found] == [((1,), (None,)), ((2,), (None,))]
    assert automaton.registers.declared() == {"r": "float?"}


def test_arcs_are_deleted_for_a_while() -> None:
    automaton = automaton_of("FROM S START a FINAL b go: a -> b").deleted("go", 2, 4)
    events = [LivingEvent(at, at, 0, ("A", 1.0, 1)) for at in range(1, 6)]
    assert [one.lineage for one in results(automaton, events)] == [(1,), (4,), (5,)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FROM R START a FINAL b a -> b", "line 1, column 6: unknown stream 'R'"),
        (
            "FROM S START a FINAL b a -> b WHEN types = 'A'",
            "column 36: unknown attribute or register 'types'",
        ),
        ("FROM S, T START a FINAL b a -> b WHEN x > 1", "unknown attribute or register 'x' in 'T'"),
        ("FROM S START a FINAL b a -> b ON T", "column 34: expected a stream of FROM, found 'T'"),
        ("FROM S START a FINAL b a -> b SET n = 1", "column 35: expected a register, found 'n'"),
        ("FROM S REGISTER n INT = 1 START a FINAL b a -> b", "column 17: expected a name that is no attribute of 'S'"),
        (
            "FROM S REGISTER r INT = 'a' START a FINAL b a -> b",
            "expected a value of type int for 'r', found one of type",
        ),
        ("FROM S REGISTER r INT = n START a FINAL b a -> b", "column 25: expected a constant as the initial value"),
        ("FROM S REGISTER r INT = 1 START a FINAL b a -> b SET r = x", "expected a value of type int for 'r'"),
        ("FROM S START a FINAL b a ~> b WHEN n > 1", "column 36: expected a register, since '~>' takes no event"),
        ("FROM S START a FINAL b a ~> b b ~> a a -> b", "column 24: expected every cycle of '~>' to set a register"),
        ("FROM S START a FINAL b a -> b WHEN DUR > 1", "expected no DUR"),
        ("FROM S, T BY x START a FINAL b a -> b", "expected an attribute that every stream has, found 'x'"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        automaton_of(text)
    assert message in str(caught.value)


def test_an_update_names_only_states_that_there_are() -> None:
    automaton = automaton_of("FROM S START a FINAL b a -> b")
    text = "late: a -> c WHEN ty = 'B'"
    with pytest.raises(QueryError, match="expected a state of the subscription, found 'c'"):
        lower_arcs(automaton, parse_arc(text), text)


def test_the_time_of_an_event_is_read_unless_something_has_its_name() -> None:
    text = "FROM S, T REGISTER r INT = 0 START a FINAL b go: a -> b ON S WHEN time > 2 SET r = time"
    automaton = automaton_of(text)
    assert [source.timed for source in automaton.sources] == [True, False]
    events = [LivingEvent(at, at, 0, ("A", 1.0, 1)) for at in range(1, 5)]
    assert [(one.lineage, one.registers) for one in results(automaton, events)] == [((3,), (3,)), ((4,), (4,))]
    named = automaton_of("FROM S REGISTER time INT = 5 START a FINAL b a -> b WHEN time > 2")
    assert not named.sources[0].timed
    more = "more: a -> b ON S WHEN time > 3"
    assert lower_arcs(automaton, parse_arc(more), more)[0].name == "more"
    late = "late: a -> b ON T WHEN time > 3"
    with pytest.raises(QueryError, match="expected no time of an event, since the text that is updated reads none"):
        lower_arcs(automaton, parse_arc(late), late)
