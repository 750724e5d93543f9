"""Matches at the very end of what a bound allows, and what is equal but not the same: each by hand, at both sides."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from broker.engine import Engine
from broker.events import DefinitionError

Event = tuple[int, str, int]  # time, k, x


def engine_with(**queries: str) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"k": "string", "x": "int"})
    for name, query in queries.items():
        engine.subscribe(name, query=query)
    return engine


def spans(engine: Engine, events: list[Event]) -> list[tuple[int, int]]:
    """Start and end of what comes of them, one batch an event."""
    return [(m.start, m.end) for time, k, x in events for m in engine.publish("S", [time], [(k, x)])]


@pytest.mark.parametrize(
    ("query", "within", "beyond"),
    [
        ("FILTER{DUR < 4}(S NEXT{$1.k = $2.k} S)", 3, 4),
        ("FILTER{DUR <= 4}(S NEXT{} S)", 4, 5),
        ("S NEXT{DUR > 3} S", 4, 3),
        ("S NEXT{DUR >= 3 AND $2.x = 1} S", 3, 2),
    ],
)
def test_a_sequence_may_last_as_long_as_its_bound(query: str, within: int, beyond: int) -> None:
    """DUR counts both ends: from 1 to 3 it is 3."""
    assert spans(engine_with(q=query), [(1, "a", 1), (within, "a", 1)]) == [(1, within)]
    assert spans(engine_with(q=query), [(1, "a", 1), (beyond, "a", 1)]) == []


def test_a_selected_duration_counts_both_ends() -> None:
    engine = engine_with(q="SELECT DUR AS lasts, k FROM S NEXT{} S", each="SELECT DUR AS lasts FROM S")
    found = engine.publish("S", [1, 3], [("a", 1), ("a", 1)])
    assert sorted((m.subscription, m.data["lasts"]) for m in found) == [("each", 1), ("each", 1), ("q", 3)]


@pytest.mark.parametrize("later", range(1, 9))
def test_nothing_is_swept_that_may_still_match(later: int) -> None:
    """The cell is swept when the first run's window has passed; the second run's may end at that very moment."""
    engine = engine_with(q="FILTER{DUR < 9}(S NEXT{$2.x = 1} S)")
    found = spans(engine, [(1, "a", 0), (1 + later, "a", 0), (8 + later, "a", 1), (9 + later, "a", 1)])
    assert found == [(1 + later, 8 + later), (8 + later, 9 + later)]


def test_who_publishes_what_others_began_tells_only_what_began_afterwards() -> None:
    """Its runs are those of an equal subscription that was there before."""
    engine = engine_with(pairs="S NEXT{} S")
    assert spans(engine, [(1, "a", 1)]) == []
    engine.subscribe("published", query="S NEXT{} S PUBLISH P")
    engine.subscribe("reader", query="SELECT * FROM P")
    found = [(m.subscription, m.start, m.end) for m in engine.publish("S", [2, 3], [("a", 1), ("a", 1)])]
    assert [each for each in found if each[0] == "reader"] == [("reader", 2, 3)]


@pytest.mark.parametrize("sizes", [[3], [2, 1], [1, 1, 1], [1, 1, 2, 1]])
def test_equal_results_of_an_epoch_have_ids_of_their_own(sizes: list[int]) -> None:
    """Of the same contributions, however they come in batches; a reader would take the second for a repetition."""
    engine = engine_with(q="S")
    ids = [m.id for n in sizes for m in engine.publish("S", [1] * n, [("a", 1)] * n, ids=[7] * n)]
    assert len(ids) == len(set(ids)) == sum(sizes)


@pytest.mark.parametrize("five", [5_000_000, "5 s", "5 seconds", timedelta(seconds=5)])
def test_durations_of_streams_are_numbers_texts_or_timedeltas(five: Any) -> None:
    engine = Engine()
    engine.add_stream("S", {"v": "int"}, None, "speculate", five, five, five)
    stream = engine.streams["S"]
    assert (stream.lateness, stream.speculation, stream.idle) == (5_000_000,) * 3


def test_a_duration_of_a_stream_that_is_none_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"stream 'S': lateness: expected a duration .* did you mean 'sec'"):
        Engine().add_stream("S", {"v": "int"}, None, "buffer", "5 sek")
