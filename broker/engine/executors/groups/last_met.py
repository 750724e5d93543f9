"""Since when the runs of each member wait: what an event does that satisfies the member's last condition.

All runs of a member wait for the same events, so one number says which of them still do: those that have begun since
the last of these events had. An event ends the runs that it sees with its epoch: until then others see them, too.

Here: these numbers, by handle. Hot. Not here: the starts (starts), which events satisfy what (next_match, next_match).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from .columns import Integers, integers, integers_from, with_room_for_integers

BEFORE: Final = -(1 << 62)
EACH: Final = 3  # the numbers of a member
NEXT: Final = 1  # behind that of earlier epochs: the same with the epoch `STAMP`
STAMP: Final = 2


@final
class LastMet:
    """`epoch`: the number of the current one."""

    def __init__(self) -> None:
        self.epoch: i64 = 0
        self._met: Integers = integers()

    def meets(self, handle: i64, turn: i64) -> i64:
        """Note that an event which began at `turn` satisfies the member's condition. Returns since when the runs that
        it sees have waited, BEFORE if always. O(1)."""
        met, at = self._met, EACH * handle
        if len(met) < at + EACH:
            met = self._make_room(handle)
        since = met[at]
        if met[at + STAMP] == self.epoch:
            if turn > met[at + NEXT]:
                met[at + NEXT] = turn
            return since
        if met[at + NEXT] > since:
            since = met[at] = met[at + NEXT]
        met[at + NEXT], met[at + STAMP] = turn, self.epoch
        return since

    def _make_room(self, handle: i64) -> Integers:
        """Room for the numbers of a member, and of those with a lower handle."""
        old: i64 = len(self._met)
        self._met = met = with_room_for_integers(self._met, EACH * (handle + 1))
        at: i64
        for at in range(old, len(met)):
            met[at] = BEFORE
        return met

    def since(self, handle: i64, ended: bool) -> i64:
        """Since when the member's runs have waited. `ended`: whether those do no more that its epoch has ended."""
        met, at = self._met, EACH * handle
        if len(met) < at + EACH:
            return BEFORE
        if met[at + STAMP] == self.epoch and not ended:
            return met[at]
        return max(met[at], met[at + NEXT])

    def forget(self, handle: i64) -> None:
        """The member has left."""
        met, at = self._met, EACH * handle
        if len(met) >= at + EACH:
            met[at] = met[at + NEXT] = met[at + STAMP] = BEFORE

    def dump(self) -> list[int]:
        return [int(self.epoch), *[int(number) for number in self._met]]

    def load(self, dumped: list[int]) -> None:
        self.epoch, *numbers = dumped
        self._met = integers_from(numbers)
