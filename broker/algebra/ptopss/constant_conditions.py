"""Finds time conditions of a composite subscription that hold for all events or for none, whatever their times."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from ...events.instant import format_duration
from ...language.literal_orders import at_most
from ..structure import Condition, Structure, order
from ..terms import check_plain
from .composite import Composite


def remarks(composite: Composite) -> list[str]:
    """Return a line for each condition that always holds, in the order of the text."""
    names = composite.names
    found: list[str] = []
    for time in composite.conditions:
        if decided(composite.structure, time, composite.within):
            check_plain(time.duration)
            check_plain(composite.within)
            reason = reason_for(composite.structure, time, composite.within, names)
            found.append(f"{condition_text(time, names)} always holds: {reason}")
    return found


def _range(structure: Structure, time: Condition, within: int | None) -> tuple[float, float]:
    """Return the least and the greatest difference that can occur, given that events may have equal times."""
    longest = inf if within is None else within
    if time.minuend < time.subtrahend and order(structure, time.minuend, time.subtrahend) == "ordered":
        return -longest, 0
    return 0, longest


def decided(structure: Structure, time: Condition, within: int | None) -> bool | None:
    """Return True if a condition holds for all events, False if for none, None if it depends on them."""
    if order(structure, time.minuend, time.subtrahend) == "exclusive":
        return True
    low, high = _range(structure, time, within)
    duration = time.duration
    match time.operator:
        case "<":
            return _unanimous(_below(high, duration), not _below(low, duration))
        case "<=":
            return _unanimous(not _below(duration, high), _below(duration, low))
        case ">":
            return _unanimous(_below(duration, low), not _below(duration, high))
        case ">=":
            return _unanimous(not _below(low, duration), _below(high, duration))
    outside = _below(duration, low) or _below(high, duration)
    only = not outside and not _below(low, high)
    return _unanimous(only, outside) if time.operator == "=" else _unanimous(outside, only)


def _below(one: Any, other: Any) -> bool:
    if inf in (one, other) or -inf in (one, other):
        return bool(one < other)
    return not at_most(other, one)


def _unanimous(always: bool, never: bool) -> bool | None:
    return always if always or never else None


def condition_text(time: Condition, names: Sequence[str]) -> str:
    """Return a condition as the user wrote it; `names` are those of the operands."""
    difference = f"t({names[time.minuend]}) - t({names[time.subtrahend]})"
    return f"{difference} {time.operator} {format_duration(time.duration)}"


def reason_for(structure: Structure, time: Condition, within: int | None, names: Sequence[str]) -> str:
    """Return why a condition holds for all events or for none: the bounds of the difference."""
    first, second = (names[operand] for operand in sorted((time.minuend, time.subtrahend)))
    match order(structure, time.minuend, time.subtrahend):
        case "exclusive":
            return f"no match has both {first} and {second}"
        case "ordered":
            why = f"{first} comes before {second}"
        case "unordered":
            why = f"{first} and {second} have no order, which makes the difference absolute"
    low, high = _range(structure, time, within)
    bounds = [f"at least {_signed(low)}"] if low > -inf else []
    bounds += [f"at most {_signed(high)}"] if high < inf else []
    return f"{why}, so it is {' and '.join(bounds)}"


def _signed(duration: float) -> str:
    return f"{'-' if duration < 0 else ''}{format_duration(abs(int(duration)))}"
