"""The contract of executors: the one interface through which the dispatcher uses partial matches.

An executor is a folder beside this file; its machine is a subclass of `Executor`, and its matches are sources
(matches). The dispatcher passes it the events that satisfy some of its inputs, advances its time, and reads its state.

Here: that interface. Not here: what a compiled query says about its machine (machine_plan), executors, the dispatcher
(dispatch), the form of completions (completions).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, final

from mypy_extensions import i64

from ...algebra.normal_form import Form
from ...events.batch import Batch
from ...events.instant import FOREVER
from ...events.schema import Row, Value
from ..program.account import NOT_SUSPENDED, Account
from ..program.target import Target
from .completions import Audience, Completions
from .event_ids import EventIds
from .keyed_events import KeyedEvents
from .matches import Begun, Item, WaitingRun, runs_of
from .packed import Integers

NOTHING_DUE: Final = FOREVER
NO_ROWS: Final[list[Row]] = []
"""Those of columns; it stays empty."""


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


class OwnMember(Member):
    """A member whose work and limits its machine counts apart, so that it is suspended without the others: units `left`
    of its budget, how often it has hit a limit (`lost`), that count when it was last `reported`; the reason for which
    it is `suspended`, and `since` when."""

    __slots__ = ("left", "lost", "reported", "since", "suspended")

    def __init__(self, target: Target, left: i64) -> None:
        super().__init__(target)
        self.left: i64 = left
        self.lost: i64 = 0
        self.reported: i64 = 0
        self.suspended: i64 = NOT_SUSPENDED
        self.since: i64 = 0


class Executor:
    """The partial matches of one subscription, or of several that share them.

    `taken`: an event has changed its state, so that no subscription may join any more. `lost`: how often a limit was
    hit since the dispatcher last asked. `alarm`: once time has passed it, `advance` has something to report.
    `compressed`: one result stands for all matches that an event completes. `member`: its subscriptions, if it serves
    equal ones only. `batches`: it takes several events by one call of `take_all`; `by_columns`: of columns, it has
    rows made only of some. `awake`: it needs events that satisfy none of its inputs, too, with the mask 0; only those
    of the key `home`, if it has one, which all inputs ask for. `rousing`: as long as it is not awake, it needs only
    events that satisfy one of these inputs. `by_symbols`: its inputs are those of all members, which join and leave;
    it gets `spell` instead of `take`. `epochs`: its automata are over epochs, and its matches are runs
    (`found.start_of(found.event)` is the start of the current event). `serves`: it
    names its audience itself, where it completes something. `stream`: which of its plan's streams the current event is
    of, where these are several.
    """

    def __init__(
        self,
        account: Account,
        inputs: list[Input],
        compressed: bool = False,
        by_symbols: bool = False,
        epochs: bool = False,
    ) -> None:
        self.account = account
        self.inputs = inputs
        self.compressed = compressed
        self.by_symbols = by_symbols
        self.epochs = epochs
        self.serves = epochs
        self.member: Member | None = None
        self.batches = False
        self.by_columns = False
        self.awake = False
        self.home: EventKey | None = None
        self.rousing: i64 = -1
        self.stream: i64 = 0
        self.at: i64 = 0  # the index of the event that `take_all` has come to
        self.taken = False
        self.lost: i64 = 0
        self.alarm: i64 = NOTHING_DUE

    @property
    def method(self) -> str:
        """How it stores partial matches, for users."""
        raise AssertionError

    def audience(self) -> Audience:
        """Its subscribers, in the form that results keep. O(members)."""
        return Audience([] if self.member is None else [self.member.target], self.compressed)

    def idle(self) -> bool:
        """Whether it serves no subscription."""
        return self.member is None or self.member.target.unused()

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, part: Row, item: Item, found: Completions
    ) -> bool:
        """Process an event; appends its completions. False: the event can neither change the state nor start a run.

        The event satisfies the guards of the inputs whose bits are in `mask`, at least one. `position` is its number
        among the events of the lane; `part` its partition and `place` its number there, 0 if it has none. Neither times
        nor positions decrease. Raises Exhausted.
        """
        raise AssertionError

    def needs(self, mask: i64, row: Row) -> bool:
        """Whether it needs an event that satisfies these inputs."""
        if not self.awake:
            return mask & self.rousing != 0
        home = self.home
        if mask != 0 or home is None:
            return True
        return [row[position] for position in home.positions] == list(home.values)

    def take_all(
        self, masks: Integers, times: list[int], batch: Batch, ids: EventIds, upto: i64, limit: i64,
        found: Completions,
    ) -> None:  # fmt: skip
        """Process events, from the one with the index `at` to below `upto`, and leave `at` behind the last one.

        As `take`, which is called with the mask of each that it needs, and `advance` before one that is later than its
        alarm. It earns for each event, stops behind one at which a limit was hit, and before one that is later than
        `limit`. If an event raises, `at` is its index.
        """
        account = self.account
        rows: list[Row] = NO_ROWS if self.by_columns and batch.made is None else batch.rows()
        at = self.at
        begun: i64 = times[at]
        while at < upto:
            time: i64 = times[at]
            if time > begun and time > limit:
                return
            if time > self.alarm:
                found.event = at
                self.advance(time, found)
            mask = masks[at]
            if mask & self.rousing == 0 and not (self.awake and (self.home is None or self.needs(mask, batch.row(at)))):
                at += 1
                self.at = at
                continue
            found.event = at
            account.earn()
            row = rows[at] if len(rows) > 0 else batch.row(at)
            self.take(mask, row, time, 0, 0, (), ids.item(at), found)
            at += 1
            self.at = at
            if self.lost > 0:
                return

    def take_linked(self, events: KeyedEvents, found: Completions) -> None:
        """Process the events of a key from `events.at` on, as `take` does, for machines that are filed by a key.

        Stops behind one at which a limit was hit. Matches that time completes belong to the first later event. If an
        event raises, it is `found.event`.
        """
        account = self.account
        times, rows, items, places, following = (
            events.times, events.rows, events.items, events.places, events.following
        )  # fmt: skip
        at = events.at
        while at >= 0:
            time: i64 = times[at]
            while self.alarm < time:
                found.event = events.after(self.alarm)
                self.advance(times[found.event], found)
            found.event = at
            account.earn()
            self.take(1, rows[at], time, events.position + at + 1, places[at], (), items[at], found)
            at = following[at]
            events.at = at
            if self.lost > 0:
                return

    def spell(self, symbols: list[int], time: i64, position: i64, item: Item, found: Completions) -> None:
        """Process an event, given all symbols that it satisfies; appends its completions with their audience."""
        raise AssertionError

    def advance(self, time: i64, found: Completions) -> None:
        """All events before `time` have come: append the matches that have waited for it."""

    def close_epoch(self) -> None:
        """End the newest epoch, although a later event may have the same time."""

    def clear(self) -> None:
        """Drop all state."""
        raise AssertionError

    def empty(self, time: i64, position: i64, places: dict[Any, int]) -> bool:
        """Drop useless state. Returns whether no event at this time and position or later needs the rest.

        `places`: the number of events in each partition. O(keys and runs).
        """
        raise AssertionError

    def keys(self) -> int:
        """The number of key values with state."""
        raise AssertionError

    def partitions(self) -> set[tuple[Any, ...]]:
        """The partitions with state, where their events are counted. O(keys)."""
        return set()

    def partial(self, member: Member, time: i64, position: i64, places: dict[Any, int]) -> Iterator[Begun] | None:
        """A member's partial matches that an event at `time` after `position` could continue, for users.

        None if the executor only counts partial matches.
        """
        return None

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        """The same with their states, made as they are read; None if the executor knows neither events nor states."""
        begun = self.partial(member, time, position, places)
        return None if begun is None else runs_of(begun)

    def statistics(self) -> dict[str, int]:
        """Counts of its state; their names are in its plan's `figures`."""
        raise AssertionError

    def check_invariants(self) -> None:
        """Raise AssertionError if its parts contradict each other."""
        raise AssertionError

    def order(self, symbols: list[int]) -> None:
        """Receive the symbols of all members before `dump`, in the order of the subscriptions.

        Their numbers belong to this process, and must not be written.
        """

    def dump(self) -> Any:
        """Its state as lists, numbers, strings and booleans."""
        raise AssertionError

    def load(self, data: Any) -> None:
        """The inverse, into a new machine that all members have joined again."""
        raise AssertionError
