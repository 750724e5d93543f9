"""Horizons in time: how many events of a key come within a duration, by the gaps that were measured between them.

The gaps of a key are drawn towards those of all keys. What follows from them is computed anew when a quarter more of
them is known, and for 32 parts of the horizon, rounded down: what a run has left of its window is one of these.

Here: when to compute. Not here: how (broker.forecast.horizon).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from mypy_extensions import i64

from ...forecast.horizon import arrivals
from .scope import Pulse, Scope

PARTS: Final = 32
GROWTH: Final = 1.25


@final
class Known:
    """What was estimated of one key: from how many gaps, and of all keys."""

    def __init__(self, count: int, pooled: int, atoms: list[tuple[float, float]]) -> None:
        self.count = count
        self.pooled = pooled
        self.atoms = atoms
        self.fits: dict[int, list[float]] = {}  # by parts of the horizon


@final
class Pace:
    """The arrivals of one subscription's keys."""

    def __init__(self, horizon: int) -> None:
        self.horizon = horizon
        self.known: dict[str | int, Known] = {}

    def fits(self, pulse: Pulse, scope: Scope, remaining: i64) -> list[float]:
        """P(n further events of the key within `remaining`), n = 0, 1, ...; [0.0] where nothing can come any more.

        O(1) where it is known, else as `arrivals`.
        """
        if remaining < 0:
            return [0.0]
        count = 0 if pulse.gaps is None else pulse.gaps.count
        known = self.known.get(pulse.run)
        if known is None or count > GROWTH * known.count or scope.gaps.count > GROWTH * known.pooled:
            gaps = scope.gaps if pulse.gaps is None else pulse.gaps
            atoms = gaps.atoms(None if gaps is scope.gaps else scope.gaps)
            known = self.known[pulse.run] = Known(count, scope.gaps.count, atoms)
        part: int = int(remaining) * PARTS // self.horizon  # a window times parts may need more than 64 bits
        found = known.fits.get(part)
        if found is None:
            found = known.fits[part] = arrivals(known.atoms, part * self.horizon // PARTS)
        return found

    def dump(self) -> list[Any]:
        """What was estimated, as plain data."""
        return [[run, k.count, k.pooled, [list(atom) for atom in k.atoms]] for run, k in self.known.items()]

    def load(self, data: Sequence[Any]) -> None:
        """What was dumped."""
        for run, count, pooled, atoms in data:
            self.known[run] = Known(count, pooled, [(gap, chance) for gap, chance in atoms])
