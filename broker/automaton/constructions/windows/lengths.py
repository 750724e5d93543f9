"""Takes lengths out of regular expressions: an expression with a bounded number of events, and the bounds.

`any* [p] any{0,98}` needs a state for each length, `any*` with at most 100 events one state and a comparison. Here: the
two forms for which that is exact: `r & any{n,m}`, and `x any{a,b} y` where x and y have one length each. Not here: what
keeps the bounds (engine).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeAlias

from ....algebra.window.window_expression import WindowRegex

Interval: TypeAlias = tuple[int, int | None]
"""The least and the greatest number of events; None for no greatest one."""

EVERYTHING: Final = WindowRegex("times", (WindowRegex("any"),), least=0, most=None)


def bounded(regex: WindowRegex) -> tuple[WindowRegex, Interval]:
    """An expression and bounds that together match the same non-empty sequences. O(size)."""
    interval = lengths(regex)
    if interval is not None:
        return EVERYTHING, (max(interval[0], 1), interval[1])
    if regex.operator == "and":
        bounds: Interval = (1, None)
        rest: list[WindowRegex] = []
        for part in regex.parts:
            interval = lengths(part)
            if interval is None:
                rest.append(part)
            else:
                bounds = _common(bounds, interval)
        if not rest:
            return EVERYTHING, bounds
        if len(rest) == 1:
            inner, more = bounded(rest[0])
            return inner, _common(bounds, more)
        return replace(regex, parts=tuple(rest)), bounds
    if regex.operator == "then":
        return _between(regex)
    return regex, (1, None)


def _between(regex: WindowRegex) -> tuple[WindowRegex, Interval]:
    """`x any{a,b} y`: exactly one part has more than one length, and matches everything of these lengths."""
    fixed = [length(part) for part in regex.parts]
    varying = [at for at, number in enumerate(fixed) if number is None]
    if len(varying) != 1:
        return regex, (1, None)
    interval = lengths(regex.parts[varying[0]])
    if interval is None or interval == (0, None):
        return regex, (1, None)
    around = sum(number for number in fixed if number is not None)
    parts = tuple(EVERYTHING if at == varying[0] else part for at, part in enumerate(regex.parts))
    most = None if interval[1] is None else around + interval[1]
    return replace(regex, parts=parts), (max(around + interval[0], 1), most)


def lengths(regex: WindowRegex) -> Interval | None:
    """The interval if the expression matches exactly the sequences whose length is in an interval; else None."""
    parts = [lengths(part) for part in regex.parts]
    match regex.operator:
        case "any":
            return 1, 1
        case "then":
            least, most = 0, 0 if parts else None
            for part in parts:
                if part is None:
                    return None
                least += part[0]
                most = None if most is None or part[1] is None else most + part[1]
            return least, most
        case "and":
            found: Interval = (0, None)
            for part in parts:
                if part is None:
                    return None
                found = _common(found, part)
            return found if found[1] is None or found[0] <= found[1] else None  # a product with it matches nothing
        case "times":
            return None if parts[0] is None else _repeated(parts[0], regex.least, regex.most)
    return None


def _repeated(one: Interval, least: int, most: int | None) -> Interval | None:
    """The interval of so many of an interval one behind the other; None if it has gaps."""
    low, high = one
    if high == 0 or most == 0:
        return 0, 0
    # From one number of repetitions to the next there is no gap if the intervals touch; the first two are the shortest.
    if least != most and (low > 1 if least == 0 else high is not None and low * (least + 1) > high * least + 1):
        return None
    return low * least, None if high is None or most is None else high * most


def length(regex: WindowRegex) -> int | None:
    """The one number of events of all sequences that the expression matches; None if there is none, or unknown."""
    parts = [length(part) for part in regex.parts]
    known = [number for number in parts if number is not None]
    match regex.operator:
        case "any" | "event":
            return 1
        case "then":
            return sum(known) if len(known) == len(parts) else None
        case "or":
            return parts[0] if len(set(parts)) == 1 else None
        case "and":
            return known[0] if known else None
        case "times" if regex.least == regex.most and parts[0] is not None:
            return parts[0] * regex.least
    return None


def _common(one: Interval, other: Interval) -> Interval:
    greatest = [most for most in (one[1], other[1]) if most is not None]
    return max(one[0], other[0]), min(greatest, default=None)
