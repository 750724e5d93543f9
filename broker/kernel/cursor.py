"""One durable subscription's cursor: what it keeps, how far it has come, and what it drops when.

Positions are 1, 2, 3 and so on. What is not acknowledged is kept within `notifications` and `size`; beyond that the
oldest is dropped, which whoever reads next is told by the positions that are missing. What is acknowledged is kept,
too, at most `retain` of it and within the same `size`, so that it can be had again; it is the first to be dropped.
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
"""What a kept result takes beside its bytes."""


def cursor_key(name: str, owner: str) -> str:
    """What a cursor is called among those of all users: each user has names of its own."""
    return name if owner == ANYBODY else f"{owner}/{name}"


@final
@dataclass(slots=True)
class Cursor:
    """`first` is the position of the oldest result that is kept, `acknowledged` that up to which everything is done.

    `incarnation` tells it from others that have had its name. `aside`: positions behind `acknowledged` that are done,
    too, as they were set aside.

    No part of the state is: `told`, up to which position something may have been delivered; everything that was found
    before a restart. `sent`, up to which position something was since then. `tried`: the first position that is not
    acknowledged, and how often it was delivered as that.
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
    told: int = 0
    sent: int = 0
    tried: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self.letters = DeadLetterQueue(self.letters_max, self.size)

    @property
    def key(self) -> str:
        """What it is called among those of all users."""
        return cursor_key(self.name, self.owner)

    @property
    def last(self) -> int:
        """The position of the newest result that was found, kept or not; 0 before the first."""
        return self.first + len(self.results) - 1

    @property
    def backlog(self) -> int:
        """How many results are kept that are not acknowledged."""
        return self.last - max(self.acknowledged, self.first - 1)

    def keep(self, result: bytes) -> None:
        """One more. O(1)."""
        self.results.append(result)
        self.size_kept += len(result) + KEPT_BYTES_EXTRA
        while len(self.results) > 1 and (self.backlog > self.notifications or self.size_kept > self.size):
            self._drop()

    def acknowledge(self, position: int) -> None:
        """Everything up to here is done, and what was set aside behind it. O(what is dropped and what is aside)."""
        self.acknowledged = max(self.acknowledged, position)
        if self.aside:
            while self.acknowledged + 1 in self.aside:
                self.acknowledged += 1
            self.aside = {each: None for each in self.aside if each > self.acknowledged}
        while self.acknowledged - self.first + 1 > self.retain:
            self._drop()

    def set_aside(self, position: int, reason: str, time: int, deliveries: int) -> None:
        """This result is done with, and a dead letter. Raises DefinitionError where it is none that is to be done."""
        if not max(self.first, self.acknowledged + 1) <= position <= self.last or position in self.aside:
            raise DefinitionError(f"cursor {self.name!r}: position {position} is not one that is to be acknowledged")
        self.letters.put(DeadLetter(position, self.results[position - self.first], reason, time, deliveries))
        self.aside[position] = None
        self.acknowledge(self.acknowledged)

    def settle(self, positions: Iterable[int], again: bool) -> None:
        """These dead letters go; with `again` they are results once more. Raises DefinitionError, changing nothing."""
        taken = dict.fromkeys(positions)
        for position in taken:
            if position not in self.letters:
                raise DefinitionError(f"cursor {self.name!r}: position {position} is none of its dead letters")
        for position in taken:
            letter = self.letters.take(position)
            if again:
                self.keep(letter.result)

    def skips(self, position: int) -> bool:
        """Whether the result at this position is set aside, and not sent."""
        return position in self.aside or position in self.letters

    def delivered(self, first: int, last: int) -> None:
        """These were sent. O(1)."""
        head = self.acknowledged + 1
        if first <= head <= last:
            self.tried = head, self.deliveries(head) + 1
        self.sent = max(self.sent, last)

    def taken_up(self) -> None:
        """By acknowledging, its reader has come to the next one, which it may have already."""
        head = self.acknowledged + 1
        if head <= self.sent:
            self.tried = head, 1

    def deliveries(self, position: int) -> int:
        """How often this was delivered as the first that is not acknowledged, as far as anybody knows."""
        return self.tried[1] if self.tried[0] == position else 0

    def has_room(self, positions: Iterable[int]) -> bool:
        """Whether these dead letters can be results once more without dropping others. O(letters)."""
        wanted = set(positions)
        sizes = [len(each.result) + KEPT_BYTES_EXTRA for each in self.letters if each.position in wanted]
        retained = max(0, self.acknowledged - self.first + 1)
        kept = sum(len(self.results[index]) + KEPT_BYTES_EXTRA for index in range(retained))
        room = self.size - (self.size_kept - kept)
        return self.backlog + len(sizes) <= self.notifications and sum(sizes) <= room

    def since(self, time: int) -> int:
        """The position of the oldest kept result that is not older than this time; the next one without. O(kept)."""
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
        """Plain values, of which `restored` makes an equal one. O(kept results)."""
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
        assert self.told <= self.last
        assert self.sent <= self.last
        assert all(self.acknowledged + 1 < position <= self.last for position in self.aside)
        self.letters.check_invariants()


def restored(plain: list[Any]) -> Cursor:
    """What has said this of itself."""
    *made, results, aside, letters = plain
    name, subscription, owner, *numbers = made
    cursor = Cursor(name, subscription, owner, *numbers)
    cursor.results.extend(results)
    cursor.aside = dict.fromkeys(aside)
    cursor.letters.restore(letters)
    cursor.size_kept = sum(map(len, results)) + KEPT_BYTES_EXTRA * len(results)
    return cursor
