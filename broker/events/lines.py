"""Reads one line of JSON as an input and checks its form, without knowing the schema of the stream.

A line is an object. Its keys decide its kind: `stream` and `data` mean an event; `retract`, `punctuation`, `subscribe`,
`unsubscribe`, `update` or `gap` mean something else. Any text either parses or raises EventError, and never any other
exception.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Final, NoReturn, TypeAlias, cast

from .errors import EventError, shown
from .event import Event, GapLine, Input, Punctuation, Retraction, SubscribeLine, UnsubscribeLine, UpdateLine
from .nearest import suggestion
from .schema import Row, Value
from .time_unit import instant_of, shown_instant

LONGEST_LINE: Final = 2**20
"""The most bytes of UTF-8 in a line."""

_EVENT_KEYS: Final = ("stream", "time", "start", "id", "data")
_SUBSCRIBE_KEYS: Final = ("name", "language", "query", "lineage", "report", "forecast", "results")
_UPDATE_KEYS: Final = ("subscription", "insert", "delete", "from", "to")
_GAP_KEYS: Final = ("stream", "from", "to")
_IDS: Final = 2**63
_PLAIN: Final = frozenset({str, int, bool, type(None)})


InstantOf: TypeAlias = Callable[[object, str | None], int]
"""The instant of a time in a line, given the stream, None if the line concerns all."""


def _microseconds(value: object, stream: str | None) -> int:
    return instant_of(value)


def parse_line(text: str, number: int, instant: InstantOf = _microseconds) -> Input:
    """Parse a line. `number` is its 1-based number in the input; every EventError's message starts with it.

    An event without `start` starts at its time. An event without `id` has the id None, and the consumer numbers it.
    `instant` reads its times, by default in microseconds. O(length).
    """
    try:
        return _input(_object(text), instant)
    except EventError as error:
        raise EventError(str(error), line=number) from None


def parse_object(text: str, number: int) -> dict[str, object]:
    """Parse a line as an object of any keys. Raises as `parse_line`."""
    try:
        return _object(text)
    except EventError as error:
        raise EventError(str(error), line=number) from None


def is_enveloped(line: Mapping[str, object]) -> bool:
    """Whether an object is a line with a `stream` or another key of ours, and not the plain values of an event."""
    return ("stream" in line and "data" in line) or any(key in line for key in _OTHERS)


def _object(text: str) -> dict[str, object]:
    if len(text) > LONGEST_LINE or (
        len(text) * 4 > LONGEST_LINE and len(text.encode("utf-8", "surrogatepass")) > LONGEST_LINE
    ):
        raise EventError("expected a line of at most 1 MiB, found a longer one")
    if not text.strip():
        raise EventError("expected a JSON object, found an empty line")
    try:
        value = DECODER.decode(text)
        # JSON can contain half a surrogate pair, which no other format used here can.
        if "\\u" in text or not text.isascii():
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        where = f"found no JSON at column {error.colno} ({error.msg})"
        raise EventError(f"expected a JSON object, {where}{_several(text, error)}") from None
    except UnicodeEncodeError:
        raise EventError("expected valid Unicode, found half of a surrogate pair") from None
    except RecursionError:
        raise EventError("expected a JSON object with plain values, found one nested too deeply") from None
    except ValueError:
        raise EventError("expected numbers of 64 bits, found an int with too many digits") from None
    if not isinstance(value, dict):
        several = _several(text) if isinstance(value, list) else ""
        raise EventError(f"expected a JSON object, found {shown(value)}{several}")
    return value


def _several(text: str, error: json.JSONDecodeError | None = None) -> str:
    """What to write where a file has no object a line."""
    if text.lstrip().startswith("["):
        return "; write one object a line, without brackets, as jq -c '.[]' FILE does"
    cut = error is not None and (error.pos >= len(text.rstrip()) or error.msg == "Extra data")
    return "; write one whole object a line, as jq -c . FILE does" if cut else ""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise EventError(f"expected each key once, found {shown(key)} twice")
            seen.add(key)
    return unique


def _constant(name: str) -> NoReturn:
    raise EventError(f"expected finite numbers, found {name}; write null, and declare a type with ?")


DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)
"""Raises EventError, besides what decoders raise, for a key that comes twice and a number that is not finite."""


def _input(line: dict[str, object], instant: InstantOf) -> Input:
    if "stream" in line and "punctuation" not in line:
        return _event(line, instant)
    for key, read in _OTHERS.items():
        if key in line:
            return read(line, instant)
    for key in line:
        hint = "" if key in _EVENT_KEYS else suggestion(key, (*_EVENT_KEYS, *_OTHERS))
        if hint:
            raise EventError(f"expected an event with a 'stream', or {', '.join(_OTHERS)}, found {shown(key)}{hint}")
    raise EventError(
        f"expected an event with a 'stream', or {', '.join(_OTHERS)}, found none of these keys; "
        "lines with nothing but the attributes need --stream NAME"
    )


def _event(line: dict[str, object], instant: InstantOf) -> Event:
    _only(line, _EVENT_KEYS, "an event")
    stream = _text(line, "stream")
    time = _instant(line, "time", instant, stream)
    if time is None:
        raise EventError("time: expected a time, found nothing")
    start = _instant(line, "start", instant, stream)
    if start is None:
        start = time
    elif start > time:
        latest = shown_instant(time)
        raise EventError(f"start: expected a time not after the event's time {latest}, found {shown_instant(start)}")
    identity = _identity(line["id"], "id") if "id" in line else None
    return Event(stream, time, start, identity, _data(line.get("data", _MISSING)))


def _data(data: object) -> dict[str, Value] | Row:
    if isinstance(data, dict):
        for name, value in data.items():
            if type(value) not in _PLAIN:
                _check_value(value, name)
        return data
    if isinstance(data, list):
        for value in data:
            if type(value) not in _PLAIN:
                _check_value(value, "data")
        return tuple(data)
    raise EventError(f"data: expected an object of values by attribute, or a list of values, found {_found(data)}")


def _check_value(value: object, place: str) -> None:
    if isinstance(value, float) and not isfinite(value):
        raise EventError(f"{place[:128]!r}: expected a finite number, found one too large for a float")


def _retraction(line: dict[str, object], instant: InstantOf) -> Retraction:
    _only(line, ("retract",), "a retraction")
    return Retraction(_identity(line["retract"], "retract"))


def _punctuation(line: dict[str, object], instant: InstantOf) -> Punctuation:
    _only(line, ("punctuation", "stream", "where"), "a punctuation")
    stream = _text(line, "stream") if "stream" in line else None
    time = _instant(line, "punctuation", instant, stream)
    assert time is not None
    return Punctuation(time, stream, _text(line, "where") if "where" in line else None)


def _subscribe(line: dict[str, object], instant: InstantOf) -> SubscribeLine:
    _only(line, ("subscribe",), "a subscribe line")
    fields = _fields(line, "subscribe", _SUBSCRIBE_KEYS)
    lineage = fields.get("lineage")
    if not isinstance(lineage, bool | None):
        raise EventError(f"lineage: expected true or false, found {shown(lineage)}")
    forecast = fields.get("forecast")
    if not isinstance(forecast, dict | None):
        raise EventError(f"forecast: expected an object, found {shown(forecast)}")
    report = None if fields.get("report") is None else _text(fields, "report")
    results = None if fields.get("results") is None else _text(fields, "results")
    name, language, query = _text(fields, "name"), _text(fields, "language"), _text(fields, "query")
    return SubscribeLine(name, language, query, lineage, report, forecast, results)


def _unsubscribe(line: dict[str, object], instant: InstantOf) -> UnsubscribeLine:
    _only(line, ("unsubscribe",), "an unsubscribe line")
    return UnsubscribeLine(_text(line, "unsubscribe"))


def _update(line: dict[str, object], instant: InstantOf) -> UpdateLine:
    _only(line, ("update",), "an update line")
    fields = _fields(line, "update", _UPDATE_KEYS)
    insert, delete = _texts(fields, "insert"), _texts(fields, "delete")
    if not insert and not delete:
        raise EventError("update: expected arcs to insert or delete, found none")
    since, until = _instant(fields, "from", instant, None), _instant(fields, "to", instant, None)
    if since is not None and until is not None and until < since:
        raise EventError(f"to: expected a time not before from, {shown_instant(since)}, found {shown_instant(until)}")
    return UpdateLine(_text(fields, "subscription"), insert, delete, since, until)


def _gap(line: dict[str, object], instant: InstantOf) -> GapLine:
    _only(line, ("gap",), "a gap")
    fields = _fields(line, "gap", _GAP_KEYS)
    first = _identity(fields.get("from"), "from")
    last = _identity(fields["to"], "to") if "to" in fields else first
    if last < first:
        raise EventError(f"to: expected a number not before from, {first}, found {last}")
    return GapLine(_text(fields, "stream"), first, last)


_OTHERS: Final[Mapping[str, Callable[[dict[str, object], InstantOf], Input]]] = MappingProxyType(
    {
        "retract": _retraction,
        "punctuation": _punctuation,
        "subscribe": _subscribe,
        "unsubscribe": _unsubscribe,
        "update": _update,
        "gap": _gap,
    }
)

_MISSING: Final = object()


def _only(line: Mapping[str, object], known: tuple[str, ...], what: str) -> None:
    for key in line:
        if key not in known:
            raise EventError(f"expected only {', '.join(known)} in {what}, found {shown(key)}{suggestion(key, known)}")


def _fields(line: dict[str, object], key: str, known: tuple[str, ...]) -> dict[str, object]:
    fields = line[key]
    if not isinstance(fields, dict):
        raise EventError(f"{key}: expected an object, found {shown(fields)}")
    _only(fields, known, f"{key!r}")
    return cast("dict[str, object]", fields)


def _text(fields: Mapping[str, object], key: str) -> str:
    value = fields.get(key, _MISSING)
    if not isinstance(value, str):
        raise EventError(f"{key}: expected a string, found {_found(value)}")
    return value


def _texts(fields: Mapping[str, object], key: str) -> tuple[str, ...]:
    values = fields.get(key, [])
    if not isinstance(values, list):
        raise EventError(f"{key}: expected a list of strings, found {shown(values)}")
    for value in values:
        if not isinstance(value, str):
            raise EventError(f"{key}: expected a list of strings, found {shown(value)} in it")
    return tuple(values)


def _instant(fields: Mapping[str, object], key: str, instant: InstantOf, stream: str | None) -> int | None:
    """Return the instant under a key, None if the key is absent; null is no instant."""
    if key not in fields:
        return None
    try:
        return instant(fields[key], stream)
    except EventError as error:
        raise EventError(f"{key}: {error}") from None


def _identity(value: object, key: str) -> int:
    if type(value) is int and -_IDS <= value < _IDS:
        return value
    raise EventError(f"{key}: expected an int of 64 bits, found {shown(value)}")


def _found(value: object) -> str:
    return "nothing" if value is _MISSING else shown(value)
