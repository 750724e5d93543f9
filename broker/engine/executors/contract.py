"""The one form in which the dispatcher knows partial matches, however they are kept.

An executor is a folder beside this file; its machine is a subclass of `Executor`, and its matches are sources
(matches). The dispatcher gives it events that satisfy some of its inputs, tells it that time passes, and asks what it
keeps.

Here: that form. Not here: what a compiled query says of its machine (machine_plan), an executor, the dispatcher
(dispatch), what completions are made of (completions).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, final

from mypy_extensions import i64

from ...algebra.normal_form import Form
from ...events.instant import FOREVER
from ...events.schema import Row
from ..account import Account
from ..target import Target
from .completions import Audience, Completions
from .matches import Assigned, Item

NOTHING_DUE: Final = FOREVER


@final
class Input(NamedTuple):
    """What a machine asks of single events: a stream, and the guard in normal form."""

    stream: str
    guard: Form


class Outdated(ValueError):
    """What versions before have saved, in a form that this one does not read."""


class EventPlaces:
    """Where events stand among those of their partition, as the dispatcher counts them."""

    def place(self, row: Row) -> i64:
        """How many events the partition of an event of the first stream has had. O(1)."""
        raise AssertionError


class Member:
    """Those whom a machine serves alike: equal subscriptions. `target`: who they are now."""

    __slots__ = ("target",)

    def __init__(self, target: Target) -> None:
        self.target = target


class Executor:
    """The partial matches of one subscription, or of several that share them.

    `taken`: an event has changed something, so that nobody may join any more. `lost`: how often a limit was hit, since
    the dispatcher last asked. `alarm`: once time is past it, `advance` has something to report. `compressed`: one
    result stands for all that an event completes. `member`: whom it serves, where it serves equal subscriptions only.
    `by_symbols`: its inputs are those of all who have joined, which come and go; it gets `spell` instead of `take`.
    `epochs`: its automata are over epochs, and what it completes goes to `found.epochs`. There is the start of the
    current event, too (`found.epochs.start(found.event)`).
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
        self.member: Member | None = None
        self.taken = False
        self.lost: i64 = 0
        self.alarm: i64 = NOTHING_DUE

    @property
    def method(self) -> str:
        """How partial matches are kept, for people."""
        raise AssertionError

    def audience(self) -> Audience:
        """Whom it serves, as results keep it. O(members)."""
        return Audience([] if self.member is None else [self.member.target], self.compressed)

    def idle(self) -> bool:
        """Whether it serves nobody."""
        return self.member is None or self.member.target.nobody()

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, part: Row, item: Item, found: Completions
    ) -> bool:
        """An event that satisfies the guards of the inputs whose bits are in `mask`, of at least one; appends what it
        completes. False: nothing is there that it could change, and it begins nothing.

        `position` is its number among the events of the lane; `part` its partition and `place` its number there, 0 if
        it has none. Neither times nor positions fall. Raises Exhausted.
        """
        raise AssertionError

    def spell(self, symbols: list[int], time: i64, position: i64, item: Item, found: Completions) -> None:
        """An event, by all symbols that it satisfies; appends what it completes, and for whom."""
        raise AssertionError

    def advance(self, time: i64, found: Completions) -> None:
        """All events before that time have come: appends what waited for it."""

    def close_epoch(self) -> None:
        """The newest epoch is over, although a later event may have its time."""

    def clear(self) -> None:
        """Let go of everything."""
        raise AssertionError

    def empty(self, time: i64, position: i64, places: dict[Any, int]) -> bool:
        """Let go of what is of no use; whether nothing would be lost without all of it, before an event at that time
        and position or later. `places`: how many events each partition has had. O(keys and runs)."""
        raise AssertionError

    def keys(self) -> int:
        """For how many key values it keeps something."""
        raise AssertionError

    def partitions(self) -> set[tuple[Any, ...]]:
        """The partitions in which it keeps something. O(keys)."""
        raise AssertionError

    def partial(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[Assigned] | None:
        """What an event at that time and behind that position could go on with for a member, for people; None where
        partial matches are only counted."""
        return None

    def statistics(self) -> dict[str, int]:
        """What it keeps, in numbers; their names are in its plan's `figures`."""
        raise AssertionError

    def check_invariants(self) -> None:
        """Raise AssertionError where its parts contradict each other."""
        raise AssertionError

    def order(self, symbols: list[int]) -> None:
        """Before `dump`: the symbols of all who have joined, in the order of the subscriptions. Their numbers are of
        this process only, and must not be written."""

    def dump(self) -> Any:
        """All that it keeps as lists, numbers, strings and booleans."""
        raise AssertionError

    def load(self, data: Any) -> None:
        """The inverse, into a new one whom all have joined again. Raises Outdated."""
        raise AssertionError
