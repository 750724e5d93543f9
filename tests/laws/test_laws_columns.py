"""Columns change nothing: whether a batch comes as rows, as columns or packed, and goes by columns or event by event;
how a stream is cut into batches; which other subscriptions read it; and whether an index finds the waiting runs that an
event affects.

Over one stream or two, since runs of one also wait for events of the other, which no batch begins with them; with
conditions of every kind beyond the key on the event for which a run waits; and on matches. What goes event by event is
held to the meaning by test_laws_engine.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgpack
from doubles.read_columns import in_columns
from hypothesis import given, note, settings
from hypothesis import strategies as st
from strategies.column_streams import STREAMS, Part, columns, guests, parts, pieces, texts

from broker.engine import Engine, Options
from broker.events.column_checks import event_columns
from broker.events.event_columns import EventColumns, columns_of

ON, OFF = Options(), Options(batches=False)
PLAIN = Options(indexes=False, batches=False)
WAYS = (ON, OFF, Options(arcs_few=0), Options(arcs_few=0, batches=False))
NEVER: Final = 0.0


class Played(NamedTuple):
    """By batch what it finds, in order; the runs that wait in the end; how many ever began."""

    found: list[list[Any]]
    waiting: list[Any]
    begun: int


def travelled(chance: random.Random, engine: Engine, part: Part) -> Sequence[Any]:
    """The rows as columns that a message or a record has brought; some are a part of more."""
    more = chance.choice((0, 0, 2))
    all_rows = [*part.rows[:more], *part.rows]
    given = event_columns(engine.streams[part.stream], columns(chance, part.stream, all_rows), len(all_rows))
    if isinstance(given, EventColumns):  # else values had to be converted
        plain: Any = msgpack.unpackb(msgpack.packb(given.plain()))
        given = columns_of(plain, len(all_rows))
    return given[len(all_rows) - len(part.rows) :]


def published(engine: Engine, part: Part, as_rows: bool, chance: random.Random) -> list[Any]:
    """What a batch finds, in order. Otherwise it comes in some form."""
    if as_rows or chance.random() < 0.3:
        results = engine.publish(part.stream, part.times, part.rows, starts=part.starts)
    elif chance.random() < 0.5:
        results = engine.publish(part.stream, part.times, travelled(chance, engine, part), starts=part.starts)
    else:
        given = columns(chance, part.stream, part.rows)
        results = engine.publish_columns(part.stream, given, part.times, starts=part.starts)
    counted = len(results)
    lines = [match.line() for match in in_columns(results)]
    assert counted == len(lines)
    engine.check_invariants()
    return lines


def played(
    queries: list[str],
    batches: list[Part],
    options: Options,
    chance: random.Random,
    switching: float = NEVER,
    leaves: bool = False,
    cut: bool = False,
    others: Sequence[tuple[str, str]] = (),
) -> Played:
    """`switching`: how often the engine becomes another one between two batches, by columns or not. `leaves`: a
    subscription does. `cut`: batches are cut into others. `others`: subscriptions beside, whose results are left out,
    as runs are."""
    engine = Engine(options)
    for name, schema in STREAMS.items():
        engine.add_stream(name, schema, key="k")
    for number, text in enumerate(queries):
        engine.subscribe(f"s{number}", query=text, lineage=number % 2 == 1)
    for number, (language, text) in enumerate(others):
        engine.subscribe(f"other{number}", language=language, query=text)
    found: list[list[Any]] = []
    for number, part in enumerate(batches):
        if chance.random() < switching:
            engine = Engine.restore(engine.snapshot(), chance.choice((ON, OFF)))
        if number == 2:  # matches of runs that began before it are not its own
            engine.subscribe("again", query=queries[0], lineage=False)
        if number == 3 and leaves:  # what waits for others goes on
            engine.unsubscribe(f"s{len(queries) - 1}")
        told: list[Any] = []
        for piece in pieces(chance, part) if cut else [part]:
            told += published(engine, piece, options is not ON, chance)
        found.append([line for line in told if not line["subscription"].startswith("other")])
    if others:
        return Played(found, [], 0)
    # Their lineage is that of their matches, if anybody asks for it then.
    waiting = [(run.row, run.slots, run.t0, run.born, run.trace) for run in engine.runtime.runs.live()]
    return Played(found, sorted(waiting, key=repr), engine.statistics()["runs_begun"])


def by_subscription(of: Played) -> dict[str, list[Any]]:
    """What each subscription has, in order, with the number of the batch: other executors may serve it in the plain
    way, so that the matches of one event come in another order."""
    found: dict[str, list[Any]] = {}
    for number, lines in enumerate(of.found):
        for line in lines:
            found.setdefault(line["subscription"], []).append((number, line))
    return found


many = settings(max_examples=max(200, 10 * settings().max_examples), deadline=None)


@many
@given(st.integers(0, 2**40))
def test_columns_change_nothing(seed: int) -> None:
    queries, batches = texts(random.Random(seed)), parts(random.Random(seed + 1))
    note(queries)
    note(batches)
    leaves = seed % 2 == 0
    expected = played(queries, batches, OFF, random.Random(seed + 2), leaves=leaves)
    assert played(queries, batches, ON, random.Random(seed + 3), leaves=leaves) == expected


@many
@given(st.integers(0, 2**40))
def test_the_way_may_change_between_batches(seed: int) -> None:
    queries, batches = texts(random.Random(seed)), parts(random.Random(seed + 1))
    note(queries)
    note(batches)
    expected = played(queries, batches, OFF, random.Random(seed + 2))
    switched = played(queries, batches, ON, random.Random(seed + 3), 0.5)
    assert switched[:2] == expected[:2]


@settings(max_examples=max(150, 5 * settings().max_examples), deadline=None)
@given(st.integers(0, 2**40))
def test_cuts_and_other_subscriptions_change_nothing(seed: int) -> None:
    queries, batches = texts(random.Random(seed)), parts(random.Random(seed + 1))
    others = guests(random.Random(seed + 2))
    note(queries)
    note(batches)
    note(others)
    expected = by_subscription(played(queries, batches, PLAIN, random.Random(seed + 4)))
    assert by_subscription(played(queries, batches, ON, random.Random(seed + 5), cut=True)) == expected
    way = WAYS[seed // 2 % 4]
    cut = played(queries, batches, way, random.Random(seed + 6), cut=True, others=others)
    assert by_subscription(cut) == expected
