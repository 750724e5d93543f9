"""What short forms of windows stand for: sessions, windows by numbers of events, and `LAST d`, as pairs.

Here: syntax to syntax. `explain` prints the result. Not here: windows of the clock (LAST d EVERY d), which are no short
form: two of them may hold the same events.
"""

from __future__ import annotations

from ..syntax import ArithmeticExpression, ComparisonExpression, Expression, MemberAccess, Name, Number
from .regex import AnyEvent, Complement, Concatenation, EventPredicate, Intersection, Quantified, RegexExpression
from .syntax import ClockWindows, Keep, PairExpression, Pairs, SessionWindows, WindowsExpression


def written_out(windows: WindowsExpression, keep: Keep) -> tuple[WindowsExpression, Keep]:
    """The windows without short forms, and which of them are kept. O(1)."""
    match windows:
        case SessionWindows(gap):
            near = EventPredicate(_elapsed(gap))
            first = Intersection((AnyEvent(), Complement(near)))
            return _after_all(Concatenation((first, Quantified(near, 0, None))), windows.at), "longest"
        case ClockWindows(None, slide, _) if slide is not None and slide.events:
            return _after_each(slide.amount, slide.amount, windows.at), keep
        case ClockWindows(size, None, _) if size is not None and size.events:
            body = Quantified(AnyEvent(), 1, size.amount)
            return _after_all(body, windows.at), "earliest" if keep == "each" else keep
        case ClockWindows(size, None, _) if size is not None:
            pairs = _after_all(Quantified(AnyEvent(), 1, None), windows.at, size.amount)
            return pairs, "earliest"
        case ClockWindows(size, slide, _) if size is not None and slide is not None and slide.events:
            return _after_each(slide.amount, size.amount, windows.at), keep
        case _:
            return windows, keep


def _after_all(body: RegexExpression, at: int, within: int | None = None) -> Pairs:
    return Pairs((PairExpression(Quantified(AnyEvent(), 0, None), body, within, at),), at)


def _after_each(slide: int, size: int, at: int) -> Pairs:
    prefix = Quantified(Quantified(AnyEvent(), slide, slide), 0, None)
    return Pairs((PairExpression(prefix, Quantified(AnyEvent(), size, size), None, at),), at)


def _elapsed(gap: int) -> Expression:
    """`time - prev.time <= gap`."""
    since = ArithmeticExpression("-", Name(None, "time"), MemberAccess("prev", None, "time"))
    return ComparisonExpression("<=", since, Number(gap))
