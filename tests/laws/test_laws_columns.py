"""Columns change nothing: whether a batch comes as rows or columns, and whether it goes by columns or event by event.

What goes event by event is held to the meaning by test_laws_engine.
"""

from __future__ import annotations

import random
from typing import Any, Final, NamedTuple

from hypothesis import given, note, settings
from hypothesis import strategies as st
from strategies.column_streams import SCHEMA, STREAM, Part, columns, parts, texts

from broker.engine import Engine, Options

ON, OFF = Options(), Options(column_path=False)
NEVER: Final = 0.0


class Played(NamedTuple):
    """By batch what it finds, in order; the runs that wait in the end; how many ever began."""

    found: list[list[Any]]
    waiting: list[Any]
    begun: int


def played(
    queries: list[str], batches: list[Part], options: Options, chance: random.Random, switching: float = NEVER
) -> Played:
    """`switching`: how often the engine becomes another one between two batches, by columns or not."""
    engine = Engine(options)
    engine.add_stream(STREAM, SCHEMA, key="k")
    for number, text in enumerate(queries):
        engine.subscribe(f"s{number}", query=text, lineage=number % 2 == 1)
    found: list[list[Any]] = []
    for number, part in enumerate(batches):
        if chance.random() < switching:
            engine = Engine.restore(engine.snapshot(), chance.choice((ON, OFF)))
        if number == 2:  # matches of runs that began before it are not its own
            engine.subscribe("again", query=queries[0], lineage=False)
        if number == 3:  # what waits for others goes on
            engine.unsubscribe(f"s{len(queries) - 1}")
        if options is OFF or chance.random() < 0.4:
            results = engine.publish(STREAM, part.times, part.rows, starts=part.starts)
        else:
            results = engine.publish_columns(STREAM, columns(chance, part.rows), part.times, starts=part.starts)
        counted = len(results)
        found.append([match.line() for match in results])
        assert counted == len(found[-1])
        engine.check_invariants()
    waiting = [(run.row, run.slots, run.t0, run.born, run.trace, run.lineage) for run in engine.runtime.runs.live()]
    return Played(found, sorted(waiting, key=repr), engine.statistics()["runs_begun"])


many = settings(max_examples=max(200, 10 * settings().max_examples), deadline=None)


@many
@given(st.integers(0, 2**40))
def test_columns_change_nothing(seed: int) -> None:
    queries, batches = texts(random.Random(seed)), parts(random.Random(seed + 1))
    note(queries)
    note(batches)
    expected = played(queries, batches, OFF, random.Random(seed + 2))
    assert played(queries, batches, ON, random.Random(seed + 3)) == expected


@many
@given(st.integers(0, 2**40))
def test_the_way_may_change_between_batches(seed: int) -> None:
    queries, batches = texts(random.Random(seed)), parts(random.Random(seed + 1))
    note(queries)
    note(batches)
    expected = played(queries, batches, OFF, random.Random(seed + 2))
    switched = played(queries, batches, ON, random.Random(seed + 3), 0.5)
    assert switched[:2] == expected[:2]
