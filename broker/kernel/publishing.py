"""Turns a client's batch into events: assigns times and ids, and refuses events that are late or too far ahead.

An event that is late, too far ahead of the clock, or has the id of another that may be withdrawn, is refused alone,
with its index and a reason; the rest of its batch is accepted. Any other error refuses the whole batch, and changes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from ..events import (
    LARGEST,
    DuplicateEvent,
    EarlyEvent,
    EventError,
    LateEvent,
    MisnumberedEvent,
    StreamDefinition,
    check_rows,
    check_starts,
    shown,
)
from ..events.time_unit import shown_instant
from ..wire import Publish, Refusal
from .engine_port import EnginePort, EngineResult
from .records import BatchTaken


def take(
    engine: EnginePort,
    batch: Publish,
    publisher: str | None,
    first_id: int,
    now: int,
    most: int | None = None,
    latest: int | None = None,
) -> tuple[BatchTaken, Iterable[EngineResult]]:
    """Publish a batch to the engine; the record of accepted and refused events, and the results.

    Events without ids are numbered from `first_id` on. Events without times get `now`, but never a time before the
    newest processed. `latest`: the latest time of an accepted event; None: no limit. `publisher`: for the receipt. All
    events are checked; at most `most` are matched, and `match` continues. Raises ForetellErrors.
    """
    rows: Sequence[tuple[Any, ...]] = batch.rows
    if not rows:
        return BatchTaken(batch.stream, (), (), ()), ()
    times: Sequence[int]
    if batch.times is None:
        newest = engine.accepts_from(batch.stream)
        times = [now if newest is None else max(now, newest)] * len(rows)
    else:
        times = batch.times
    ids: Sequence[int] = batch.ids if batch.ids is not None else range(first_id, first_id + len(rows))
    starts: Sequence[int] | None = batch.starts
    refused: tuple[Refusal, ...] = ()
    try:
        if latest is not None and batch.times is not None:
            _check_early(times, latest)
        results = _begin(engine, batch.stream, times, rows, ids, starts, most)
    except (EarlyEvent, LateEvent, DuplicateEvent, MisnumberedEvent):
        stream = engine.streams[batch.stream]
        rows = _check_whole(stream, times, rows, starts)
        if stream.disorder == "arrival":
            kept, refused = _sifted(times, engine.accepts_from(batch.stream), latest)
        else:
            kept, refused = _sifted_in_any_order(engine, batch.stream, times, rows, ids, latest)
        if not kept:
            return BatchTaken(batch.stream, (), (), (), refused=_plain(refused)), ()
        times = [times[at] for at in kept]
        rows = [rows[at] for at in kept]
        starts = None if starts is None else [starts[at] for at in kept]
        ids = ids[: len(kept)] if batch.ids is None else [batch.ids[at] for at in kept]
        results = _begin(engine, batch.stream, times, rows, ids, starts, most)
    return BatchTaken(batch.stream, times, rows, ids, starts, publisher, batch.number, _plain(refused)), results


def match(engine: EnginePort, record: BatchTaken, at: int, most: int | None) -> Iterable[EngineResult]:
    """Match at most `most` events of a recorded batch, from index `at` on."""
    piece = slice(at, None if most is None else at + most)
    return engine.publish(
        record.stream,
        record.times[piece],
        cast("Sequence[tuple[Any, ...]]", record.rows[piece]),
        record.ids[piece],
        None if record.starts is None else record.starts[piece],
    )


def _begin(
    engine: EnginePort,
    stream: str,
    times: Sequence[int],
    rows: Sequence[tuple[Any, ...]],
    ids: Sequence[int],
    starts: Sequence[int] | None,
    most: int | None,
) -> Iterable[EngineResult]:
    if most is None or len(rows) <= most:
        return engine.publish(stream, times, rows, ids, starts)
    engine.check(stream, times, rows, ids, starts)
    return match(engine, BatchTaken(stream, times, rows, ids, starts), 0, most)


def _plain(refused: tuple[Refusal, ...]) -> tuple[tuple[int, str, str], ...]:
    return tuple([(each.index, each.code, each.reason) for each in refused])


def _check_whole(
    stream: StreamDefinition, times: Sequence[Any], rows: Sequence[tuple[Any, ...]], starts: Sequence[int] | None
) -> Sequence[tuple[Any, ...]]:
    """The rows, checked for errors that refuse a whole batch; a late event may have been found before them."""
    found = check_rows(stream, rows)
    for index, time in enumerate(times):
        if type(time) is not int or not -LARGEST <= time <= LARGEST:
            raise EventError(
                f"stream {stream.name!r}, row {index}: expected a time in microseconds, at most 2**61 from 1970, "
                f"found {shown(time)}"
            )
    if starts is not None:
        check_starts(stream, starts, times)
    return found


def _check_early(times: Sequence[Any], latest: int) -> None:
    """Raise EarlyEvent for a time after `latest`. The engine checks that all values are times."""
    for time in times:
        if type(time) is int and time > latest:
            raise EarlyEvent(early_reason(latest, time))


def _sifted_in_any_order(
    engine: EnginePort,
    stream: str,
    times: Sequence[int],
    rows: Sequence[tuple[Any, ...]],
    ids: Sequence[int],
    latest: int | None,
) -> tuple[list[int], tuple[Refusal, ...]]:
    """The same for a stream whose events may come late, until they are final."""
    early = [] if latest is None else [index for index, time in enumerate(times) if time > latest]
    refused = [
        Refusal(index, EarlyEvent.code, early_reason(latest, times[index]))
        for index in early
    ]
    left = [index for index in range(len(times)) if latest is None or times[index] <= latest]
    on_time = [times[at] for at in left], [rows[at] for at in left], [ids[at] for at in left]
    for at, fault, reason in engine.faults(stream, *on_time):
        refused.append(Refusal(left[at], fault.code, reason))
    gone = {each.index for each in refused}
    kept = [index for index in left if index not in gone]
    return kept, tuple(sorted(refused, key=lambda each: each.index))


def early_reason(latest: int | None, time: int) -> str:
    """Why a time is refused that is too far ahead."""
    return f"expected a time up to {latest and shown_instant(latest)} (ahead_max), found {shown_instant(time)}"


def _sifted(times: Sequence[int], newest: int | None, latest: int | None) -> tuple[list[int], tuple[Refusal, ...]]:
    """The indexes of accepted events, and a refusal for each event that is late or after `latest`."""
    kept: list[int] = []
    refused: list[Refusal] = []
    for index, time in enumerate(times):
        if newest is not None and time < newest:
            late = f"expected a time of {shown_instant(newest)} or later, found {shown_instant(time)}"
            refused.append(Refusal(index, LateEvent.code, late))
        elif latest is not None and time > latest:
            refused.append(Refusal(index, EarlyEvent.code, early_reason(latest, time)))
        else:
            kept.append(index)
            newest = time
    return kept, tuple(refused)
