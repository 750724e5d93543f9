"""Law: what the journal's records say: everything that can change a match, as values, and their bytes. No files.

A broker's state is a fold over these. So nothing in them refers to a clock, a file or a session, and nothing is left
open: times and ids are those that the broker gave, not those that a client left out. A record's bytes are the msgpack
array of its fields; its kind is told beside them, and a kind or field that is not known is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final, TypeAlias, final

import msgpack

from .errors import Damaged


@final
@dataclass(frozen=True, slots=True)
class StreamDeclared:
    name: str
    attributes: Mapping[str, str]
    key: str | None
    disorder: str
    lateness: int | None
    speculation: int | None


@final
@dataclass(frozen=True, slots=True)
class SubscriptionAdded:
    """As the engine was asked; `options` are the broker's own, such as who it belongs to."""

    name: str
    language: str
    query: str
    lineage: bool | None
    report: str | None
    forecast: Mapping[str, Any] | None
    options: Mapping[str, Any]


@final
@dataclass(frozen=True, slots=True)
class SubscriptionRemoved:
    name: str


@final
@dataclass(frozen=True, slots=True)
class Batch:
    """Events as they were taken: no late ones. `client` and `message` make a repetition of the request known."""

    stream: str
    times: Sequence[int]
    rows: Sequence[Sequence[Any]]
    ids: Sequence[int]
    starts: Sequence[int] | None = None
    client: str | None = None
    message: int | None = None


@final
@dataclass(frozen=True, slots=True)
class ClockTick:
    """The broker's clock, where something waits for it."""

    time: int


@final
@dataclass(frozen=True, slots=True)
class Punctuated:
    time: int
    stream: str | None
    where: str | None


@final
@dataclass(frozen=True, slots=True)
class LimitsChanged:
    limits: Mapping[str, int]


@final
@dataclass(frozen=True, slots=True)
class ModelChanged:
    """A subscription forecasts with another model from here on: its version, and the digest of its bytes."""

    subscription: str
    version: str
    digest: bytes


@final
@dataclass(frozen=True, slots=True)
class CursorMoved:
    """A durable cursor has done with everything up to this position; None: it is given up."""

    cursor: str
    position: int | None


@final
@dataclass(frozen=True, slots=True)
class CursorOvertaken:
    """Retention has removed records that a cursor had not done with: a gap to be told."""

    cursor: str
    first: int
    last: int


Record: TypeAlias = (
    StreamDeclared
    | SubscriptionAdded
    | SubscriptionRemoved
    | Batch
    | ClockTick
    | Punctuated
    | LimitsChanged
    | ModelChanged
    | CursorMoved
    | CursorOvertaken
)

_TEXT: Final = (str,)
_TEXT_OR_NONE: Final = (str, type(None))
_NUMBER: Final = (int,)
_NUMBER_OR_NONE: Final = (int, type(None))
_MAP: Final = (dict,)
_COLUMN: Final = (list, int)  # an int: see _packed

KINDS: Final[Mapping[int, tuple[type[Any], tuple[tuple[type, ...], ...]]]] = {
    1: (StreamDeclared, (_TEXT, _MAP, _TEXT_OR_NONE, _TEXT, _NUMBER_OR_NONE, _NUMBER_OR_NONE)),
    2: (
        SubscriptionAdded,
        (_TEXT, _TEXT, _TEXT, (bool, type(None)), _TEXT_OR_NONE, (dict, type(None)), _MAP),
    ),
    3: (SubscriptionRemoved, (_TEXT,)),
    4: (Batch, (_TEXT, _COLUMN, (list,), _COLUMN, (list, type(None)), _TEXT_OR_NONE, _NUMBER_OR_NONE)),
    5: (ClockTick, (_NUMBER,)),
    6: (Punctuated, (_NUMBER, _TEXT_OR_NONE, _TEXT_OR_NONE)),
    7: (LimitsChanged, (_MAP,)),
    8: (ModelChanged, (_TEXT, _TEXT, (bytes,))),
    9: (CursorMoved, (_TEXT, _NUMBER_OR_NONE)),
    10: (CursorOvertaken, (_TEXT, _NUMBER, _NUMBER)),
}
"""By a record's kind: its value, and which types its fields have in msgpack. A kind never gets another meaning."""

_READERS: Final = {
    entry[0]: (kind, attrgetter(*(field.name for field in fields(entry[0])))) for kind, entry in KINDS.items()
}


def encode(record: Record) -> tuple[int, bytes]:
    """Kind and payload. Raises TypeError or OverflowError for a record that nobody may have made."""
    kind, reader = _READERS[type(record)]
    if isinstance(record, Batch):
        return kind, msgpack.packb(_packed(record))
    values = reader(record)
    return kind, msgpack.packb(values if len(KINDS[kind][1]) > 1 else (values,))


def decode(kind: int, payload: bytes) -> Record:
    """The record of a sound entry. Raises Damaged, without a place: whoever has the entry knows it."""
    entry = KINDS.get(kind)
    if entry is None:
        raise Damaged(f"expected a record of a kind that this version knows, found kind {kind}")
    make, shapes = entry
    try:
        values = msgpack.unpackb(payload, strict_map_key=False)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException):
        raise Damaged(f"expected a {make.__name__}, found no msgpack") from None
    found: list[Any] = values if type(values) is list else []
    if len(found) != len(shapes) or any(type(value) not in shape for value, shape in zip(found, shapes)):
        raise Damaged(f"expected the {len(shapes)} fields of a {make.__name__}, found others")
    record: Record = _unpacked(found) if make is Batch else make(*found)
    return record


def _packed(batch: Batch) -> tuple[Any, ...]:
    """Times that are all equal, and ids that count up, are one number each."""
    times, ids = batch.times, batch.ids
    count = len(batch.rows)
    if count and isinstance(ids, range) and ids.step == 1:
        ids = ids[0]  # type: ignore[assignment]  # on the wire only
    else:
        ids = list(ids)
    times = times[0] if count and times.count(times[0]) == count else list(times)  # type: ignore[assignment]
    return batch.stream, times, batch.rows, ids, batch.starts, batch.client, batch.message


def _unpacked(values: list[Any]) -> Batch:
    stream, times, rows, ids, starts, client, message = values
    count = len(rows)
    times = [times] * count if type(times) is int else times
    ids = range(ids, ids + count) if type(ids) is int else ids
    if len(times) != count or len(ids) != count or (starts is not None and len(starts) != count):
        raise Damaged(f"expected columns of {count} values in a Batch, found others")
    return Batch(stream, times, list(map(tuple, rows)), ids, starts, client, message)
