"""Sequence numbers: whatever the order of arrival, what is told is the meaning, and final as soon as it can be.

Here: numbers and gaps against brute force over sets of numbers, and engines whose events have numbers. Not here: other
streams in disorder (test_laws_disorder).
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.afa import query_texts, waiting_texts
from strategies.disorder import Told, meant, typed

from broker.algebra.afa.semantics import LivingEvent
from broker.engine import Engine
from broker.events.errors import EventError
from broker.events.schema import Schema

ATTRIBUTES = {"k": "string?", "ty": "string", "x": "int?", "n": "int"}
NUMBERED = Schema.declare(ATTRIBUTES)

Event = tuple[int, int, Any]
"""Number, time and the other values."""


@st.composite
def numbered(draw: st.DrawFn) -> tuple[list[Event], list[tuple[int, int]]]:
    """Events in the order of their arrival, and the gaps between their numbers."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from((0, 0, 0, 1, 3)), st.integers(1, 3), st.sampled_from(("K", "L", None)),
                st.sampled_from("ABC"), st.sampled_from((0, 1, 2, None)),
            ),
            min_size=1, max_size=8,
        )
    )  # fmt: skip
    number, time, events, gaps = 0, 0, [], []
    for missing, later, *row in rows:
        if missing:
            gaps.append((number + 1, number + missing))
        number, time = number + missing + 1, time + later
        events.append((number, time, (*row, number)))
    return draw(st.permutations(events)), gaps


def complete_until(come: dict[int, int], gone: set[int], until: int = -1) -> int:
    """By brute force: the time behind the newest event before which no number can come; -1 without one. `until`: what
    is promised."""
    number = 1
    while True:
        passed = [other for other, time in come.items() if other > number and time <= until]
        if number in come:
            until = max(until, come[number] + 1)
        elif number not in gone and not passed:
            return until
        number += 1


@given(st.data(), numbered(), query_texts() | waiting_texts(), st.sampled_from((None, None, 0, 2)))
def test_what_is_complete_is_final_without_a_promise(
    data: st.DataObject, script: tuple[list[Event], list[tuple[int, int]]], text: str, speculation: int | None
) -> None:
    events, gaps = script
    engine = Engine()
    engine.add_stream("S", ATTRIBUTES, disorder="speculate", speculation=speculation, sequence="n")
    engine.subscribe("q0", "afa", text)
    told = Told()
    come: dict[int, int] = {}
    gone: set[int] = set()
    steps: list[Any] = data.draw(st.permutations([*events, *gaps]))
    for at, step in enumerate(steps):
        if len(step) == 2:
            told.add(engine.declare_gap("S", *step))
            gone.update(range(step[0], step[1] + 1))
        else:
            number, time, row = step
            come[number] = time
            told.add(engine.publish("S", [time], [row], [number]))
        engine.check_invariants()
        until = complete_until(come, gone)
        assert max(engine.accepts_from("S") or -1, -1) == until, "before any number all times are accepted"
        if speculation == 0:
            assert all(line["kind"] != "retraction" for line in told.log.get("q0", []))
        so_far = [LivingEvent(number, time, 0, row) for number, time, row in events if number in come]
        final = [each for each in meant(typed(text, NUMBERED), so_far, {}) if int(str(each[1])) < until]
        told_final = [each for each in told.of("q0") if int(str(each[1])) < until]
        assert told_final == final, "what is complete was told"
        if at == 3:
            again = Engine.restore(engine.snapshot())
            assert again.snapshot() == engine.snapshot()
            engine = again
    everything = [LivingEvent(number, time, 0, row) for number, time, row in events]
    assert told.of("q0") == meant(typed(text, NUMBERED), everything, {}) or speculation is not None
    told.add(engine.finish())
    assert told.of("q0") == meant(typed(text, NUMBERED), everything, {})


@given(numbered(), st.sets(st.integers(0, 3)), st.integers(0, 12))
def test_a_promise_that_passes_a_gap_ends_the_wait(
    script: tuple[list[Event], list[tuple[int, int]]], undeclared: set[int], promise: int
) -> None:
    """Numbers that could only come late are lost: those before an event at the promised time or earlier."""
    events, gaps = script
    engine = Engine()
    engine.add_stream("S", ATTRIBUTES, disorder="buffer", sequence="n")
    for at, gap in enumerate(gaps):
        if at not in undeclared:
            engine.declare_gap("S", *gap)
    for number, time, row in events:
        engine.publish("S", [time], [row], [number])
    engine.punctuate(promise, "S")
    come = {number: time for number, time, _ in events}
    gone = {n for at, gap in enumerate(gaps) if at not in undeclared for n in range(gap[0], gap[1] + 1)}
    floor = complete_until(come, gone, promise)
    lost = {n for number, time in come.items() if time <= floor for n in range(1, number) if n not in come} - gone
    assert engine.accepts_from("S") == floor
    assert engine.statistics()["numbers_lost"] == len(lost)
    missing = {n for n in range(1, max(come)) if n not in come} - gone - lost
    assert engine.statistics()["numbers_missing"] == len(missing)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), min_size=1, max_size=5))
def test_an_event_is_taken_exactly_if_it_fits_those_that_have_come(events: list[tuple[int, int]]) -> None:
    engine = Engine()
    engine.add_stream("S", {"n": "int"}, disorder="buffer", sequence="n")
    come: dict[int, int] = {}
    for at, (number, time) in enumerate(events):
        until = complete_until(come, set())
        fits = (
            number >= 1
            and number not in come
            and time >= until
            and all((time > t) == (number > n) and time != t for n, t in come.items())
        )
        if fits:
            engine.publish("S", [time], [(number,)], [at])
            come[number] = time
        else:
            with pytest.raises(EventError):
                engine.publish("S", [time], [(number,)], [at])


def test_every_order_of_arrival_gives_the_same_in_the_end() -> None:
    text = "FROM S START a FINAL c a -> b WHEN ty = 'A' b -> b WHEN ty = 'C' b -> c WHEN ty = 'B'"
    events = [(1, 1, "A"), (2, 3, "C"), (4, 5, "B"), (5, 6, "A"), (6, 9, "B")]
    wanted = None
    steps: list[Any] = [*events, (3, 3)]
    for order in permutations(steps):
        engine = Engine()
        engine.add_stream("S", {"ty": "string", "n": "int"}, disorder="speculate", speculation=0, sequence="n")
        engine.subscribe("q0", "afa", text)
        told = Told()
        for step in order:
            if len(step) == 2:
                told.add(engine.declare_gap("S", *step))
            else:
                told.add(engine.publish("S", [step[1]], [(step[2], step[0])], [step[0]]))
        assert [line["kind"] for line in told.log["q0"] if line["kind"] != "punctuation"] == ["match", "match"]
        wanted = wanted or told.of("q0")
        assert told.of("q0") == wanted
