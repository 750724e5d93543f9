"""The contract of executors: the one interface through which the dispatcher uses partial matches.

An executor is a folder beside this file; its machine is a subclass of `Executor`, and its matches are sources
(matches). The dispatcher passes it the events that satisfy some of its inputs, advances its time, and reads its state.

Here: that interface. Not here: what a compiled query says about its machine (machine_plan), executors, the dispatcher
(dispatch), the form of completions (completions).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, final

from mypy_extensions import i64, trait

from ...algebra.normal_form import Form
from ...events.instant import FOREVER
from ...events.schema import Row, Value
from ..matches.completions import Audience, Completions
from ..matches.sources import Item, WaitingRun
from ..program.account import Account
from ..program.target import Target
from .event_span import EventSpan

NOTHING_DUE: Final = FOREVER


@final
class Input(NamedTuple):
    """An event that a machine needs: a stream, and the guard in normal form."""

    stream: str
    guard: Form


class EventKey(NamedTuple):
    """Positions of attributes, ascending, and the values that they have in a machine's events. `beginning`: how many
    characters of the only one are its value; -1 for all of it. `others`: where events of further streams have them."""

    positions: tuple[int, ...]
    values: tuple[Value, ...]
    beginning: int = -1
    others: tuple[tuple[int, ...], ...] = ()


@final
class Interest:
    """Which events a machine needs at present: those that satisfy an input in `mask`, and all events with `key`, which
    may satisfy none."""

    __slots__ = ("key", "mask")

    def __init__(self, mask: i64 = -1, key: EventKey | None = None) -> None:
        self.mask = mask
        self.key = key

    def includes(self, row: Row) -> bool:
        """Whether an event is needed although it satisfies no input in the mask."""
        key = self.key
        return key is not None and tuple([row[position] for position in key.positions]) == key.values


SATISFYING: Final = Interest()
"""Events that satisfy an input; the interest of most machines."""
EVERY_EVENT: Final = EventKey((), ())


class EventPlaces:
    """The positions of events in their partitions, as the dispatcher counts them."""

    def place(self, row: Row) -> i64:
        """The number of events so far in the partition of this event of the first stream. O(1)."""
        raise AssertionError


class Member:
    """Equal subscriptions, which a machine serves alike. `target`: their current target."""

    __slots__ = ("target",)

    def __init__(self, target: Target) -> None:
        self.target = target


def alike(member: Member | None) -> list[Target]:
    """The targets of a machine that serves equal subscriptions only."""
    return [] if member is None else [member.target]


class KeptState:
    """State that a snapshot has, and a new one of the same form takes again."""

    def check_invariants(self) -> None:
        """Raise AssertionError if its parts contradict each other."""
        raise AssertionError

    def dump(self) -> Any:
        """It as lists, numbers, strings and booleans."""
        raise AssertionError

    def load(self, data: Any) -> None:
        """The inverse, into a new one whose members have joined again, with their arcs."""
        raise AssertionError


class Executor(KeptState):
    """The partial matches of one subscription, or of several that share them.

    `inputs`: the conditions on single events whose bits a span has. `interest`: which events it needs at present.
    `member`: its subscriptions, if it serves equal ones only. `lost`: how often a limit was hit since the dispatcher
    last asked. `alarm`: once time has passed it, `advance` has something to report.
    """

    def __init__(self, account: Account, inputs: list[Input]) -> None:
        self.account = account
        self.inputs = inputs
        self.member: Member | None = None
        self.interest = SATISFYING
        self.lost: i64 = 0
        self.alarm: i64 = NOTHING_DUE

    def audience(self) -> Audience:
        """The subscribers of its next rows, in the form that results keep. O(1)."""
        return Audience(alike(self.member), False)

    def take_span(self, span: EventSpan, found: Completions) -> None:
        """Process the events of a span from `span.at` on, up to one at which a limit is hit; append their completions.

        `span.moved` has to say whether the state may have changed. If an event raises, it is `found.event`. Neither
        times nor positions decrease from one span to the next. Raises Exhausted.
        """
        raise AssertionError

    def advance(self, time: i64, found: Completions) -> None:
        """All events before `time` have come: append the matches that have waited for it."""

    def clear(self) -> None:
        """Drop all state."""
        raise AssertionError

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        """Drop state that no event at this time and position or later needs; returns for how many keys there is more.

        `places`: the number of events in each partition. O(keys and runs).
        """
        raise AssertionError

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        """A member's partial matches that an event at `time` after `position` could continue, made as they are read.

        None if the executor knows neither their events nor their states.
        """
        return None

    def statistics(self) -> dict[str, int]:
        """Counts of its state; their names are in its plan's `figures`."""
        raise AssertionError


class EventExecutor(Executor):
    """An executor that takes the events of a span one by one."""

    def take_span(self, span: EventSpan, found: Completions) -> None:
        """Matches that time completes belong to the first later event of the batch."""
        span.read()
        times, masks, following, places = span.times, span.masks, span.following, span.places
        rows, items, first, account = span.rows, span.items, span.first, self.account
        at = span.at
        while at >= 0:
            time: i64 = times[at]
            mask = masks[at]
            while self.alarm < time:
                due = span.after(self.alarm)
                found.event = first + due
                self.advance(times[due], found)
            interest = self.interest
            row = rows[at]
            if mask & interest.mask != 0 or (interest.key is not None and interest.includes(row)):
                found.event = first + at
                account.earn()
                if self.take(mask, row, time, span.position + at + 1, places[at], span.stream, items[at], found):
                    span.moved = True
            at = following[at]
            span.at = at
            if self.lost > 0:
                return

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        """Process an event; appends its completions. False: the event can neither change the state nor start a run.

        The event satisfies the guards of the inputs whose bits are in `mask`. `position` is its number among the events
        of the lane; `place` that in its partition, 0 if it has none; `stream` the number of its stream.
        """
        raise AssertionError


@trait
class OverEpochs:
    """An executor of automata over epochs. Its matches are runs, and `found.start_of(found.event)` is the start of the
    current event."""

    def close_epoch(self) -> None:
        """End the newest epoch, although a later event may have the same time."""


@trait
class ByPlace:
    """An executor that needs the numbers of events in their partitions."""

    def partitions(self) -> set[tuple[Any, ...]]:
        """The partitions with state. O(keys)."""
        raise AssertionError


@trait
class BySymbols:
    """An executor that has no inputs, and needs the symbols of all conditions that an event satisfies: it gets all
    events one by one, with `span.symbols`."""

    def order(self, symbols: list[int]) -> None:
        """Receive the symbols of all members before `dump`, in the order of the subscriptions.

        Their numbers belong to this process, and must not be written.
        """
