"""Instants and durations: their units and their notation. This module reads no clock.

An instant is an integer number of microseconds since 1970 in UTC, at most LARGEST away from 1970. A duration is an
integer number of microseconds from 0 to LARGEST. A number without a unit, also as text, means microseconds. Text that
is not an exact number of microseconds is refused, never rounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

from .errors import EventError, shown
from .nearest import suggestion

LARGEST: Final = 2**61
"""The greatest distance of an instant from 1970, and the greatest duration that can be written with a unit."""

FOREVER: Final = 2 * LARGEST + 1
"""The DUR of a composition from the first instant to the last. A greater bound has no effect and is dropped, so that an
instant plus or minus any window fits into 64 bits. As a time, FOREVER is later than any instant and the end of any
window, and -FOREVER is earlier than the start of any window."""

_SIZES: Final[tuple[tuple[int, tuple[str, ...]], ...]] = (
    (7 * 24 * 3600 * 1_000_000, ("week", "weeks")),
    (24 * 3600 * 1_000_000, ("day", "days", "d")),
    (3600 * 1_000_000, ("hour", "hours", "h")),
    (60 * 1_000_000, ("min", "mins", "minute", "minutes")),
    (1_000_000, ("s", "sec", "secs", "second", "seconds")),
    (1_000, ("ms", "millisecond", "milliseconds")),
    (1, ("us", "microsecond", "microseconds")),
)

UNITS: Final[Mapping[str, int]] = MappingProxyType({name: size for size, names in _SIZES for name in names})
"""Microseconds for each name of a unit, in lower case, singular and plural."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
EARLIEST: Final = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // MICROSECOND
LATEST: Final = (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC) - EPOCH) // MICROSECOND

# The number of digits is limited so that no text makes int() slow.
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,40}")
_DURATION: Final = re.compile(r"([0-9]{1,40})(?:\.([0-9]{1,40}))?\s*([A-Za-z]*)")
_INSTANT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:[.,]([0-9]{1,40}))?)?\s?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?",
    re.IGNORECASE,
)

_AN_INSTANT: Final = "expected a time in microseconds or ISO-8601 such as 2024-05-01T09:30:00Z"
_A_DURATION: Final = "expected a duration in microseconds or such as '5 min' (us ms s sec min hour day week)"


def parse_instant(written: int | str) -> int:
    """Return the instant for a number or a text; ISO-8601 without a zone is UTC, and a date alone is its beginning.

    Raises EventError for anything else, also for a time more than LARGEST away from 1970.
    """
    if type(written) is int:
        instant = written
    elif not isinstance(written, str):
        raise EventError(f"{_AN_INSTANT}, found {shown(written)}")
    elif _INTEGER.fullmatch(written.strip()):
        instant = int(written.strip())  # int() strips less
    else:
        instant = _calendar_instant(written)
    if not -LARGEST <= instant <= LARGEST:
        raise EventError(f"expected a time at most 2**61 microseconds from 1970, found {shown(written)}")
    return instant


def _calendar_instant(written: str) -> int:
    match = _INSTANT.fullmatch(written.strip())
    if match is None:
        raise EventError(f"{_AN_INSTANT}, found {shown(written)}")
    date, minutes, seconds, fraction, zone = match.groups()
    if fraction is not None and fraction[6:].strip("0"):
        raise EventError(f"expected a time exact in microseconds, found {shown(written)}")
    # fromisoformat silently drops digits beyond microseconds, so the fraction is added here.
    whole = (seconds or ":00")[:3]
    offset = "+00:00" if zone is None or zone in "Zz" else zone
    try:
        moment = datetime.fromisoformat(f"{date}T{minutes or '00:00'}{whole}{offset}")
    except ValueError:
        raise EventError(f"expected a time that the calendar has, found {shown(written)}") from None
    return (moment - EPOCH) // MICROSECOND + int((fraction or "")[:6].ljust(6, "0"))


def format_instant(instant: int) -> str:
    """Format an instant as ISO-8601 in UTC, with a fraction only if needed; outside the years 1 to 9999 as a number.

    `parse_instant(format_instant(t)) == t` for every instant.
    """
    if not EARLIEST <= instant <= LATEST:
        return str(instant)
    moment = EPOCH + instant * MICROSECOND
    return moment.replace(tzinfo=None).isoformat() + "Z"


def parse_duration(written: int | str | timedelta) -> int:
    """Return the microseconds for a number, a text of a number and a unit (`5 min`, `5min`, `0.5 s`), or a timedelta.

    Raises EventError for anything else, also for a fraction of a microsecond or more than LARGEST.
    """
    if type(written) is int:
        duration = written
    elif isinstance(written, timedelta):
        duration = written // MICROSECOND
    elif not isinstance(written, str):
        raise EventError(f"{_A_DURATION}, found {shown(written)}")
    else:
        duration = _written_duration(written)
    if not 0 <= duration <= LARGEST:
        raise EventError(f"expected a duration from 0 to 2**61 microseconds, found {shown(written)}")
    return duration


def _written_duration(written: str) -> int:
    match = _DURATION.fullmatch(written.strip())
    if match is None:
        raise EventError(f"{_A_DURATION}, found {shown(written)}")
    whole, fraction, unit = match.group(1), match.group(2) or "", match.group(3).lower()
    size = UNITS.get(unit) if unit else 1
    if size is None:
        raise EventError(f"{_A_DURATION}, found {shown(written)}{suggestion(unit, UNITS)}")
    scale: int = 10 ** len(fraction)
    duration, rest = divmod(int(whole + fraction) * size, scale)
    if rest:
        raise EventError(f"expected a duration exact in microseconds, found {shown(written)}")
    return duration


def format_duration(duration: int) -> str:
    """Format a duration in the largest unit that makes it an integer: `5 min`, `1 hour`, `36 hours`, `0 us`.

    `parse_duration(format_duration(d)) == d` for every duration.
    """
    if duration == 0:
        return "0 us"
    for size, names in _SIZES:
        count, rest = divmod(duration, size)
        if rest == 0:
            # Only unabbreviated units have a plural: '2 hours', but '5 min' and '5 s'.
            unit = names[1] if size >= UNITS["hour"] and count != 1 else names[0]
            return f"{count} {unit}"
    raise AssertionError("every whole number is a multiple of 1 us")


def format_distance(duration: int) -> str:
    """Format a duration that was measured, for people: as `format_duration`, or in seconds with a fraction where that
    would count small units beyond a second: `59.999993 s`.

    `parse_duration(format_distance(d)) == d` for every duration.
    """
    seconds, fraction = divmod(duration, UNITS["s"])
    if seconds < 1 or fraction == 0:
        return format_duration(duration)
    return f"{seconds}.{fraction:06d}".rstrip("0") + " s"
