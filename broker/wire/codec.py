"""Encodes and decodes messages. Any bytes decode to a message or raise WireError, and nothing in them is executed.

msgpack gets every limit before it builds a value: the length of the frame, of strings, arrays and maps; no extension
types, no timestamps, string keys only, no key twice. The decoder then compares the type, the number of fields and the
shape of each field with the table of messages, and only then makes a message.

In a result, `tuples` and `missed` are unbounded counts. A count beyond signed 64 bits, the range of msgpack and of most
of its readers, travels as a string of decimal digits and is decoded to an integer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, NoReturn

import msgpack

from ..events.batch import COMPILED
from ..events.errors import EventError
from ..events.event_columns import EventColumns, columns_of, numbers_of, plain_numbers
from ..events.packed_rows import columns_of_rows
from . import shapes as s
from .errors import WireError
from .limits import (
    ARRAY_LENGTH_MAX,
    BATCH_EVENTS_MAX,
    FRAME_BYTES_MAX,
    MAP_LENGTH_MAX,
    RESULT_BYTES_MAX,
    TEXT_BYTES_MAX,
    VERSION,
)
from .messages import ROW_OF, TABLE, Message
from .session_messages import Hello
from .stream_messages import Publish

_PACKED_BYTES: Final = 1_024
"""A packer's first buffer; it grows. msgpack's default of 256 KiB is mapped and unmapped for each small message."""
# Making a packer costs as much as packing a result; one is as good after an error as before.
_FRAMES: Final = msgpack.Packer(buf_size=_PACKED_BYTES)
_RESULTS: Final = msgpack.Packer(buf_size=_PACKED_BYTES)

_COUNTS: Final = ("tuples", "missed")
_COUNT_DIGITS_MAX: Final = 4_300  # Python's own default limit for reading and writing integers


def _reader(kind: type[Any]) -> Callable[[Any], tuple[Any, ...]]:
    names = [field.name for field in fields(kind)]
    if len(names) > 1:
        read: Callable[[Any], tuple[Any, ...]] = attrgetter(*names)
        return read
    return lambda message: (message.correlation,)  # with one name attrgetter returns no tuple


_READERS: Final = {kind: _reader(kind) for kind in ROW_OF}
_PLACES: Final = {kind: {name: at for at, name in enumerate(row.names, 2)} for kind, row in ROW_OF.items()}
"""Where each field behind the correlation is in a frame."""
_PART_READERS: Final = {kind: _reader(row.part[1]) for kind, row in ROW_OF.items() if row.part is not None}
_BATCH: Final = slice(3, 7)  # the fields of Publish with values of events, `times` to `starts`, in a frame
_ROWS: Final = 2  # among the fields behind the correlation
_OF_EACH: Final = (1, 3, 4)  # times, ids and starts
_ROWS_PACKED_FROM: Final = 128
"""Rows of a message that travel as one byte string, from which the broker makes columns; fewer gain nothing by it."""
_ROW_BYTES: Final = msgpack.Packer(buf_size=_PACKED_BYTES)
_HELLO: Final = ROW_OF[Hello].number


def encode(message: Message, given: Mapping[str, Any] | None = None) -> bytes:
    """The frame of a message. Raises WireError if the other end would refuse it for its size. O(bytes).

    `given`: fields by name that get these values instead of the message's, which costs less than another message.
    """
    kind = type(message)
    row = ROW_OF[kind]
    values = [row.number, *_READERS[kind](message)]
    if row.part is not None:
        at = row.part[0] + 1
        values[at] = list(map(_PART_READERS[kind], values[at]))
    if given:
        for name, value in given.items():
            values[_PLACES[kind][name]] = value
    try:
        if type(message) is Publish and isinstance(message.rows, EventColumns):
            values[_BATCH] = _packed(message, message.rows)
        elif type(message) is Publish and len(message.rows) >= _ROWS_PACKED_FROM:
            values[_BATCH.start + 1] = _packed_rows(message.rows)
        frame: bytes = _FRAMES.pack(values)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise WireError(f"{kind.__name__} cannot be encoded: {_one_line(error)}", message.correlation) from None
    if len(frame) > FRAME_BYTES_MAX:
        raise WireError(
            f"{kind.__name__} takes {len(frame):,} bytes, expected at most {FRAME_BYTES_MAX:,}", message.correlation
        )
    if len(frame) > TEXT_BYTES_MAX:
        decode(frame)  # only such a frame can hold a string that is too long, and it is rare enough to check
    return frame


def decode(frame: bytes) -> Message:
    """The message of a frame. Raises WireError, with the correlation if that was readable. O(bytes)."""
    if len(frame) > FRAME_BYTES_MAX:
        raise WireError(f"the frame has {len(frame):,} bytes, expected at most {FRAME_BYTES_MAX:,}")
    values = _unpacked(frame, ARRAY_LENGTH_MAX, use_list=False)
    if type(values) is not tuple or len(values) < 2:
        raise WireError("expected an array of a type, a correlation and fields")
    number, correlation, *rest = values
    if not s.COUNT.fits(correlation):
        raise WireError(f"the correlation: expected {s.COUNT.expected}, found {_kind(correlation)}")
    row = TABLE.get(number) if type(number) is int else None
    if row is None:
        found = str(number) if type(number) is int else _kind(number)
        raise WireError(f"the type: expected one of those of version {VERSION}, found {found}", correlation)
    kind, shapes = row.message, row.shapes
    if number == _HELLO and rest and s.COUNT.fits(rest[0]) and rest[0] != VERSION:
        # A HELLO of another version may have other fields, but its version must be known: the answer reports it.
        return Hello(correlation, rest[0], "")
    if len(rest) != len(shapes):
        raise WireError(f"{kind.__name__}: expected {len(shapes)} fields, found {len(rest)}", correlation)
    for at, shape in enumerate(shapes):
        if not shape.fits(rest[at]):
            raise WireError(
                f"{kind.__name__}.{row.names[at]}: expected {shape.expected}, found {_kind(rest[at])}", correlation
            )
    if row.part is not None:
        at, make = row.part
        rest[at - 1] = tuple([make(*record) for record in rest[at - 1]])
    if kind is Publish:
        _unpack(rest, correlation)
    message: Message = kind(correlation, *rest)
    return message


def encode_result(line: Mapping[str, Any]) -> bytes:
    """Encode one result as a map. Raises WireError if it has other than plain values or exceeds RESULT_BYTES_MAX."""
    try:
        for name in _COUNTS:
            if name in line and not s.INTEGER.fits(line[name]):
                line = {**line, name: _digits(line[name])}
        result: bytes = _RESULTS.pack(line)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise WireError(f"a result cannot be encoded: {_one_line(error)}") from None
    if len(result) > RESULT_BYTES_MAX:
        raise WireError(f"a result takes {len(result):,} bytes, expected at most {RESULT_BYTES_MAX:,}")
    return result


def decode_result(result: bytes) -> dict[str, Any]:
    """Decode one result to a map, with arrays as lists. Raises WireError."""
    if len(result) > RESULT_BYTES_MAX:
        raise WireError(f"a result has {len(result):,} bytes, expected at most {RESULT_BYTES_MAX:,}")
    line = _unpacked(result, RESULT_BYTES_MAX, use_list=True)
    if type(line) is not dict or type(line.get("kind")) is not str or type(line.get("subscription")) is not str:
        raise WireError("a result: expected a map with a kind and a subscription")
    for name in _COUNTS:
        if name in line and type(line[name]) is not int:
            line[name] = _count(name, line[name])
    return line


def _digits(count: object) -> str:
    if type(count) is not int:
        raise TypeError(f"expected an integer as a count, found {_kind(count)}")
    return str(count)


def _count(name: str, digits: object) -> int:
    if type(digits) is str and len(digits) <= _COUNT_DIGITS_MAX and digits.isascii() and digits.isdigit():
        return int(digits)
    raise WireError(
        f"a result's {name}: expected an integer or at most {_COUNT_DIGITS_MAX:,} decimal digits, found {_kind(digits)}"
    )


def _unpacked(frame: bytes, array_length_max: int, *, use_list: bool) -> Any:
    try:
        return msgpack.unpackb(
            frame,
            use_list=use_list,
            strict_map_key=True,
            max_str_len=TEXT_BYTES_MAX,
            max_bin_len=RESULT_BYTES_MAX,
            max_array_len=array_length_max,
            max_map_len=MAP_LENGTH_MAX,
            max_ext_len=0,
            ext_hook=_no_extension,
            object_pairs_hook=_without_repeats,
        )
    except WireError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, msgpack.UnpackException) as error:
        raise WireError(f"not msgpack within the limits: {_one_line(error)}") from None


def _no_extension(code: int, data: bytes) -> NoReturn:
    raise WireError("expected no extension type")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise WireError("expected each key of a map once")
    return values


def _packed(batch: Publish, events: EventColumns) -> list[Any]:
    """The columns of a batch as plain values."""
    return [
        None if batch.times is None else plain_numbers(batch.times),
        events.plain(),
        None if batch.ids is None else plain_numbers(batch.ids),
        None if batch.starts is None else plain_numbers(batch.starts),
    ]


def _packed_rows(rows: Sequence[tuple[Any, ...]]) -> Any:
    """Rows as one byte string, where that is not too long for one."""
    packed: bytes = _ROW_BYTES.pack(rows)
    return packed if len(packed) <= RESULT_BYTES_MAX else rows


def _unpacked_rows(data: bytes) -> Sequence[Any]:
    """Rows that have come as one byte string: as columns, or as an array of what it has."""
    columns = columns_of_rows(data, BATCH_EVENTS_MAX) if COMPILED else None
    if columns is not None:
        return columns
    rows = _unpacked(data, ARRAY_LENGTH_MAX, use_list=False)
    if type(rows) is not tuple:
        raise EventError(f"expected an array in the byte string, found {_kind(rows)}")
    return rows


def _unpack(fields: list[Any], correlation: int) -> None:
    """Unpack what is packed of a Publish, and check that all is there for each event."""
    at = _ROWS
    try:
        if type(fields[at]) is dict:
            fields[at] = columns_of(fields[at], BATCH_EVENTS_MAX)
        elif type(fields[at]) is bytes:
            fields[at] = _unpacked_rows(fields[at])
        count = len(fields[at])
        for at in _OF_EACH:
            given = fields[at]
            if type(given) is dict:
                fields[at] = numbers_of(given, count)
            elif given is not None and len(given) != count:
                raise EventError(f"expected {count} values, one for each row, found {len(given)}")
    except (EventError, WireError) as error:
        raise WireError(f"Publish.{ROW_OF[Publish].names[at]}: {_one_line(error)}", correlation) from None


def _kind(value: object) -> str:
    names = {type(None): "nil", bool: "a boolean", int: "an integer", float: "a float", str: "a string"}
    more = {bytes: "a byte string", tuple: "an array", dict: "a map"}
    return (names | more).get(type(value), "something else")


def _one_line(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return text.partition("\n")[0][:120]
