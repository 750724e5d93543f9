"""What P-ToPSS 6.2 says of its figures 10 and 11, as tests on notices that were counted. Nothing is counted here.

Curves are of precision, by threshold and lookahead; a cell without a notice has none and decides nothing. NOISE is
what a precision may differ by without being said to differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from ..composite_statements import Statement
from .notices import Told

NOISE: Final = 0.01
CONFIDENT: Final = 0.9  # "larger thresholds"
LOW: Final = 0.5

Cells: TypeAlias = Sequence[Told]
Grid: TypeAlias = Mapping[tuple[int, float], float]  # precision by lookahead and threshold


def grid(cells: Cells) -> Grid:
    return {(cell.steps, cell.threshold): cell.precision for cell in cells if cell.precision is not None}


def figure_10(training: str, tests: Mapping[str, Cells], gaussian: Cells) -> list[Statement]:
    """`tests` by name in the order of ever more partial matches, the first one, `training`, being distributed as what
    was trained on; `gaussian`: trained on the other distribution and tested on that first one."""
    grids = {name: grid(cells) for name, cells in tests.items()}
    return [
        _falls_with_lookahead(grids),
        _rises_with_threshold(grids),
        _flattens(grids),
        _falls_with_partials(grids),
        _converges(grids[training]),
        _lower("10c", "trained on Gaussian, tested on uniform: lower than 10b", grid(gaussian), grids[training]),
    ]


def _falls_with_lookahead(grids: Mapping[str, Grid]) -> Statement:
    """From the shortest to the longest lookahead precision never rises, and falls in the mean."""
    holds, told = True, []
    for name, found in grids.items():
        near, far = map(int, _ends(found, 0))
        falls = [found[near, t] - found[far, t] for s, t in sorted(found) if s == near and (far, t) in found]
        holds = holds and min(falls) > -NOISE and _mean(falls) > NOISE
        told.append(
            f"{name}: by {_mean(falls):.2f} in the mean from N = {near:g} to {far:g}, {min(falls):.2f} at least"
        )
    return Statement("10a", "precision falls with the lookahead", holds, "; ".join(told))


def _rises_with_threshold(grids: Mapping[str, Grid]) -> Statement:
    """From the lowest to the highest threshold precision never falls, and rises in the mean."""
    holds, told = True, []
    for name, found in grids.items():
        low, high = _ends(found, 1)
        rises = [found[s, high] - found[s, low] for s, t in sorted(found) if t == low and (s, high) in found]
        holds = holds and min(rises) > -NOISE and _mean(rises) > NOISE
        told.append(f"{name}: by {_mean(rises):.2f} in the mean from {low:g} to {high:g}")
    return Statement("10a", "precision rises with the threshold", holds, "; ".join(told))


def _flattens(grids: Mapping[str, Grid]) -> Statement:
    """Precision gains less, per threshold, in the upper half of the thresholds than in the lower half."""
    holds, told = True, []
    for name, found in grids.items():
        low, high = _ends(found, 1)
        middle = min((t for _, t in found), key=lambda t: abs(t - (low + high) / 2))
        below = [found[s, middle] - found[s, low] for s, t in found if t == low and (s, middle) in found]
        above = [found[s, high] - found[s, middle] for s, t in found if t == middle and (s, high) in found]
        lower, upper = _mean(below) / (middle - low), _mean(above) / (high - middle)
        holds = holds and upper < lower
        told.append(f"{name}: {lower:.2f} per unit below {middle:g}, {upper:.2f} above")
    return Statement("10a", "and stabilizes for larger thresholds", holds, "; ".join(told))


def _falls_with_partials(grids: Mapping[str, Grid]) -> Statement:
    """Precision of each test stream is below that of the one with fewer partial matches."""
    means = {name: _mean(list(found.values())) for name, found in grids.items()}
    ordered = list(means.values())
    holds = all(fewer - more > NOISE for fewer, more in pairwise(ordered))
    told = "; ".join(f"{name}: {mean:.2f} in the mean" for name, mean in means.items())
    return Statement("10a", "precision falls as the test stream has more partial matches", holds, told)


def _converges(found: Grid) -> Statement:
    """Lookaheads differ by less at larger thresholds than at low ones, and there by a few hundredths at most."""
    at_low = _spread(found, LOW)
    at_high = max(_spread(found, t) for t in {t for _, t in found} if t >= CONFIDENT)
    told = f"lookaheads differ by {at_low:.2f} at threshold {LOW:g}, by {at_high:.2f} at {CONFIDENT:g} and above"
    holds = at_high < at_low / 2 and at_high < 5 * NOISE
    return Statement("10b", "precision of different lookaheads converges at larger thresholds", holds, told)


def _lower(figure: str, says: str, found: Grid, other: Grid) -> Statement:
    """In the mean over the cells that both have."""
    both = sorted(set(found) & set(other))
    gaps = [other[cell] - found[cell] for cell in both]
    below = sum(gap > NOISE for gap in gaps)
    above = sum(gap < -NOISE for gap in gaps)
    told = f"by {_mean(gaps):.3f} in the mean; lower in {below} of {len(both)} cells, higher in {above}"
    confident = [other[cell] - found[cell] for cell in both if cell[1] >= CONFIDENT]
    if confident:
        told += f"; by {_mean(confident):.3f} at threshold {CONFIDENT:g} and above"
    return Statement(figure, says, _mean(gaps) > 0 and below > above, told)


def figure_11(way: str, generated: Cells, full: Cells) -> list[Statement]:
    """`way`: how notices were counted."""
    sums = {
        (name, kind): sum(getattr(cell, kind) for cell in cells)
        for name, cells in (("generated", generated), ("full", full))
        for kind in ("true", "false")
    }
    more = all(sums["generated", kind] > sums["full", kind] for kind in ("true", "false"))
    told = "; ".join(f"{name}: {n:,} {kind}" for (name, kind), n in sums.items())
    longest = max(cell.steps for cell in full)
    zeros = {name: _silent_from(cells, longest) for name, cells in (("generated", generated), ("full", full))}
    confident = {
        name: sum(cell.true for cell in cells if cell.threshold >= CONFIDENT)
        for name, cells in (("generated", generated), ("full", full))
    }
    precise = {name: grid([c for c in cells if c.steps == longest]) for name, cells in (("g", generated), ("f", full))}
    both = sorted(set(precise["g"]) & set(precise["f"]))
    gains = [precise["g"][cell] - precise["f"][cell] for cell in both]
    return [
        Statement("11", f"{way}: the generated model makes more predictions, true and false", more, told),
        Statement(
            "11",
            f"{way}: with a long lookahead the full model's notices drop to zero sooner",
            zeros["full"] < zeros["generated"],
            f"N = {longest}: none from threshold {zeros['generated']:g} (generated), {zeros['full']:g} (full)",
        ),
        Statement(
            "11",
            f"{way}: neither has a true positive above {CONFIDENT:g}",
            not any(confident.values()),
            "; ".join(f"{name}: {n}" for name, n in confident.items()),
        ),
        Statement(
            "11",
            f"{way}: with a long lookahead the generated model is much more precise",
            bool(gains) and _mean(gains) > 5 * NOISE,
            f"N = {longest}: {_mean(gains):+.3f} in the mean over thresholds at which both have notices",
        ),
    ]


def _silent_from(cells: Cells, steps: int) -> float:
    """The lowest threshold from which on there is no notice; infinity if there always is one."""
    found = float("inf")
    for cell in sorted((c for c in cells if c.steps == steps), key=lambda cell: -cell.threshold):
        if cell.true + cell.false:
            break
        found = cell.threshold
    return found


def _ends(found: Grid, of: int) -> tuple[float, float]:
    values = [cell[of] for cell in found]
    return min(values), max(values)


def _spread(found: Grid, threshold: float) -> float:
    values = [precision for (_, t), precision in found.items() if t == threshold]
    return max(values) - min(values) if values else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
