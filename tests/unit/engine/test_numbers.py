"""Streams whose events are numbered, by case: what is final, what is refused, gaps, and declarations that are wrong."""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine
from broker.events.errors import DefinitionError, DuplicateEvent, EventError, LateEvent, MisnumberedEvent

PAIR = "FROM S START a FINAL c a -> b WHEN ty = 'A' b -> c WHEN ty = 'B'"


def engine_of(disorder: Any = "speculate", **stream: Any) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "n": "int"}, disorder=disorder, sequence="n", **stream)
    engine.subscribe("q", "afa", PAIR)
    return engine


def come(engine: Engine, number: int, time: int, ty: str) -> list[Any]:
    return said(engine.publish("S", [time], [(ty, number)], [number]))


def said(found: Any) -> list[Any]:
    return [each.notice.time if each.notice is not None else (each.kind, each.lineage) for each in found]


def test_what_is_complete_is_final() -> None:
    engine = engine_of()
    assert come(engine, 1, 5, "A") == []
    assert come(engine, 3, 9, "B") == [("match", [1, 3])]
    assert engine.statistics()["numbers_missing"] == 1
    assert come(engine, 2, 7, "B") == [("match", [1, 2]), ("retraction", [1, 3]), 10]
    assert engine.statistics()["numbers_missing"] == 0
    with pytest.raises(LateEvent, match="expected a time of 10 or later"):
        come(engine, 4, 9, "B")


def test_a_gap_that_is_declared_is_waited_for_no_longer() -> None:
    engine = engine_of("buffer")
    assert said(engine.declare_gap("S", 1, 2)) == []
    assert come(engine, 3, 5, "A") == []
    assert come(engine, 6, 9, "B") == []
    assert said(engine.declare_gap("S", 5)) == []
    again = Engine.restore(engine.snapshot())
    assert again.snapshot() == engine.snapshot()
    for each in (engine, again):
        each.check_invariants()
        assert said(each.declare_gap("S", 4)) == [("match", [3, 6])]
        with pytest.raises(LateEvent, match="a number of 7 or later, since earlier ones have come or will not come"):
            come(each, 4, 20, "A")


def test_numbers_and_times_that_do_not_fit_are_refused_alone() -> None:
    engine = engine_of()
    come(engine, 2, 5, "A")
    come(engine, 5, 9, "A")
    engine.declare_gap("S", 7, 8)
    for number, time, error, words in (
        (2, 6, DuplicateEvent, "expected a number that has not come, found 2 again"),
        (3, 5, MisnumberedEvent, "a time of number 3 that is later than 5, that of number 2, found 5"),
        (4, 9, MisnumberedEvent, "a time of number 4 that is earlier than 9, that of number 5, found 9"),
        (8, 12, LateEvent, "a number in no gap, found 8 of the gap from 7 to 8"),
        (0, 12, LateEvent, "expected a number of 1 or later"),
    ):
        with pytest.raises(error, match=words):
            engine.publish("S", [time], [("B", number)], [99])
    rows = [("A", 3), ("A", 3), ("A", 4), ("A", 6)]
    found = engine.faults("S", [6, 7, 6, 20], rows, [13, 14, 15, 16])
    assert [(index, error.code) for index, error, _ in found] == [(1, "duplicate-event"), (2, "misnumbered")]
    with pytest.raises(EventError, match="row 1: expected a number that has not come, found 3 again"):
        engine.publish("S", [6, 7], rows[:2], [13, 14])


def test_a_promise_that_passes_a_gap_loses_it() -> None:
    engine = engine_of(lateness=4)
    come(engine, 1, 5, "A")
    come(engine, 4, 9, "B")
    assert come(engine, 6, 13, "B") == [10]
    assert engine.statistics()["numbers_lost"] == 2
    assert engine.statistics()["numbers_missing"] == 1
    engine.punctuate(13)
    assert engine.statistics()["numbers_lost"] == 3


def test_gaps_that_cannot_be_are_refused() -> None:
    engine = engine_of()
    engine.add_stream("T", {"n": "int"}, disorder="buffer")
    come(engine, 3, 5, "A")
    before = engine.snapshot()
    for arguments, words in (
        (("T", 1), "stream 'T': expected a stream with a sequence, found one without numbers"),
        (("S", 2, 4), "stream 'S': expected a gap of numbers that have not come, found 3, which has"),
        (("S", 2, 1), "expected the first and the last number of a gap, found int 2 and int 1"),
        (("S", 0), "expected the first and the last number"),
    ):
        with pytest.raises(EventError, match=words):
            engine.declare_gap(*arguments)
    assert engine.snapshot() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sequence": "m", "disorder": "buffer"}, "sequence: expected the name of an attribute, found string 'm'"),
        (
            {"sequence": 5, "disorder": "buffer"},
            "sequence: expected (the name of an attribute|str or None), found int 5",
        ),
        ({"sequence": "ty", "disorder": "buffer"}, "an attribute of type int, found 'ty' of type string"),
        ({"sequence": "x", "disorder": "buffer"}, "an attribute of type int, found 'x' of type int?"),
        ({"sequence": "n"}, "sequence: expected only with disorder buffer or speculate, found arrival"),
    ],
)
def test_a_sequence_is_an_attribute_of_a_stream_in_disorder(options: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words.replace("?", "[?]")):
        Engine().add_stream("S", {"ty": "string", "n": "int", "x": "int?"}, **options)
