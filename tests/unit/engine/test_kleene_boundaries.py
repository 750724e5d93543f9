"""SASE+ at the ends of WITHIN and of the spans in which a negated event counts: each by hand, at both sides.

A window W has its last event at most W after the first. A negated event before the first one counts above t(last) - W
and below t(first); one after the last one above t(last) and up to t(first) + W (docs/sase.md).
"""

from __future__ import annotations

import pytest

from broker.engine import Engine, Options

STRATEGIES = ("skip_till_next_match", "skip_till_any_match", "strict_contiguity")
APART = Options(columns=False)  # runs are objects, each with its events
Event = tuple[str, int, int]  # stream, time, x


def lineages(query: str, events: list[Event], options: Options | None = None) -> list[list[int]]:
    """The times of the events of each match."""
    engine = Engine(options)
    for stream in ("S", "T"):
        engine.add_stream(stream, {"k": "string", "x": "int"})
    engine.subscribe("q", "sase", query, lineage=True)
    found = [m for stream, time, x in events for m in engine.publish(stream, [time], [("a", x)], [time])]
    found += engine.finish()
    return [list(m.lineage or ()) for m in found]


@pytest.mark.parametrize("options", [None, APART])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("condition", ["b.x = 1", "b.x > a.x", "b.x > a.x AND a.k = b.k"])
def test_a_match_may_take_all_of_its_window(strategy: str, condition: str, options: Options | None) -> None:
    query = f"PATTERN SEQ(S a, S b) WHERE {strategy}(a, b) {{ {condition} }} WITHIN 5"
    assert lineages(query, [("S", 1, 0), ("S", 6, 1)], options) == [[1, 6]]
    assert lineages(query, [("S", 1, 0), ("S", 7, 1)], options) == []


@pytest.mark.parametrize("condition", ["b.x = 1", "b.x > a.x", "b.x > a.x AND c.k = b.k"])
def test_a_negated_event_leads_from_the_window_to_the_first_event(condition: str) -> None:
    query = f"PATTERN SEQ(~(T c), S a, S b) WHERE skip_till_any_match(c, a, b) {{ {condition} }} WITHIN 5"
    for time, counts in ((2, False), (3, True), (4, True), (5, False)):
        assert lineages(query, [("T", time, 0), ("S", 5, 0), ("S", 7, 1)]) == ([] if counts else [[5, 7]]), time


@pytest.mark.parametrize("condition", ["b.x = 1", "b.x > a.x", "b.x > a.x AND c.k = b.k"])
@pytest.mark.parametrize("strategy", STRATEGIES[:2])
def test_a_negated_event_trails_to_the_end_of_the_window(strategy: str, condition: str) -> None:
    query = f"PATTERN SEQ(S a, S b, ~(T c)) WHERE {strategy}(a, b, c) {{ {condition} }} WITHIN 5"
    for time, counts in ((3, False), (4, True), (6, True), (7, False)):
        assert lineages(query, [("S", 1, 0), ("S", 3, 1), ("T", time, 0)]) == ([] if counts else [[1, 3]]), time


def test_what_trails_is_awaited_to_the_last_event_of_that_time() -> None:
    """Neither another event at the very end of the window tells the match, nor an earlier match that is due by then."""
    query = "PATTERN SEQ(S a, S b, ~(T c)) WHERE skip_till_any_match(a, b, c) { b.x = 1 } WITHIN 5"
    begun = [("S", 1, 0), ("S", 2, 0), ("S", 3, 1), ("S", 7, 0)]
    assert lineages(query, [*begun, ("T", 7, 0)]) == [[1, 3]]
    assert lineages(query, [*begun, ("T", 8, 0)]) == [[1, 3], [2, 3]]


@pytest.mark.parametrize("sign", ["<", ">"])
@pytest.mark.parametrize("nulls", [1, 2])
def test_a_null_that_begins_a_match_hides_no_earlier_one(sign: str, nulls: int) -> None:
    """Runs that ask for a new highest or lowest value are a stack, in whose order a null has no place."""
    engine = Engine()
    engine.add_stream("S", {"w": "float?"})
    query = f"PATTERN SEQ(S+ a[]) WHERE skip_till_next_match(a[]) {{ a[i].w {sign} a[i-1].w }} WITHIN 9"
    engine.subscribe("q", "sase", query, lineage=True)
    assert any("stacks of equal runs" in line for line in engine.explain())
    values = [2.0, *[None] * nulls, 1.0 if sign == "<" else 3.0]
    found = [m.lineage for at, w in enumerate(values, 1) for m in engine.publish("S", [at], [(w,)], [at])]
    assert [1, len(values)] in found
    engine.check_invariants()
