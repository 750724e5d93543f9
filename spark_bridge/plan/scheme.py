"""The schemes that divide a job, and the parts of a plan, as plain data, with their cells.

    key              the events of each key, all subscriptions together
    slices           the events of each range of time and of a window after it
    shards           all events, for some of the subscriptions
    slices x shards  both at once

Not here: which of them are admissible (choice, properties).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from .cell import Cell, Keys, Point, slices_of
from .properties import Purpose

KEY: Final = "key"
SLICES: Final = "slices"
SHARDS: Final = "shards"
SLICES_AND_SHARDS: Final = "slices x shards"
SCHEMES: Final = (KEY, SLICES, SHARDS, SLICES_AND_SHARDS)


@final
@dataclass(frozen=True, slots=True)
class Part:
    """Subscriptions that are divided alike. `groups`: those of each shard; one group without shards. `keys`: by stream,
    for a plan by key; `window` is then the one by which hot keys may be cut by time, None if they may not. `reason`:
    for people."""

    scheme: str
    groups: tuple[tuple[str, ...], ...]
    keys: tuple[tuple[str, str], ...] = ()
    window: int | None = None
    reason: str = ""

    @property
    def sliced(self) -> bool:
        """Whether its cells are cut by time."""
        return self.scheme in (SLICES, SLICES_AND_SHARDS)


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a job. `buckets`: the number of cells of a part by key; `slices`: that of a part cut by time."""

    purpose: Purpose
    parts: tuple[Part, ...]
    buckets: int
    slices: int

    def cells(self, cuts: Sequence[Point], hot: Sequence[Any] = ()) -> list[Cell]:
        """The cells of all parts, cut by time at `cuts`, which may contain ties; the keys in `hot` get their own."""
        numbered = list(self._regions(cuts, tuple(hot)))
        return [
            Cell(number, group, first, until, window, keys)
            for number, (group, first, until, window, keys) in enumerate(numbered)
        ]

    def _regions(
        self, cuts: Sequence[Point], hot: tuple[Any, ...]
    ) -> Iterator[tuple[tuple[str, ...], Point, Point, int, Keys | None]]:
        (whole,) = slices_of(())
        for part in self.parts:
            stretches = slices_of(cuts) if part.sliced or (part.scheme == KEY and part.window is not None) else [whole]
            for group in part.groups:
                if part.scheme == KEY:
                    for keys in self._keys(part, hot):
                        for first, until in stretches if keys.only else [whole]:
                            yield group, first, until, part.window or 0, keys
                else:
                    for first, until in stretches:
                        yield group, first, until, part.window or 0, None

    def _keys(self, part: Part, hot: tuple[Any, ...]) -> Iterable[Keys]:
        found = [Keys(part.keys, bucket, self.buckets, hot) for bucket in range(self.buckets)]
        return [*found, *(Keys(part.keys, only=(value,)) for value in hot)]
