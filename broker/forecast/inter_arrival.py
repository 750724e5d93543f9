"""The inter-arrival model: how many events of a key come within a duration, by the gaps measured between them.

The gaps of a key are drawn towards those of all keys. The model is computed anew when a quarter more gaps are known,
and for 32 parts of the horizon, rounded down: what a run has left of its window is one of these.

Here: when to compute. Not here: how (horizon).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from mypy_extensions import i64

from .horizon import arrivals
from .keyed_stream import KeyedStream, StreamKey

PARTS: Final = 32
GROWTH: Final = 1.25


@final
class KeyEstimate:
    """The estimate for one key: from how many gaps of its own, and how many of all keys."""

    def __init__(self, count: int, pooled: int, atoms: list[tuple[float, float]]) -> None:
        self.count = count
        self.pooled = pooled
        self.atoms = atoms
        self.fits: dict[int, list[float]] = {}  # by parts of the horizon


@final
class InterArrivals:
    """Arrivals at one subscription's keys. `known`: estimates by key, as forecasts name it."""

    def __init__(self, horizon: int) -> None:
        self.horizon = horizon
        self.known: dict[str | int, KeyEstimate] = {}

    def fits(self, key: StreamKey, stream: KeyedStream, remaining: i64) -> list[float]:
        """P(n further events of the key within `remaining`), n = 0, 1, ...; [0.0] where nothing can come any more.

        O(1) where it is known, else as `arrivals`.
        """
        if remaining < 0:
            return [0.0]
        count = 0 if key.gaps is None else key.gaps.count
        known = self.known.get(key.run)
        if known is None or count > GROWTH * known.count or stream.gaps.count > GROWTH * known.pooled:
            gaps = stream.gaps if key.gaps is None else key.gaps
            atoms = gaps.atoms(None if gaps is stream.gaps else stream.gaps)
            known = self.known[key.run] = KeyEstimate(count, stream.gaps.count, atoms)
        part: int = int(remaining) * PARTS // self.horizon  # a window times parts may need more than 64 bits
        found = known.fits.get(part)
        if found is None:
            found = known.fits[part] = arrivals(known.atoms, part * self.horizon // PARTS)
        return found

    def dump(self) -> list[Any]:
        """The estimates as plain data."""
        return [[run, k.count, k.pooled, [list(atom) for atom in k.atoms]] for run, k in self.known.items()]

    def load(self, data: Sequence[Any]) -> None:
        """Load a dump."""
        for run, count, pooled, atoms in data:
            self.known[run] = KeyEstimate(count, pooled, [(gap, chance) for gap, chance in atoms])
