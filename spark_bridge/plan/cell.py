"""What one worker does, as data: which subscriptions, and which events it reads and owns; nothing is done here.

A cell *owns* matches whose first event, in the order (time, id), is one that it owns; it may read further events, the
overlap, so as to see these matches end. Of all cells of a plan exactly one owns a match.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

Point: TypeAlias = tuple[int, int]
"""Where an event stands in the order of all: its time in microseconds, and its id."""

FIRST: Final[Point] = (-(2**63), -(2**63))
LAST: Final[Point] = (2**63 - 1, 2**63 - 1)


@final
@dataclass(frozen=True, slots=True)
class Keys:
    """The events of some keys: `attributes` has the key's attribute of each stream, by name of the stream.

    Those whose key hashes to `bucket` of `buckets`, the keys in `apart` left out; or, where `only` has one, that key's.
    """

    attributes: tuple[tuple[str, str], ...]
    bucket: int = 0
    buckets: int = 1
    apart: tuple[Any, ...] = ()
    only: tuple[Any, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """`subscriptions` by name, None for all. Owned are events from `first` to before `until`; read on are those whose
    time is at most `window` microseconds above the time of the last one owned. `keys`: None for all."""

    number: int
    subscriptions: tuple[str, ...] | None = None
    first: Point = FIRST
    until: Point = LAST
    window: int = 0
    keys: Keys | None = None

    @property
    def whole(self) -> bool:
        """Whether it sees what the broker would see: every event, in order."""
        return self.keys is None and not self.sliced

    @property
    def sliced(self) -> bool:
        """Whether it owns only some of the events that it may read, or does not see what came before."""
        return self.first != FIRST or self.until != LAST


def slices_of(cuts: Iterable[Point]) -> list[tuple[Point, Point]]:
    """From and until of the slices between cuts, the first and the last ones open; a cut may occur more than once."""
    ordered = sorted(cuts)
    return list(zip([FIRST, *ordered], [*ordered, LAST]))
