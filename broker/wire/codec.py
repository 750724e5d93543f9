"""Law: messages to bytes and back. Garbage is a message or a WireError, never anything else, and it is never executed.

msgpack is given every limit before it builds anything: length of the frame, of strings, arrays and maps; no extension
types, no timestamps, string keys only, none twice. Then the type, the number of fields and the form of each field are
compared with the table below, and only then is a message made.

In a result, `tuples` and `missed` are counts without bound. Beyond 64 bits, signed, which is where msgpack and most of
its readers end, they travel as a string of decimal digits; decoded, they are integers again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, NoReturn

import msgpack

from . import cursor_messages as c
from . import forecast_messages as f
from . import messages as m
from . import parts as p
from . import shapes as s
from . import stream_messages as d
from .errors import WireError
from .limits import (
    ARRAY_LENGTH_MAX,
    FRAME_BYTES_MAX,
    MAP_LENGTH_MAX,
    RESULT_BYTES_MAX,
    TEXT_BYTES_MAX,
    VERSION,
)

_NAMED: Final = s.optional(s.NAME)
_MICROSECONDS: Final = s.optional(s.COUNT)
_STREAM: Final = (s.NAME, s.NAMES, _NAMED, s.NAME, _MICROSECONDS, _MICROSECONDS)

MESSAGES: Final[Mapping[int, tuple[type[m.Message], tuple[s.Shape, ...]]]] = {
    # from the client
    1: (m.Hello, (s.COUNT, s.TEXT, s.optional(s.TOKEN))),
    2: (m.Goodbye, ()),
    3: (m.Ping, ()),
    4: (m.AddStream, _STREAM),
    5: (
        m.Publish,
        (
            s.NAME,
            s.optional(s.ARRAY),
            s.ARRAY,
            s.optional(s.INTEGERS),
            s.optional(s.INTEGERS),
            _NAMED,
            s.optional(s.COUNT),
            _MICROSECONDS,
        ),
    ),
    6: (
        m.Subscribe,
        (
            s.NAME,
            s.NAME,
            s.optional(s.TEXT),
            s.optional(s.FLAG),
            _NAMED,
            s.optional(s.PLAIN),
            s.CREDITS,
            s.optional(s.COUNT),
            _NAMED,
            s.optional(s.COUNT),
            s.optional(s.COUNT),
            s.optional(s.COUNT),
            s.optional(s.COUNT),
            s.optional(s.INTEGER),
            _MICROSECONDS,
            s.optional(s.COUNT),
            _NAMED,
            _MICROSECONDS,
        ),
    ),
    7: (m.Unsubscribe, (s.NAME,)),
    8: (m.Credit, (s.NAME, s.CREDITS)),
    9: (d.DescribeStream, (s.NAME,)),
    10: (d.ListStreams, (s.NAME,)),
    11: (m.ListSubscriptions, (s.NAME,)),
    12: (m.Statistics, ()),
    13: (c.Acknowledge, (s.NAME, s.COUNT, s.optional(s.COUNT))),
    14: (c.Forget, (s.NAME,)),
    15: (c.Refuse, (s.NAME, s.COUNT, s.NAME, s.optional(s.COUNT))),
    16: (c.ListDeadLetters, (s.NAME, s.COUNT)),
    17: (c.Settle, (s.NAME, s.INTEGERS, s.FLAG)),
    18: (d.ResetTime, (s.NAME,)),
    19: (f.AskProbability, (s.NAME, s.ARRAY, s.optional(s.HORIZON))),
    # from the broker, in answer
    32: (m.Welcome, (s.COUNT, s.TEXT, s.COUNT, s.optional(s.TOKEN), s.COUNT, s.COUNT)),
    33: (m.Done, ()),
    34: (m.Pong, ()),
    35: (
        m.Published,
        (s.COUNT, s.optional(s.INTEGER), s.optional(s.INTEGER), s.records(s.COUNT, s.NAME, s.TEXT), s.NAME),
    ),
    36: (m.Subscribed, (s.NAME, s.FLAG, s.FLAG, _NAMED, s.optional(s.COUNT), s.optional(s.COUNT))),
    37: (d.Streams, (s.records(*_STREAM), s.FLAG)),
    38: (m.Subscriptions, (s.records(s.NAME, s.NAME, s.TEXT, s.COUNT, s.COUNT, s.PLAIN), s.FLAG)),
    39: (m.StatisticsReport, (s.PLAIN,)),
    40: (
        m.Failure,
        (
            s.NAME,
            s.TEXT,
            s.optional(s.COUNT),
            s.optional(s.COUNT),
            s.optional(s.TEXT),
            _MICROSECONDS,
            _MICROSECONDS,
        ),
    ),
    41: (c.DeadLetters, (s.records(s.COUNT, s.BLOB, s.NAME, s.INTEGER, s.COUNT), s.FLAG, s.COUNT)),
    42: (d.TimeReset, (s.optional(s.INTEGER), _NAMED)),
    43: (f.ProbabilityReport, (s.PLAIN,)),
    # from the broker, unasked
    64: (m.Notifications, (s.NAME, s.COUNT, s.BLOBS, s.optional(s.COUNT), s.FLAG)),
    65: (m.Probe, ()),
    66: (m.Closing, (s.TEXT,)),
    67: (m.Ended, (s.NAME, s.NAME, s.TEXT)),
}
"""By the first number of the frame: the message, and the shapes of its fields behind the correlation."""

# Fields that hold values of our own: on the wire each of those is an array of its fields.
_PARTS: Final[Mapping[type[m.Message], tuple[int, type[Any]]]] = {
    m.Published: (4, p.Refusal),
    d.Streams: (1, d.StreamEntry),
    m.Subscriptions: (1, p.SubscriptionEntry),
    c.DeadLetters: (1, c.DeadLetter),
}

_PACKED_BYTES: Final = 1_024
"""What a packer takes at first; it grows. msgpack's own 256 KiB are mapped, and given back, for each small message."""

_COUNTS: Final = ("tuples", "missed")
_COUNT_DIGITS_MAX: Final = 4_300  # as many as Python reads and writes unless it is told otherwise

_NUMBERS: Final = {kind: number for number, (kind, _) in MESSAGES.items()}


def _reader(kind: type[Any]) -> Callable[[Any], tuple[Any, ...]]:
    names = [field.name for field in fields(kind)]
    if len(names) > 1:
        read: Callable[[Any], tuple[Any, ...]] = attrgetter(*names)
        return read
    return lambda message: (message.correlation,)  # of one name attrgetter makes no tuple


_READERS: Final = {kind: _reader(kind) for kind in _NUMBERS}
_PART_READERS: Final = {kind: _reader(part) for kind, (_, part) in _PARTS.items()}
_HELLO: Final = _NUMBERS[m.Hello]


def encode(message: m.Message) -> bytes:
    """The frame of a message. Raises WireError where the other end would refuse it for its size."""
    kind = type(message)
    values = [_NUMBERS[kind], *_READERS[kind](message)]
    part = _PARTS.get(kind)
    if part is not None:
        at = part[0] + 1
        values[at] = list(map(_PART_READERS[kind], values[at]))
    try:
        frame: bytes = msgpack.packb(values, buf_size=_PACKED_BYTES)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise WireError(f"{kind.__name__} cannot be written: {_one_line(error)}", message.correlation) from None
    if len(frame) > FRAME_BYTES_MAX:
        raise WireError(
            f"{kind.__name__} takes {len(frame):,} bytes, expected at most {FRAME_BYTES_MAX:,}", message.correlation
        )
    if len(frame) > TEXT_BYTES_MAX:
        decode(frame)  # only such a frame can hold a string that is too long, and it is rare enough to look
    return frame


def decode(frame: bytes) -> m.Message:
    """The message of a frame. Raises WireError, with the correlation as soon as that is known. O(bytes)."""
    if len(frame) > FRAME_BYTES_MAX:
        raise WireError(f"the frame has {len(frame):,} bytes, expected at most {FRAME_BYTES_MAX:,}")
    values = _unpacked(frame, ARRAY_LENGTH_MAX, use_list=False)
    if type(values) is not tuple or len(values) < 2:
        raise WireError("expected an array of a type, a correlation and fields")
    number, correlation, *rest = values
    if not s.COUNT.fits(correlation):
        raise WireError(f"the correlation: expected {s.COUNT.expected}, found {_kind(correlation)}")
    entry = MESSAGES.get(number) if type(number) is int else None
    if entry is None:
        found = str(number) if type(number) is int else _kind(number)
        raise WireError(f"the type: expected one of those of version {VERSION}, found {found}", correlation)
    kind, shapes = entry
    if number == _HELLO and rest and s.COUNT.fits(rest[0]) and rest[0] != VERSION:
        # Whatever another version says in its HELLO, its number must come through: it is what the answer is about.
        return m.Hello(correlation, rest[0], "")
    if len(rest) != len(shapes):
        raise WireError(f"{kind.__name__}: expected {len(shapes)} fields, found {len(rest)}", correlation)
    for at, shape in enumerate(shapes):
        if not shape.fits(rest[at]):
            name = fields(kind)[at + 1].name
            raise WireError(f"{kind.__name__}.{name}: expected {shape.expected}, found {_kind(rest[at])}", correlation)
    part = _PARTS.get(kind)
    if part is not None:
        at, make = part
        rest[at - 1] = tuple([make(*record) for record in rest[at - 1]])
    message = kind(correlation, *rest)
    if type(message) is m.Publish:
        _check_columns(message)
    return message


def encode_result(line: Mapping[str, Any]) -> bytes:
    """One result, as a map. Raises WireError where it is no plain value or exceeds RESULT_BYTES_MAX."""
    try:
        for name in _COUNTS:
            if name in line and not s.INTEGER.fits(line[name]):
                line = {**line, name: _digits(line[name])}
        result: bytes = msgpack.packb(line, buf_size=_PACKED_BYTES)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise WireError(f"a result cannot be written: {_one_line(error)}") from None
    if len(result) > RESULT_BYTES_MAX:
        raise WireError(f"a result takes {len(result):,} bytes, expected at most {RESULT_BYTES_MAX:,}")
    return result


def decode_result(result: bytes) -> dict[str, Any]:
    """The map of one result, its arrays as lists. Raises WireError."""
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


def _check_columns(batch: m.Publish) -> None:
    count = len(batch.rows)
    for name, column in (("times", batch.times), ("ids", batch.ids), ("starts", batch.starts)):
        if column is not None and len(column) != count:
            raise WireError(
                f"Publish.{name}: expected {count} values, one for each row, found {len(column)}", batch.correlation
            )


def _kind(value: object) -> str:
    names = {type(None): "nil", bool: "a boolean", int: "an integer", float: "a float", str: "a string"}
    more = {bytes: "a byte string", tuple: "an array", dict: "a map"}
    return (names | more).get(type(value), "something else")


def _one_line(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return text.partition("\n")[0][:120]
