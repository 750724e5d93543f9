"""Times as files and programs have them: numbers of another unit, datetimes, times of numpy and pandas.

Inside, every time is an integer number of microseconds (`instant`). Here it becomes one. Neither numpy nor pandas is
imported: their values are recognised by what they offer. A float of seconds or milliseconds is rounded to the nearest
microsecond, and nanoseconds are cut to microseconds, which keeps their order; nothing else is rounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from math import isfinite
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from .errors import EventError, shown
from .instant import EARLIEST, EPOCH, LARGEST, LATEST, MICROSECOND, format_instant, parse_instant

TimeUnit: TypeAlias = Literal["s", "ms", "us", "ns", "iso"]
"""The unit of numbers that are times: seconds, milliseconds, microseconds or nanoseconds since 1970 in UTC; iso: no
numbers, only ISO-8601 text."""

TIME_UNITS: Final[tuple[TimeUnit, ...]] = get_args(TimeUnit)

_MICROSECONDS: Final[Mapping[str, int]] = MappingProxyType({"s": 1_000_000, "ms": 1_000, "us": 1})
_NAMES: Final[Mapping[str, str]] = MappingProxyType({"s": "seconds", "ms": "milliseconds", "ns": "nanoseconds"})
_OTHERS: Final[tuple[tuple[TimeUnit, int, int], ...]] = (
    ("s", 10**9, 4 * 10**9),
    ("ms", 10**12, 4 * 10**12),
    ("ns", 10**18, 22 * 10**17),
)
"""Numbers that are times from 2001 to 2096, or to 2039, in another unit; as microseconds, of 1970 or after 30,000."""

_DECIMAL: Final = re.compile(r"[+-]?[0-9]{1,40}(?:\.[0-9]{0,40})?")
_NANOSECONDS: Final = re.compile(r"(:[0-9]{2}[.,][0-9]{6})[0-9]{1,3}(?![0-9])")
_REAL: Final = 10**14
"""From March 1973 on a time is one of the calendar."""


def instant_of(value: object, unit: TimeUnit | None = None) -> int:
    """Return the instant of a number in `unit` (None: microseconds), a text, a datetime or a time of numpy or pandas.

    A datetime must have a zone; numpy's and pandas' times without one are UTC, as text is. Raises EventError.
    """
    if type(value) is int and (unit is None or unit == "us"):
        return parse_instant(value)
    if isinstance(value, datetime):
        return _of_datetime(value)
    if isinstance(value, str):
        return _of_text(value, unit)
    if type(value).__module__ == "numpy":
        scalar = cast("Any", value)
        return _of_datetime64(scalar) if type(value).__name__ == "datetime64" else instant_of(scalar.item(), unit)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return parse_instant(cast("int", value))  # which says what was expected
    if unit == "iso":
        raise EventError(f"expected a time in ISO-8601, found {shown(value)}")
    return _within(_of_number(value, unit), value)


def instants_of(values: Sequence[Any], unit: TimeUnit | None = None) -> Sequence[int]:
    """Return the instants of many times: the same object if they are microseconds. O(values), and O(1) for such a list.

    `values`: a sequence of what `instant_of` takes, an array of numpy, or a Series or an Index of pandas. An error says
    at which index. Raises EventError.
    """
    if isinstance(values, (list, tuple, range)):
        plain = not len(values) or type(values[0]) is int
        if plain and (unit is None or unit == "us"):
            return values
    elif not isinstance(values, str) and hasattr(values, "tolist") and hasattr(values, "dtype"):
        if str(values.dtype).startswith("datetime64["):
            return _of_column(values)
        values = values.tolist()
    if not hasattr(values, "__iter__"):
        raise EventError(f"expected a sequence of times, found {shown(values)}")
    moments: list[int] = []
    for index, value in enumerate(values):
        try:
            moments.append(instant_of(value, unit))
        except EventError as error:
            raise EventError(f"row {index}: {error}") from None
    return moments


def check_unit(time: int, unit: TimeUnit | None, where: str) -> None:
    """Raise EventError for a number whose unit is not declared, and which can only be a time in another unit.

    `where` says how the unit is declared there. Ask it for the first number of a source only: a clock that starts at
    zero may come to such numbers.
    """
    other = likely_unit(time) if unit is None else None
    if other is not None:
        instead = format_instant(time * _MICROSECONDS.get(other, 1) // (1_000 if other == "ns" else 1))
        raise EventError(
            f"expected a time in microseconds, found {time}, which is {instead} in {_NAMES[other]}: declare the "
            f"unit with {where.replace('{}', other)}, or with {where.replace('{}', 'us')} if these are microseconds"
        )


def likely_unit(time: int) -> TimeUnit | None:
    """The only unit, other than microseconds, in which a number is a time of these decades; None if there is none."""
    return next((unit for unit, least, most in _OTHERS if least <= time < most), None)


def shown_instant(instant: int) -> str:
    """An instant in a message: a real time as ISO-8601, a number of a clock of its own as it is."""
    return format_instant(instant) if instant >= _REAL else str(instant)


def as_datetime(instant: int | None) -> datetime | None:
    """Return the instant as a datetime in UTC; None outside the years 1 to 9999."""
    if instant is None or not EARLIEST <= instant <= LATEST:
        return None
    return EPOCH + instant * MICROSECOND


def _of_number(value: float, unit: TimeUnit | None) -> int:
    if isinstance(value, int):
        return value // 1_000 if unit == "ns" else value * _MICROSECONDS[unit or "us"]
    if unit is None or unit == "us":
        return parse_instant(cast("int", value))  # which says what was expected
    if unit == "ns" or not isfinite(value) or abs(value) > LARGEST:
        raise EventError(f"expected a whole number as a time in {unit}, found {shown(value)}")
    return round(value * _MICROSECONDS[unit])


def _of_text(value: str, unit: TimeUnit | None) -> int:
    text = value.strip()
    if unit is None or unit == "us" or _DECIMAL.fullmatch(text) is None:
        return parse_instant(_NANOSECONDS.sub(r"\1", text))
    if unit == "iso":
        raise EventError(f"expected a time in ISO-8601, found {shown(value)}")
    if "." not in text:
        return _within(_of_number(int(text), unit), value)
    if unit == "ns":
        raise EventError(f"expected a whole number as a time in ns, found {shown(value)}")
    moment = Decimal(text) * _MICROSECONDS[unit]
    if moment != int(moment):
        raise EventError(f"expected a time exact in microseconds, found {shown(value)}")
    return _within(int(moment), value)


def _of_datetime(value: datetime) -> int:
    pandas = type(value).__module__.startswith("pandas")
    if pandas and value != value:
        raise EventError("expected a time, found NaT")
    if pandas:
        nanoseconds: int = cast("Any", value).as_unit("ns").value
        return nanoseconds // 1_000
    if value.utcoffset() is None:
        raise EventError(
            f"expected a datetime with a time zone, found {value.isoformat()} without one: add tzinfo=datetime.UTC"
        )
    return (value - EPOCH) // MICROSECOND


def _of_datetime64(value: Any) -> int:
    microseconds = value.astype("datetime64[us]")
    if str(microseconds) == "NaT":
        raise EventError("expected a time, found NaT")
    return parse_instant(int(microseconds.astype("int64")))


def _of_column(values: Any) -> list[int]:
    """An array of numpy, or a Series or Index of pandas, whose elements are times."""
    if any(bool(each != each) for each in values):
        raise EventError("expected times, found NaT among them")
    zone = ", UTC" if "," in str(values.dtype) else ""
    moments: list[int] = values.astype(f"datetime64[us{zone}]").astype("int64").tolist()
    return moments


def _within(instant: int, value: object) -> int:
    if not -LARGEST <= instant <= LARGEST:
        raise EventError(f"expected a time at most 2**61 microseconds from 1970, found {shown(value)}")
    return instant
