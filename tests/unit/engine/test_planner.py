"""Which executor an automaton gets, what spoke against the others, and what happens where they are switched off."""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.events.errors import DefinitionError, Unsupported

SEQUENCE = {"language": "ptopss", "query": "FROM S\na: v = 1\nb: v = 2\nMATCH a, b"}
TUPLES = {**SEQUENCE, "report": "all"}
COMPLETIONS = {**SEQUENCE, "report": "completions"}
PATTERN = {
    "language": "sase",
    "query": "PATTERN SEQ(S a, S+ b[]) WHERE skip_till_any_match(a, b[]) { a.v = 1 AND b[i].v > 1 } "
    "WITHIN 5 RETURN a.v",
}
AUTOMATA = {"query": "SELECT v FROM S UNION (SELECT v FROM S NEXT{$2.v > $1.v} (S NEXT{} S))"}
NO_GROUP = "not groups: it counts matches of all events, because no constant says which it is about"
EVENTS = [(1, (1,)), (2, (2,)), (3, (3,)), (4, (2,)), (5, (1,)), (6, (2,))]


def engine_of(subscription: dict[str, Any], *off: str) -> Engine:
    engine = Engine(Options(executors_off=off))
    engine.add_stream("S", {"v": "int"})
    engine.subscribe("q", **subscription)
    return engine


def decided(subscription: dict[str, Any], *off: str) -> str:
    return next(line for line in engine_of(subscription, *off).explain() if line.startswith("q: executor"))


def found(engine: Engine) -> list[dict[str, Any]]:
    times, rows = [time for time, _ in EVENTS], [row for _, row in EVENTS]
    return sorted([dict(result.line()) for result in engine.publish("S", times, rows)], key=str)


def test_the_first_executor_that_fits_is_taken_and_explain_says_why() -> None:
    assert decided(COMPLETIONS) == f"q: executor sequence_trie; {NO_GROUP}"
    assert decided(TUPLES) == "q: executor groups"
    assert decided(TUPLES, "groups") == (
        "q: executor tuple_counts; not groups: it is switched off; not sequence_trie: it reports completions only"
    )
    assert decided({**COMPLETIONS, "forecast": {"within": 2}}) == (
        "q: executor tuple_counts; not groups: it keeps no states that a forecast could follow; "
        "not sequence_trie: it cannot say where partial matches are, which the forecast asks"
    )
    assert decided(PATTERN) == (
        "q: executor kleene; not groups: an operand repeats, and runs stay where they move; "
        "not sequence_trie: it reports completions only; "
        "not tuple_counts: the paths of the automaton cannot be counted without enumerating them"
    )


@pytest.mark.parametrize(
    ("subscription", "order"),
    [
        (COMPLETIONS, ["sequence_trie", "tuple_counts", "reference"]),
        (TUPLES, ["groups", "tuple_counts", "reference"]),
        (PATTERN, ["kleene", "reference"]),
    ],
)
def test_the_next_one_takes_over_where_an_executor_is_switched_off(
    subscription: dict[str, Any], order: list[str]
) -> None:
    expected = found(engine_of(subscription))
    assert expected
    for number, executor in enumerate(order):
        assert decided(subscription, *order[:number]).startswith(f"q: executor {executor}")
        assert found(engine_of(subscription, *order[:number])) == expected


def test_automata_over_epochs_leave_the_merged_program_where_keyed_runs_are_switched_off() -> None:
    expected = found(engine_of(AUTOMATA))
    assert expected
    off = ("groups", "keyed_runs")
    lines = engine_of(AUTOMATA, *off).explain()
    names = ["(right operand 2f9ed3)", "q", "q 1"]
    against = "; ".join(f"not {each}: it is switched off" for each in off)
    assert lines[1:4] == [f"{name}: executor reference; {against}" for name in names]
    assert found(engine_of(AUTOMATA, *off)) == expected
    with pytest.raises(Unsupported, match="cannot list partial matches"):
        engine_of(AUTOMATA, *off).partial_matches("q")


@pytest.mark.parametrize("off", [(), ("groups", "sequence_trie"), ("groups", "sequence_trie", "tuple_counts")])
@pytest.mark.parametrize("subscription", [COMPLETIONS, TUPLES])
def test_results_are_read_by_index_as_they_are_in_order(subscription: dict[str, Any], off: tuple[str, ...]) -> None:
    engine = engine_of(subscription, *off)
    results = engine.publish("S", [time for time, _ in EVENTS], [row for _, row in EVENTS])
    assert len(results) == 2
    assert [results[at].line() for at in (0, 1, -2, -1)] == [result.line() for result in [*results, *results]]


def test_where_none_is_left_the_subscription_is_refused_by_name() -> None:
    refused = r"^subscription 'q': no executor can run this: groups: it counts matches "
    with pytest.raises(DefinitionError, match=refused):
        engine_of(COMPLETIONS, "sequence_trie", "tuple_counts", "kleene", "reference")
    for predictive, off in ((COMPLETIONS, "tuple_counts"), (AUTOMATA, "keyed_runs")):
        with pytest.raises(DefinitionError, match="reference: it keeps no states that a forecast could follow"):
            engine_of({**predictive, "forecast": {"within": 2}}, off)


@pytest.mark.parametrize("off", [(), ("keyed_runs",), ("groups", "keyed_runs")])
def test_a_stream_that_equal_branches_make_up_goes_with_both(off: tuple[str, ...]) -> None:
    engine = Engine(Options(executors_off=off))
    engine.add_stream("S", {"k": "string", "n": "int"})
    both = "(SELECT n FROM S) UNION (SELECT n FROM S)"
    engine.subscribe("q", query=f"SELECT * FROM S NEXT{{$1.n < $2.n}} (SELECT n FROM ({both}))")
    engine.unsubscribe("q")
    engine.check_invariants()
