"""The work of one worker, as data: its subscriptions, and the events that it reads and owns.

A cell *owns* the matches whose first event, in the order (time, id), it owns. It may read further events, the overlap,
to see these matches end. Exactly one cell of a plan owns a match.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

Point: TypeAlias = tuple[int, int]
"""The position of an event in the order of all: its time in microseconds, and its id."""

FIRST: Final[Point] = (-(2**63), -(2**63))
LAST: Final[Point] = (2**63 - 1, 2**63 - 1)


@final
@dataclass(frozen=True, slots=True)
class Keys:
    """The events of some keys. `attributes`: the key's attribute of each stream, by the stream's name.

    The keys are those that hash to `bucket` of `buckets`, without those in `apart`; or the one in `only`, if it has
    one.
    """

    attributes: tuple[tuple[str, str], ...]
    bucket: int = 0
    buckets: int = 1
    apart: tuple[Any, ...] = ()
    only: tuple[Any, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """A cell. `subscriptions`: by name, None for all. It owns the events from `first` to before `until`, and also reads
    those at most `window` microseconds later than the last one. `keys`: None for all."""

    number: int
    subscriptions: tuple[str, ...] | None = None
    first: Point = FIRST
    until: Point = LAST
    window: int = 0
    keys: Keys | None = None

    @property
    def whole(self) -> bool:
        """Whether it sees all events in order, as the broker would."""
        return self.keys is None and not self.sliced

    @property
    def sliced(self) -> bool:
        """Whether it owns only some of the events that it may read, or does not see earlier events."""
        return self.first != FIRST or self.until != LAST


def slices_of(cuts: Iterable[Point]) -> list[tuple[Point, Point]]:
    """The bounds of the slices between cuts, the first and the last ones open; a cut may occur more than once."""
    ordered = sorted(cuts)
    return list(zip([FIRST, *ordered], [*ordered, LAST]))
