"""Law: how measured points become pictures. Nothing is measured or computed here; needs matplotlib, the extra `plot`.

Pictures are SVG, the same bytes for the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

LABELS: Final[Mapping[str, str]] = {
    "N": "subscriptions",
    "length": "ticks in the pattern",
    "skew": "Zipf skew of the subscriptions' symbols",
}
LOGARITHMIC: Final = ("N",)
MARKERS: Final = "osD^v"
INCHES: Final = (6.4, 4.0)


def draw(answer: Mapping[str, Any], folder: Path) -> list[Path]:
    """A file an axis: medians as lines, least and most as bars."""
    folder.mkdir(parents=True, exist_ok=True)
    axes = list(dict.fromkeys(case["axis"] for case in answer["cases"]))
    return [_axis(answer, axis, folder / f"scaling-{axis}.svg") for axis in axes]


def _axis(answer: Mapping[str, Any], axis: str, path: Path) -> Path:
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for case in answer["cases"]:
        if case["axis"] == axis:
            lines.setdefault(case["line"], []).append(case)
    with mpl.rc_context({"svg.hashsalt": "foretell", "svg.fonttype": "none"}):
        figure = Figure(figsize=INCHES, layout="constrained")
        shown = figure.add_subplot()
        for marker, (line, cases) in zip(MARKERS, lines.items()):
            times = [case["microseconds_per_event"] for case in cases]
            middle = [time["median"] for time in times]
            below = [time["median"] - time["least"] for time in times]
            above = [time["most"] - time["median"] for time in times]
            at = [case["at"] for case in cases]
            shown.errorbar(at, middle, yerr=[below, above], marker=marker, markersize=4, capsize=2, label=line)
        if axis in LOGARITHMIC:
            shown.set_xscale("log")
        shown.set_ylim(bottom=0)
        shown.set_xlabel(LABELS[axis])
        shown.set_ylabel("CPU time an event, microseconds")
        shown.grid(alpha=0.3)
        shown.legend()
        shown.set_title(_place(answer), fontsize=8)
        figure.savefig(path, metadata={"Date": None})
    return path


def _place(answer: Mapping[str, Any]) -> str:
    """Where it was measured, so that no picture is without its machine."""
    machine, versions = answer["machine"], answer["versions"]
    form = "compiled" if answer["compiled"] else "uncompiled"
    return f"{machine['cpu']}, {versions['python']}, {form}, commit {answer['commit'] or 'unknown'}, {answer['date']}"
