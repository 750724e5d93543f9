"""Checks every value that reaches the engine, once, against the schema of its stream.

A valid row has one value for each attribute; a shorter one has null for those that were added to the stream. Each value
is exactly a str, int, float, bool or tuple of str as declared, or None if the attribute is nullable. An int has 64 bits
with sign; a float is finite; a bool is never an int; a string is valid Unicode. An int is accepted for a float, a list
for a tuple, and converted. Times never decrease, and are at most LARGEST away from 1970.

The loops run column by column and call no function for a valid value. If a batch is not valid as it is, a second pass
goes row by row, converts values where allowed, and names the first wrong value.

In compiled code an annotation is a check that raises TypeError, so values that are not checked yet have the type Any.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

from .batch import COMPILED
from .errors import EventError, LateEvent, shown
from .file_form import is_nested, paths_of
from .instant import LARGEST
from .nearest import suggestion
from .schema import TEXTS, Attribute, Row, Schema, Value
from .stream import StreamDefinition
from .time_unit import shown_instant

_LEAST_INT: Final = -(2**63)
_GREATEST_INT: Final = 2**63 - 1
_USUAL_INT: Final = 2**60
_QUOTED: Final = re.compile(r"string '(-?[0-9]+(?:[.,][0-9]+)?)'")
LATE_HINT: Final = '; declare the stream with disorder = "buffer" for events that come late'


def check_rows(stream: StreamDefinition, rows: Sequence[Any]) -> Sequence[Row]:
    """Return valid rows: the same object if nothing had to be converted.

    Raises EventError that names the stream, the index of the row, the attribute, what was expected and what was found.
    O(values).
    """
    if _fit(stream.schema, rows):
        return rows
    return [_converted(stream, row, index) for index, row in enumerate(rows)]


def row_from_mapping(stream: StreamDefinition, data: Mapping[Any, object]) -> Row:
    """Return the row for values by attribute, those of nested objects by their paths; a nullable attribute may be
    missing.

    Raises EventError, also for an unknown attribute.
    """
    if not isinstance(data, Mapping):
        raise _no_mapping(stream, data)
    schema = stream.schema
    if is_nested(data):
        data = {**paths_of(data), **{name: data[name] for name in schema.names if name in data}}
    for name in data:
        if schema.position(name) < 0 and not _is_nothing(schema, name, data[name]):
            raise unknown_attribute(stream, name)
    row: tuple[Any, ...] = tuple([data.get(name) for name in schema.names])
    if _fit(schema, (row,)):
        return row
    for attribute in schema.attributes:
        if not attribute.nullable and attribute.name not in data:
            raise misfit(stream, attribute, "nothing")
    return _converted(stream, row, None)


def _is_nothing(schema: Schema, name: object, value: object) -> bool:
    """Whether a value stands where objects with attributes could be, but are not."""
    return value in (None, {}, []) and any(known.startswith(f"{name}.") for known in schema.names)


def _no_mapping(stream: StreamDefinition, data: object) -> EventError:
    names = ", ".join([*(f"{name!r}: ..." for name in stream.schema.names[:3]), *(["..."] * (len(stream.schema) > 3))])
    return EventError(f"stream {stream.name!r}: expected values by attribute, as {{{names}}}, found {shown(data)}")


def check_times(stream: StreamDefinition, times: Sequence[Any], newest: int | None) -> bool:
    """Check that times are instants that never decrease, starting with `newest`, the newest time processed or None.

    Whether each is known to be later than the one before. Raises EventError for a value that is no instant, and
    LateEvent with the index and both times for a late event.
    """
    last = -LARGEST if newest is None else newest
    distinct = True
    moments: list[Any] = times if isinstance(times, list) else list(times)  # compiled, a list is walked faster
    for time in moments:
        if type(time) is not int:
            break
        moment: int = time  # compiled, numbers are compared faster than objects
        if moment <= last:
            if moment < last:
                break
            distinct = False
        last = moment
    else:
        if last <= LARGEST:
            return distinct
    last = -LARGEST if newest is None else newest
    for index, time in enumerate(moments):
        if type(time) is not int or not -LARGEST <= time <= LARGEST:
            place = _place(stream, index)
            raise EventError(f"{place}: expected microseconds, at most 2**61 from 1970, as time, found {shown(time)}")
        if time < last:
            late = f"expected a time of {shown_instant(last)} or later, found {shown_instant(time)}{LATE_HINT}"
            raise LateEvent(f"{_place(stream, index)}: {late}")
        last = time
    return False


def whole_within(values: Sequence[Any], least: int, greatest: int) -> bool:
    """Whether all are ints from `least` to `greatest`. O(values)."""
    if not COMPILED:
        return set(map(type, values)) <= {int} and (not values or (min(values) >= least and max(values) <= greatest))
    given: list[Any] = values if isinstance(values, list) else list(values)
    for value in given:
        if type(value) is not int:
            return False
        number: int = value  # compiled, numbers are compared faster than objects
        if number < least or number > greatest:
            return False
    return True


def check_late(stream: StreamDefinition, times: Sequence[Any], floor: int | None) -> None:
    """Check that times are instants, in any order, and none before `floor`, nor `lateness` before an earlier one.

    Raises EventError and LateEvent as `check_times` does.
    """
    last = -LARGEST if floor is None else floor
    lateness = stream.lateness
    least, most = LARGEST, -LARGEST
    for time in times:
        if type(time) is not int:
            break
        moment: int = time  # compiled, numbers are compared faster than objects
        if moment < least:
            least = moment
        if moment > most:
            most = moment
    else:
        if least >= last and most <= LARGEST and (lateness is None or most - least <= lateness):
            return
    for index, time in enumerate(times):
        if type(time) is not int or not -LARGEST <= time <= LARGEST:
            place = _place(stream, index)
            raise EventError(f"{place}: expected microseconds, at most 2**61 from 1970, as time, found {shown(time)}")
        if time < last:
            raise LateEvent(f"{_place(stream, index)}: {late_reason(last, time)}")
        if lateness is not None and time - lateness > last:
            last = time - lateness


def late_reason(floor: int, time: int, promised: bool = False) -> str:
    """Why an event is refused before whose time all is final. `promised`: of events like it only."""
    since = f"{shown_instant(floor)} or later{' of such an event' if promised else ''}"
    return f"expected a time of {since}, before which all is final, found {shown_instant(time)}"


def check_starts(stream: StreamDefinition, starts: Sequence[Any], times: Sequence[int]) -> None:
    """Check the starts of events that end at `times`: one for each, none after its end. Raises EventError."""
    if len(starts) != len(times):
        raise EventError(
            f"stream {stream.name!r}: expected {len(times)} starts, one for each time, found {len(starts)}"
        )
    for index, start in enumerate(starts):
        if type(start) is not int or not -LARGEST <= start <= times[index]:
            raise EventError(
                f"{_place(stream, index)}: expected a start in microseconds, not after the time {times[index]}, "
                f"found {shown(start)}"
            )


def unknown_attribute(stream: StreamDefinition, name: object) -> EventError:
    """Return the error for a name that the stream's schema does not have."""
    hint = suggestion(name, stream.schema.names) if isinstance(name, str) else ""
    known = ", ".join(stream.schema.names[:8]) + ", ..." * (len(stream.schema) > 8) if len(stream.schema) else "none"
    return EventError(f"stream {stream.name!r}: expected only its attributes ({known}), found {shown(name)}{hint}")


def misfit(stream: StreamDefinition, attribute: Attribute, found: str, index: int | None = None) -> EventError:
    """Return the error for a value that does not fit its attribute; `found` describes the value."""
    null = " or null" if attribute.nullable else ""
    if not attribute.nullable and found in ("null", "empty text"):
        found += f"; declare {attribute.name} = \"{attribute.type}?\" if it may be null"
    number = _QUOTED.fullmatch(found) if attribute.type in ("int", "float") else None
    if number is not None:
        comma = "with a decimal point" if "," in found else "without quotes"
        found += f"; write {number.group(1).replace(',', '.')}, {comma}"
    return EventError(
        f"{_place(stream, index)}, attribute {attribute.name!r}: expected {attribute.type}{null}, found {found}"
    )


def _fit(schema: Schema, rows: Sequence[Any]) -> bool:
    """Return whether all rows are valid as they are. Does not look for the cause, which may cost more."""
    width = len(schema)
    # Compiled code walks a list without an iterator.
    given: list[Any] = rows if isinstance(rows, list) else list(rows)
    for row in given:
        if type(row) is not tuple or len(row) != width:
            return False
    tuples: list[tuple[object, ...]] = given
    for position, attribute in enumerate(schema.attributes):
        nullable = attribute.nullable
        match attribute.type:
            case "string":
                texts: list[Any] = [fitting[position] for fitting in tuples]
                nulls = False
                for text in texts:
                    if type(text) is not str:
                        if text is not None or not nullable:
                            return False
                        nulls = True
                if nulls:
                    texts = [text for text in texts if text is not None]
                if not encodable("".join(texts)):  # one call for all: each is a fifth of the check
                    return False
            case "float":
                for fitting in tuples:
                    value = fitting[position]
                    if type(value) is float:
                        if value - value != 0.0:  # true only for NaN and the infinities
                            return False
                    elif value is not None or not nullable:
                        return False
            case "int":
                for fitting in tuples:
                    value = fitting[position]
                    if type(value) is int:
                        # Compiled code compares the usual numbers as machine words.
                        if not (-_USUAL_INT < value < _USUAL_INT or _LEAST_INT <= value <= _GREATEST_INT):
                            return False
                    elif value is not None or not nullable:
                        return False
            case "bool":
                for fitting in tuples:
                    value = fitting[position]
                    if type(value) is not bool and (value is not None or not nullable):
                        return False
            case "string[]":
                if not texts_fit([fitting[position] for fitting in tuples], nullable):
                    return False
    return True


def texts_fit(values: list[Any], nullable: bool) -> bool:
    """Whether all are tuples of valid texts, or null if that may be. O(texts)."""
    several: list[Any] = []
    for value in values:
        if type(value) is tuple:
            several += value
        elif value is not None or not nullable:
            return False
    for text in several:
        if type(text) is not str:
            return False
    return encodable("".join(several))


def _converted(stream: StreamDefinition, row: object, index: int | None) -> Row:
    """Convert one row where allowed: a list to a tuple, ints to floats, nothing to null for attributes added later."""
    if not isinstance(row, tuple | list):
        raise EventError(f"{_place(stream, index)}: expected a tuple of values, found {shown(row)}")
    attributes = stream.schema.attributes
    if len(attributes) - stream.added <= len(row) < len(attributes):
        row = (*row, *[None] * (len(attributes) - len(row)))
    if len(row) != len(attributes):
        raise EventError(f"{_place(stream, index)}: expected {len(attributes)} values, found {len(row)}")
    return tuple(
        [_converted_value(stream, attribute, row[at], index) for at, attribute in enumerate(attributes)],
    )


def _converted_value(stream: StreamDefinition, attribute: Attribute, value: object, index: int | None) -> Value:
    """Convert one value: an int to a float, a list to a tuple. Values of numpy and of subclasses become plain ones, and
    the NA of pandas is null."""
    kind = attribute.type
    value = _plain(value)
    if value is None:
        if attribute.nullable:
            return None
    elif kind == "float":
        if isinstance(value, float | int) and type(value) is not bool:
            number = _finite(value)
            if number is None:
                raise misfit(stream, attribute, f"{shown(value)}, which is not a finite float", index)
            return number
    elif kind == "string":
        if type(value) is str:
            if not encodable(value):
                raise misfit(stream, attribute, f"{shown(value)}, which is not valid Unicode", index)
            return value
    elif kind == "int":
        if type(value) is int:
            if not _LEAST_INT <= value <= _GREATEST_INT:
                raise misfit(stream, attribute, f"{shown(value)}, which does not fit 64 bits", index)
            return value
    elif kind == TEXTS:
        return _texts(stream, attribute, value, index)
    elif type(value) is bool:
        return value
    raise misfit(stream, attribute, shown(value), index)


def _texts(stream: StreamDefinition, attribute: Attribute, given: object, index: int | None) -> Value:
    """A list of texts as a tuple."""
    if type(given).__module__ == "numpy" and hasattr(given, "tolist"):
        given = given.tolist()  # what data frames have of lists
    if not isinstance(given, list | tuple):
        hint = f"; write [{shown(given).removeprefix('string ')}]" if isinstance(given, str) else ""
        raise misfit(stream, attribute, f"{shown(given)}{hint}", index)
    texts = tuple(map(_plain, given))
    for text in texts:
        if type(text) is not str or not encodable(text):
            wrong = ", which is not valid Unicode," if type(text) is str else ""
            raise misfit(stream, attribute, f"{shown(text)}{wrong} in it", index)
    return texts


def _plain(value: Any) -> Any:
    """The plain value of a scalar of numpy, of pandas, or of a subclass of str or int; any other as it is."""
    kind = type(value)
    if kind is str or kind is int or kind is float or kind is bool or value is None:
        return value
    if kind.__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        return value.item()
    if kind.__name__ == "NAType" and kind.__module__.startswith("pandas"):
        return None
    if isinstance(value, str):
        return str.__str__(value)
    return operator.index(value) if isinstance(value, int) else value


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def encodable(text: str) -> bool:
    """Return whether text is valid Unicode: a str may also contain half of a surrogate pair, which UTF-8 cannot
    encode."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _place(stream: StreamDefinition, index: int | None) -> str:
    return f"stream {stream.name!r}" if index is None else f"stream {stream.name!r}, row {index}"


def check_ids(stream: str, ids: Sequence[Any]) -> None:
    """Raise EventError unless the ids are integers of 64 bits."""
    for number in ids:
        # Compiled code compares the usual numbers as machine words.
        if type(number) is not int or not -_USUAL_INT < number < _USUAL_INT:
            break
    else:
        return
    for index, number in enumerate(ids):
        if type(number) is not int or not _LEAST_INT <= number <= _GREATEST_INT:
            raise EventError(
                f"stream {stream!r}, event {index} of the batch: expected an id of 64 bits, found {shown(number)}"
            )
