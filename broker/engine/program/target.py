"""The destination of a match: the values that it has, and the subscribers and streams that it serves.

Here: outcomes, targets, feeds. Not here: subscribers themselves, results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from mypy_extensions import i64

from ...algebra.computation import Computation, Slots
from ...algebra.predicate import computation
from ...algebra.terms import Term
from ...events.schema import Row
from .recipient import Recipient
from .watcher import Watcher

ALWAYS_SINCE: Final = -(1 << 62)  # earlier than any event: for a subscription that was there from the beginning


@final
class Outcome:
    """The names and values of a match; where an executor binds variables, these, of which `floats` are floats.

    `limits` names the options that limit its stored partial matches.
    """

    def __init__(
        self, names: tuple[str, ...], output: tuple[Term, ...], floats: Sequence[bool] = (), limits: str = ""
    ) -> None:
        self.names = names
        self.outputs: list[Computation] = [computation(t) for t in output]
        self.floats = floats
        self.limits = limits

    def values(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Row:
        return tuple([o.value(row, bound, slots, length, span) for o in self.outputs])

    def bound(self, binding: Row) -> Row:
        """The values of a match in their types: an int and a float attribute may share a variable."""
        if not self.floats:
            return binding
        pairs = zip(binding, self.floats, strict=True)
        return tuple([float(v) if wanted and isinstance(v, int) else v for v, wanted in pairs])

    def named(self, values: Row) -> dict[str, Any]:
        """The values by name, of which there are as many. (A call of zip with an option costs more than the loop.)"""
        made: dict[str, Any] = {}
        for at in range(len(self.names)):
            made[self.names[at]] = values[at]
        return made


@final
class Feed:
    """A stream made of an end's results, for the subscriptions that have published it since a time.

    `place`: the names of the stream and of the publisher, by which events of one instant are in order. `salt`:
    distinguishes equal events of two publishers, if they may be withdrawn; 0 if they may not.
    """

    def __init__(self, stream: int, since: int, place: tuple[str, str], salt: int = 0) -> None:
        self.stream = stream
        self.since = since
        self.place = place
        self.salt = salt


@final
class Target:
    """The subscribers and streams of an end.

    A target only grows. When a subscriber leaves, another target replaces this one, so that results may keep it. A
    subscriber that joins later does not get the matches of runs that were born earlier.
    """

    __slots__ = ("feeds", "first", "others", "outcome", "watchers")

    def __init__(self, outcome: Outcome, first: Recipient | None) -> None:
        self.outcome = outcome
        self.first = first
        self.others: list[Recipient] | None = None  # nearly all targets have one subscriber
        self.feeds: list[Feed] | None = None
        self.watchers: list[Watcher] | None = None

    def join(self, subscriber: Recipient) -> None:
        if self.first is None:
            self.first = subscriber
        elif self.others is None:
            self.others = [subscriber]
        else:
            self.others.append(subscriber)

    def serve(self, subscriber: Recipient | None, feed: Feed | None) -> None:
        """Add a subscriber, a stream that is made of the matches, or both."""
        if subscriber is not None:
            self.join(subscriber)
        if feed is not None:
            self.feeds = [feed] if self.feeds is None else [*self.feeds, feed]

    def unused(self) -> bool:
        """Whether it serves neither a subscriber nor a stream."""
        return self.first is None and self.feeds is None

    def without_feed(self, subscriber: Recipient | None, feed: Feed | None) -> Target:
        """Undo one `serve`: a target for all the others. O(subscribers)."""
        left = self.without("", 0) if subscriber is None else self.without(subscriber.name, subscriber.branch)
        if left.feeds is not None and feed is not None:
            rest = list(left.feeds)
            rest.remove(feed)  # once: equal branches of a union make a stream up twice
            left.feeds = rest or None
        return left

    def without(self, name: str, branch: i64) -> Target:
        """A target for all the others. O(subscribers)."""
        rest = [s for s in self.subscribers() if s.name != name or s.branch != branch]
        left = Target(self.outcome, rest[0] if rest else None)
        left.others = rest[1:] if len(rest) > 1 else None
        left.feeds = self.feeds
        left.watchers = self.watchers
        return left

    def subscribers(self) -> list[Recipient]:
        if self.first is None:
            return []
        return [self.first] if self.others is None else [self.first, *self.others]
