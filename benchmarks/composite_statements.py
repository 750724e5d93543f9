"""What P-ToPSS 6.1 says of its figures 9 a-f, as tests on points that were measured. Nothing is measured here.

A statement holds or does not, with the figures that decide it. Counts are exact, so that the slightest difference
decides; times are medians, and a difference within NOISE decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from typing import Final, TypeAlias, final

NOISE: Final = 0.1
LINEAR: Final = 0.1  # the steps of a linear curve differ by less
SMALL: Final = ", small pool"
FEWER_TRANSITIONS: Final = "gaussian_pub has fewer transitions"
# Why one does not hold, where that is known.
WHY: Final[Mapping[str, str]] = {
    FEWER_TRANSITIONS: "the paper's Gaussian prefixes are shorter; ours, around the middle, are as long, 5 in the mean,"
    " and fewer end within a first word (5 % have 1 or 2 events, 22 % of the uniform ones), behind which states live on"
}

Line: TypeAlias = Sequence[tuple[float, float]]  # ascending
Lines: TypeAlias = Mapping[str, Line]


@final
@dataclass(frozen=True, slots=True)
class Statement:
    figure: str
    says: str
    holds: bool
    reason: str


def linear(figure: str, says: str, lines: Lines) -> Statement:
    """The same number comes with each step, on every line: the last step beside the first."""
    worst, told = 0.0, ""
    for name, line in lines.items():
        steps = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in pairwise(line)]
        off = abs(steps[-1] - steps[0]) / (max(map(abs, steps)) or 1.0)
        if off >= worst:
            worst, told = off, f"{name}: {steps[0]:.2f} a subscription at first, {steps[-1]:.2f} at last"
    return Statement(figure, says, worst < LINEAR, told)


def monotone(figure: str, says: str, lines: Lines, rises: bool, noise: float = 0.0) -> Statement:
    """Every line rises, or falls: its last point beyond its first, and no step against it by more than noise."""
    against: list[str] = []
    for name, line in lines.items():
        ways = [*pairwise(line), (line[0], line[-1])]
        for step, ((x1, y1), (x2, y2)) in enumerate(ways):
            allowed = noise if step < len(ways) - 1 else 0.0
            goes = y2 > y1 * (1 - allowed) if rises else y2 < y1 * (1 + allowed)
            if not goes:
                against.append(f"{name}: {_short(y1)} at {x1:g}, {_short(y2)} at {x2:g}")
    told = against or [f"{name}: {_short(line[0][1])} to {_short(line[-1][1])}" for name, line in lines.items()]
    return Statement(figure, says, not against, "; ".join(told[:4]))


def below(figure: str, says: str, pairs: Iterable[tuple[str, Line, str, Line]], noise: float = 0.0) -> Statement:
    """Of each pair of lines the first is below the second: nowhere above it by more than noise, and in the mean."""
    holds, told = True, []
    for name, line, other_name, other in pairs:
        ratios = [y / other_y for (_, y), (_, other_y) in zip(line, other, strict=True)]
        mean = sum(ratios) / len(ratios)
        holds = holds and mean < 1 and max(ratios) < 1 + noise
        told.append(f"{name} is {mean:.2f} of {other_name} ({min(ratios):.2f} to {max(ratios):.2f})")
    return Statement(figure, says, holds, "; ".join(told))


def exponent(line: Line) -> float:
    """The slope of log y on log x, by least squares."""
    xs, ys = [log(x) for x, _ in line], [log(y) for _, y in line]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / spread


def statements(figures: Mapping[str, Lines]) -> list[Statement]:
    """All of them; `figures` are "9a" to "9f", each with the lines that `name` names."""
    a, b, c, d, e, f = (figures[f"9{letter}"] for letter in "abcdef")
    uniform, gaussian = "uniform_cs", "gaussian_cs"
    small = [line for line in a if line.endswith(SMALL)]
    large = [line.removesuffix(SMALL) for line in small]
    said = [
        linear("9a", "states grow linearly with N_cs", a),
        below("9a", "a smaller pool has fewer states", [(s, a[s], x, a[x]) for s, x in zip(small, large)]),
        below("9a", "gaussian_cs has fewer states", _gaussian(a)),
        monotone("9b", "time an event grows with N_cs", b, True, NOISE),
        below("9b", "a smaller pool takes longer", [(x, b[x], s, b[s]) for s, x in zip(small, large)], NOISE),
        below("9b", "gaussian_cs takes longer", [(y, q, x, p) for x, p, y, q in _gaussian(b)], NOISE),
        monotone("9c", "time an event grows with the number of `;`", c, True, NOISE),
        monotone("9d", "commonality falls with length", d, False),
        monotone("9e", "states grow with the pool", e, True),
        below("9e", "gaussian_cs has fewer states", [(gaussian, e[gaussian], uniform, e[uniform])]),
        monotone("9f", "transitions fall with the pool", f, False),
        below("9f", FEWER_TRANSITIONS, _gaussian(f, "_pub")),
    ]
    return [each if each.holds else _explained(each) for each in said]


def _explained(statement: Statement) -> Statement:
    why = WHY.get(statement.says)
    return statement if why is None else replace(statement, reason=f"{statement.reason}: {why}")


def _gaussian(lines: Lines, of: str = "_cs") -> list[tuple[str, Line, str, Line]]:
    """Each Gaussian line beside the uniform one."""
    pairs = [(name, name.replace("gaussian" + of, "uniform" + of)) for name in lines if "gaussian" + of in name]
    return [(name, lines[name], other, lines[other]) for name, other in pairs]


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
