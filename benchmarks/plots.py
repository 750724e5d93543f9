"""How measured points become pictures. Nothing is measured or computed here; needs matplotlib, the extra `plot`.

Pictures are SVG, the same bytes for the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import Any, Final, TypeAlias

import matplotlib as mpl
from matplotlib.figure import Figure

LABELS: Final[Mapping[str, str]] = {
    "N": "subscriptions",
    "length": "ticks in the pattern",
    "skew": "Zipf skew of the subscriptions' symbols",
}
LOGARITHMIC: Final = ("N",)
MARKERS: Final = "osD^v<>pPXhd*"
INCHES: Final = (6.4, 4.0)
INSIDE_MAX: Final = 12  # lines up to which their names stand in the picture, and not beside it

Lines: TypeAlias = dict[str, list[tuple[float, Mapping[str, float]]]]


def draw(answer: Mapping[str, Any], folder: Path) -> list[Path]:
    """A file an axis: medians as lines, least and most as bars."""
    folder.mkdir(parents=True, exist_ok=True)
    axes = list(dict.fromkeys(case["axis"] for case in answer["cases"]))
    return [_axis(answer, axis, folder / f"scaling-{axis}.svg") for axis in axes]


def _axis(answer: Mapping[str, Any], axis: str, path: Path) -> Path:
    lines: Lines = {}
    for case in answer["cases"]:
        if case["axis"] == axis:
            lines.setdefault(case["line"], []).append((case["at"], case["microseconds_per_event"]))
    return curves(answer, path, lines, (LABELS[axis], "CPU time an event, microseconds"), axis in LOGARITHMIC)


def curves(
    answer: Mapping[str, Any],
    path: Path,
    lines: Lines,
    labels: tuple[str, str],
    logarithmic: bool = False,
    logarithmic_up: bool = False,
) -> Path:
    """One picture: each line by its name as points (x, spread); `labels` are those of the axes."""
    with mpl.rc_context({"svg.hashsalt": "foretell", "svg.fonttype": "none"}):
        many = len(lines) > INSIDE_MAX
        width, height = INCHES
        size = (1.6 * width, max(height, 0.19 * len(lines) + 0.5)) if many else INCHES
        figure = Figure(figsize=size, layout="constrained")
        shown = figure.add_subplot()
        for marker, (line, points) in zip(cycle(MARKERS), lines.items()):
            middle = [spread["median"] for _, spread in points]
            below = [spread["median"] - spread["least"] for _, spread in points]
            above = [spread["most"] - spread["median"] for _, spread in points]
            at = [x for x, _ in points]
            shown.errorbar(at, middle, yerr=[below, above], marker=marker, markersize=4, capsize=2, label=line)
        if logarithmic:
            shown.set_xscale("log")
        if logarithmic_up:
            shown.set_yscale("log")
        else:
            shown.set_ylim(bottom=0)
        shown.set_xlabel(labels[0])
        shown.set_ylabel(labels[1])
        shown.grid(alpha=0.3)
        if many:
            figure.legend(loc="outside right upper", fontsize=8)
        else:
            shown.legend()
        shown.set_title(_place(answer), fontsize=8)
        figure.savefig(path, metadata={"Date": None})
    return path


def _place(answer: Mapping[str, Any]) -> str:
    """Where it was measured, so that no picture is without its machine."""
    machine, versions = answer["machine"], answer["versions"]
    form = "compiled" if answer["compiled"] else "uncompiled"
    return f"{machine['cpu']}, {versions['python']}, {form}, commit {answer['commit'] or 'unknown'}, {answer['date']}"


def bars(answer: Mapping[str, Any], path: Path, heights: Mapping[str, Mapping[str, float]], label: str) -> Path:
    """One picture: a bar a name, with least and most."""
    with mpl.rc_context({"svg.hashsalt": "foretell", "svg.fonttype": "none"}):
        figure = Figure(figsize=INCHES, layout="constrained")
        shown = figure.add_subplot()
        middle = [spread["median"] for spread in heights.values()]
        below = [spread["median"] - spread["least"] for spread in heights.values()]
        above = [spread["most"] - spread["median"] for spread in heights.values()]
        shown.bar(list(heights), middle, yerr=[below, above], capsize=4)
        shown.set_ylabel(label)
        shown.grid(alpha=0.3, axis="y")
        shown.set_title(_place(answer), fontsize=8)
        figure.savefig(path, metadata={"Date": None})
    return path
