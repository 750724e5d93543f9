"""Encodes and decodes the journal's records. Not here: their meaning (broker.kernel.records).

A record's bytes are the msgpack array of its fields, with its kind in the head of the record (framing.py). An unknown
kind or field is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

import msgpack

from ..events.errors import EventError
from ..events.event_columns import EventColumns, columns_of
from ..kernel.records import (
    AttributeAdded,
    BatchTaken,
    CursorAdded,
    CursorMoved,
    CursorPlaced,
    CursorSetAside,
    DeadLettersSettled,
    GapDeclared,
    ModelChanged,
    Punctuated,
    Record,
    Retracted,
    StreamClocked,
    StreamDeclared,
    StreamRemoved,
    SubscriptionAdded,
    SubscriptionRemoved,
    SubscriptionReplaced,
    TimeWasReset,
    Updated,
)
from .errors import Damaged

_TEXT: Final = (str,)
_TEXT_OR_NONE: Final = (str, type(None))
_NUMBER: Final = (int,)
_NUMBER_OR_NONE: Final = (int, type(None))
_MAP: Final = (dict,)
_EVENTS_MAX: Final = 2**16  # of a batch in columns; a broker takes fewer
_COLUMN: Final = (list, int)  # an int: see _packed
_PACKED_BYTES: Final = 8_192  # a packer's first buffer; msgpack's default of 256 KiB is mapped for each small record

KINDS: Final[Mapping[int, tuple[type[Any], tuple[tuple[type, ...], ...]]]] = {
    1: (StreamDeclared, (_TEXT, _MAP, _TEXT_OR_NONE, _TEXT, _NUMBER_OR_NONE, _NUMBER_OR_NONE)),
    2: (
        SubscriptionAdded,
        (_TEXT, _TEXT, _TEXT, (bool, type(None)), _TEXT_OR_NONE, (dict, type(None)), _MAP),
    ),
    3: (SubscriptionRemoved, (_TEXT,)),
    4: (BatchTaken, (_TEXT, _COLUMN, (list,), _COLUMN, (list, type(None)), _TEXT_OR_NONE, _NUMBER_OR_NONE, (list,))),
    6: (Punctuated, (_NUMBER, _TEXT_OR_NONE, _TEXT_OR_NONE)),
    8: (ModelChanged, (_TEXT, _TEXT)),
    9: (CursorMoved, (_TEXT, _NUMBER_OR_NONE)),
    11: (CursorAdded, (_TEXT, _TEXT, _TEXT, _NUMBER, _NUMBER)),
    12: (CursorAdded, (_TEXT, _TEXT, _TEXT, _NUMBER, _NUMBER, _NUMBER, _NUMBER)),
    13: (CursorSetAside, (_TEXT, _NUMBER, _TEXT, _NUMBER, _NUMBER)),
    14: (DeadLettersSettled, (_TEXT, (list,), (bool,))),
    15: (TimeWasReset, (_TEXT, _NUMBER_OR_NONE)),
    16: (StreamDeclared, (_TEXT, _MAP, _TEXT_OR_NONE, _TEXT, _NUMBER_OR_NONE, _NUMBER_OR_NONE, _NUMBER_OR_NONE)),
    17: (Punctuated, (_NUMBER, _TEXT_OR_NONE, _TEXT_OR_NONE, _TEXT_OR_NONE, _NUMBER_OR_NONE)),
    18: (Retracted, ((list,), _TEXT_OR_NONE, _NUMBER_OR_NONE, (list,))),
    19: (Updated, (_TEXT, (list,), (list,), _NUMBER_OR_NONE, _NUMBER_OR_NONE, _TEXT_OR_NONE, _NUMBER_OR_NONE)),
    20: (StreamClocked, (_TEXT, (bool,))),
    21: (CursorPlaced, (_TEXT, _NUMBER)),
    22: (SubscriptionReplaced, (_TEXT, _TEXT, _TEXT, (bool,))),
    23: (StreamRemoved, (_TEXT,)),
    24: (AttributeAdded, (_TEXT, _TEXT, _TEXT)),
    25: (
        StreamDeclared,
        (_TEXT, _MAP, _TEXT_OR_NONE, _TEXT, _NUMBER_OR_NONE, _NUMBER_OR_NONE, _NUMBER_OR_NONE, _TEXT_OR_NONE),
    ),
    26: (GapDeclared, (_TEXT, _NUMBER, _NUMBER, _TEXT_OR_NONE, _NUMBER_OR_NONE)),
    27: (
        StreamDeclared,
        (
            _TEXT,
            _MAP,
            _TEXT_OR_NONE,
            _TEXT,
            _NUMBER_OR_NONE,
            _NUMBER_OR_NONE,
            _NUMBER_OR_NONE,
            _TEXT_OR_NONE,
            _TEXT_OR_NONE,
        ),
    ),
    28: (BatchTaken, (_TEXT, _COLUMN, _MAP, _COLUMN, (list, type(None)), _TEXT_OR_NONE, _NUMBER_OR_NONE, (list,))),
}
"""The class of each kind of record, and the types of its fields in msgpack. A kind never changes: a record with more
fields is another kind, and the earlier kind is read with defaults for them."""

_BATCH_OF_ROWS: Final = 4
_BATCH_OF_COLUMNS: Final = 28
_READERS: Final = {
    entry[0]: (kind, attrgetter(*(field.name for field in fields(entry[0])))) for kind, entry in KINDS.items()
}


_ELEMENTS: Final[Mapping[type[Any], Mapping[int, type]]] = {
    DeadLettersSettled: {1: int},
    Retracted: {0: int},
    Updated: {1: str, 2: str},
}
"""The type of the values in a list, by its place."""


def encode(record: Record) -> tuple[int, bytes]:
    """The kind and payload of a record. Raises TypeError or OverflowError for an invalid record."""
    kind, reader = _READERS[type(record)]
    if isinstance(record, BatchTaken):
        kind = _BATCH_OF_COLUMNS if type(record.rows) is EventColumns else _BATCH_OF_ROWS
        return kind, msgpack.packb(_packed(record), buf_size=_PACKED_BYTES)
    values = reader(record)
    return kind, msgpack.packb(values if len(KINDS[kind][1]) > 1 else (values,), buf_size=_PACKED_BYTES)


def decode(kind: int, payload: bytes) -> Record:
    """The record of an entry. Raises Damaged, without the position, which the caller adds."""
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
    for column, each in _ELEMENTS.get(make, {}).items():
        if any(type(value) is not each for value in found[column]):
            raise Damaged(f"expected a {make.__name__} with values of one type in a list, found others")
    if make is Retracted:
        found[3] = _refusals(found[3], "a Retracted")
    record: Record = _unpacked(found) if make is BatchTaken else make(*found)
    return record


def _packed(batch: BatchTaken) -> tuple[Any, ...]:
    """The fields of a batch, with one number for equal times, and one for consecutive ids."""
    times, ids = batch.times, batch.ids
    count = len(batch.rows)
    if count and isinstance(ids, range) and ids.step == 1:
        ids = ids[0]  # type: ignore[assignment]  # on the wire only
    else:
        ids = list(ids)
    times = times[0] if count and times.count(times[0]) == count else list(times)  # type: ignore[assignment]
    rows = batch.rows.plain() if type(batch.rows) is EventColumns else batch.rows
    return batch.stream, times, rows, ids, batch.starts, batch.client, batch.message, batch.refused


def _unpacked(values: list[Any]) -> BatchTaken:
    stream, times, rows, ids, starts, client, message, refused = values
    if type(rows) is dict:
        try:
            rows = columns_of(rows, _EVENTS_MAX)
        except EventError as error:
            raise Damaged(f"expected a Batch of columns, found others: {error}") from None
    count = len(rows)
    times = [times] * count if type(times) is int else times
    ids = range(ids, ids + count) if type(ids) is int else ids
    if len(times) != count or len(ids) != count or (starts is not None and len(starts) != count):
        raise Damaged(f"expected columns of {count} values in a Batch, found others")
    if type(rows) is not EventColumns:
        if any(type(row) is not list for row in rows):
            raise Damaged("expected rows in a Batch, found something else")
        rows = list(map(tuple, rows))
    refusals = _refusals(refused, "a Batch")
    return BatchTaken(stream, times, rows, ids, starts, client, message, refusals)


def _refusals(refused: list[Any], place: str) -> list[tuple[Any, ...]]:
    if any(type(each) is not list or len(each) != 3 for each in refused):
        raise Damaged(f"expected refusals in {place}, found something else")
    return list(map(tuple, refused))
