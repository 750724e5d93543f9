"""The one form in which a host knows the partial matches of a subscription, however they are kept.

An executor is a folder beside this file; its machine is a subclass of `Executor`, and its matches are sources
(matches). The host gives it events that satisfy some of its inputs, tells it that time passes, and asks what it keeps.

Here: that form. Not here: an executor, the host (dispatch), what completions are made of (completions).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, final

from mypy_extensions import i64

from ...algebra.normal_form import Form
from ...events.instant import FOREVER
from ...events.schema import Row
from ..account import Account
from ..target import Target
from .completions import Audience, Completions
from .matches import Item

NOTHING_DUE: Final = FOREVER


@final
class Input(NamedTuple):
    """What a machine asks of single events: a stream, and the guard in normal form."""

    stream: str
    guard: Form


class Executor:
    """The partial matches of one subscription, or of several equal ones. `taken`: an event has changed something, so
    that nobody may join any more. `lost`: how often a limit was hit, since the host last asked."""

    def __init__(self, account: Account, inputs: list[Input]) -> None:
        self.account = account
        self.inputs = inputs
        self.taken = False
        self.lost: i64 = 0

    @property
    def method(self) -> str:
        """How partial matches are kept, for people."""
        raise AssertionError

    def audience(self, targets: list[Target], compressed: bool) -> Audience:
        """These, as those whom it serves. `compressed`: one result stands for all that an event completes."""
        return Audience(targets, compressed)

    def take(self, mask: int, row: Row, time: i64, position: i64, place: i64, item: Item, found: Completions) -> bool:
        """An event that satisfies the guards of the inputs whose bits are in `mask`, of at least one; appends what it
        completes. False: nothing is there that it could change, and it begins nothing.

        `position` is its number among the events of the lane, `place` that among those of its partition, 0 if it has
        none. Neither times nor positions fall. Raises Exhausted.
        """
        raise AssertionError

    def due(self) -> i64:
        """When time is past that, `advance` has something to say."""
        return NOTHING_DUE

    def advance(self, time: i64, found: Completions) -> None:
        """All events before that time have come: appends what waited for it."""

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

    def statistics(self) -> dict[str, int]:
        """What it keeps, in numbers."""
        raise AssertionError

    def check_invariants(self) -> None:
        """Raise AssertionError where its parts contradict each other."""
        raise AssertionError
