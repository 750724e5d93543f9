"""The cursor of a durable subscription: the results it keeps, its position, and what it drops.

Positions are 1, 2, 3 and so on. A cursor keeps unacknowledged results within `notifications` and `size` (bytes). Beyond
that it drops the oldest, and the next reader sees the gap in the positions. It also keeps up to `retain` acknowledged
results within the same `size`, so that they can be replayed; these are dropped first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, final

from ..events import DefinitionError
from ..wire import DeadLetter, decode_result
from .dead_letters import DeadLetterQueue
from .permissions import ANYBODY

KEPT_BYTES_EXTRA: Final = 48
"""The estimated memory of a kept result beside its bytes."""


def cursor_key(name: str, owner: str) -> str:
    """The name of a cursor among those of all users: each user has its own namespace."""
    return name if owner == ANYBODY else f"{owner}/{name}"


@final
@dataclass(slots=True)
class Cursor:
    """One cursor.

    `first`: the position of the oldest kept result. `acknowledged`: all results up to this position are acknowledged.
    `incarnation`: distinguishes the cursor from earlier and later ones of its name. `aside`: positions behind
    `acknowledged` that were set aside, and count as acknowledged.

    Not saved: `possibly_delivered`, the last position that may have been delivered; after a restart the last one of
    all. `sent_last`: the last position that was sent since the restart. `head_deliveries`: the first unacknowledged
    position, and how often it was delivered as such.
    """

    name: str
    subscription: str
    owner: str
    notifications: int
    size: int
    retain: int = 0
    letters_max: int = 1_000
    incarnation: int = 0
    first: int = 1
    acknowledged: int = 0
    results: deque[bytes] = field(default_factory=deque)
    size_kept: int = 0
    letters: DeadLetterQueue = field(init=False)
    aside: dict[int, None] = field(default_factory=dict)
    possibly_delivered: int = 0
    sent_last: int = 0
    head_deliveries: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self.letters = DeadLetterQueue(self.letters_max, self.size)

    @property
    def key(self) -> str:
        """The cursor's name among those of all users."""
        return cursor_key(self.name, self.owner)

    @property
    def last(self) -> int:
        """The position of the newest result, kept or not; 0 before the first."""
        return self.first + len(self.results) - 1

    @property
    def backlog(self) -> int:
        """The number of kept results that are not acknowledged."""
        return self.last - max(self.acknowledged, self.first - 1)

    def keep(self, result: bytes) -> None:
        """Keep one more result, and drop the oldest ones beyond the limits. Amortised O(1)."""
        self.results.append(result)
        self.size_kept += len(result) + KEPT_BYTES_EXTRA
        while len(self.results) > 1 and (self.backlog > self.notifications or self.size_kept > self.size):
            self._drop()

    def acknowledge(self, position: int) -> None:
        """Acknowledge up to a position, and results set aside that follow it. O(results dropped and set aside)."""
        self.acknowledged = max(self.acknowledged, position)
        if self.aside:
            while self.acknowledged + 1 in self.aside:
                self.acknowledged += 1
            self.aside = {each: None for each in self.aside if each > self.acknowledged}
        while self.acknowledged - self.first + 1 > self.retain:
            self._drop()

    def place(self, position: int) -> None:
        """Move to a position: results behind it count as not acknowledged. Raises DefinitionError, and changes nothing.

        Dead letters stay dead letters. O(results dropped and set aside).
        """
        least, most = self.first - 1, self.last
        least = max(least, self.last - self.notifications)
        if not least <= position <= most:
            raise DefinitionError(f"cursor {self.name!r}: expected a position from {least} to {most}, found {position}")
        if position >= self.acknowledged:
            self.acknowledge(position)
        else:
            self.acknowledged = position
            self.head_deliveries = (0, 0)
            self.aside.update({each.position: None for each in self.letters if each.position > position})
            self.acknowledge(position)

    def set_aside(self, position: int, reason: str, time: int, deliveries: int) -> None:
        """Make a result a dead letter. Raises DefinitionError if it is not kept or does not await acknowledgement."""
        if not max(self.first, self.acknowledged + 1) <= position <= self.last or position in self.aside:
            raise DefinitionError(f"cursor {self.name!r}: position {position} does not await acknowledgement")
        self.letters.put(DeadLetter(position, self.results[position - self.first], reason, time, deliveries))
        self.aside[position] = None
        self.acknowledge(self.acknowledged)

    def settle(self, positions: Iterable[int], again: bool) -> None:
        """Delete dead letters; with `again` keep them as new results. Raises DefinitionError, and changes nothing."""
        taken = dict.fromkeys(positions)
        for position in taken:
            if position not in self.letters:
                raise DefinitionError(f"cursor {self.name!r}: position {position} is not a dead letter")
        for position in taken:
            letter = self.letters.take(position)
            if again:
                self.keep(letter.result)

    def skips(self, position: int) -> bool:
        """Whether the result at this position was set aside, so that it is not sent."""
        return position in self.aside or position in self.letters

    def count_delivery(self, first: int, last: int) -> None:
        """Count the delivery of the results from `first` to `last`. O(1)."""
        head = self.acknowledged + 1
        if first <= head <= last:
            self.head_deliveries = head, self.deliveries(head) + 1
        self.sent_last = max(self.sent_last, last)

    def count_reached(self) -> None:
        """Count a delivery of the first unacknowledged result if it was sent before the one ahead was acknowledged."""
        head = self.acknowledged + 1
        if head <= self.sent_last:
            self.head_deliveries = head, 1

    def deliveries(self, position: int) -> int:
        """How often a result was delivered as the first unacknowledged one, since the broker started."""
        return self.head_deliveries[1] if self.head_deliveries[0] == position else 0

    def has_room(self, positions: Iterable[int]) -> bool:
        """Whether these dead letters fit as new results without dropping unacknowledged ones. O(letters)."""
        wanted = set(positions)
        sizes = [len(each.result) + KEPT_BYTES_EXTRA for each in self.letters if each.position in wanted]
        retained = max(0, self.acknowledged - self.first + 1)
        kept = sum(len(self.results[index]) + KEPT_BYTES_EXTRA for index in range(retained))
        room = self.size - (self.size_kept - kept)
        return self.backlog + len(sizes) <= self.notifications and sum(sizes) <= room

    def since(self, time: int) -> int:
        """The position of the oldest kept result at or after a time; without one the next position. O(kept results)."""
        for position, result in enumerate(self.results, self.first):
            line = decode_result(result)
            at = line.get("end", line.get("time", line.get("since")))
            if at is not None and at >= time:
                return position
        return self.last + 1

    def _drop(self) -> None:
        self.size_kept -= len(self.results.popleft()) + KEPT_BYTES_EXTRA
        self.first += 1

    def save(self) -> list[Any]:
        """Plain values from which `restored` makes an equal cursor. O(kept results)."""
        made = [self.name, self.subscription, self.owner, self.notifications, self.size, self.retain, self.letters_max]
        place = [self.incarnation, self.first, self.acknowledged]
        return [*made, *place, list(self.results), list(self.aside), self.letters.save()]

    def check_invariants(self) -> None:
        """For tests."""
        assert self.size_kept == sum(map(len, self.results)) + KEPT_BYTES_EXTRA * len(self.results)
        assert self.backlog <= max(1, self.notifications)
        assert len(self.results) <= 1 or self.size_kept <= self.size
        assert self.acknowledged - self.first + 1 <= self.retain
        assert self.acknowledged <= self.last
        assert self.possibly_delivered <= self.last
        assert self.sent_last <= self.last
        assert all(self.acknowledged + 1 < position <= self.last for position in self.aside)
        self.letters.check_invariants()


def restored(plain: list[Any]) -> Cursor:
    """The cursor that `save` described. O(kept results)."""
    *made, results, aside, letters = plain
    name, subscription, owner, *numbers = made
    cursor = Cursor(name, subscription, owner, *numbers)
    cursor.results.extend(results)
    cursor.aside = dict.fromkeys(aside)
    cursor.letters.restore(letters)
    cursor.size_kept = sum(map(len, results)) + KEPT_BYTES_EXTRA * len(results)
    return cursor
