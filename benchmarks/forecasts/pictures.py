"""Pictures of notices and of calibration. Nothing is computed here; needs matplotlib, the extra `plot`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

KINDS: Final = (("true", "true positives"), ("false", "false positives"), ("precision", "precision"))
SHOWN: Final = (1, 3, 5, 10)


def panels(answer: Mapping[str, Any], models: Mapping[str, str], way: str, path: Path) -> Path:
    """Figure 11: a row a model; true and false positives and precision by threshold, a line a lookahead."""
    cells = [cell for cell in answer["notices"] if cell["way"] == way]
    with mpl.rc_context({"svg.hashsalt": "foretell", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(9.0, 2.4 * len(models)), layout="constrained")
        grid = figure.subplots(len(models), len(KINDS), squeeze=False, sharex=True)
        for row, (model, name) in zip(grid, models.items()):
            for axes, (kind, label) in zip(row, KINDS):
                lines(axes, [cell for cell in cells if cell["model"] == model], kind)
                axes.set_title(f"{name}: {label}")
        for column in (0, 1):  # the same scale for all models
            most = max(axes.get_ylim()[1] for axes in grid[:, column])
            for axes in grid[:, column]:
                axes.set_ylim(0, most)
        return _saved(figure, answer, path, f"notices: {way}")


def rows(answer: Mapping[str, Any], parts: Sequence[tuple[str, str]], path: Path) -> Path:
    """Figure 10: precision by threshold, a panel a part ((its name in the cells, its title))."""
    with mpl.rc_context({"svg.hashsalt": "foretell", "svg.fonttype": "none", "font.size": 8}):
        columns = 3
        count = -(-len(parts) // columns)
        figure = Figure(figsize=(9.0, 2.8 * count), layout="constrained")
        grid = figure.subplots(count, columns, squeeze=False, sharex=True, sharey=True)
        for axes in grid.flat[len(parts) :]:
            axes.set_axis_off()
        for axes, (part, title) in zip(grid.flat, parts):
            lines(axes, [cell for cell in answer["notices"] if cell["part"] == part], "precision")
            axes.set_title(title)
        return _saved(figure, answer, path, "precision")


def lines(axes: Axes, cells: Sequence[Mapping[str, Any]], kind: str) -> None:
    """One panel: a line a lookahead."""
    for steps in SHOWN:
        points = [(cell["threshold"], cell[kind]) for cell in cells if cell["steps"] == steps]
        known = [(x, y) for x, y in points if y is not None]
        axes.plot([x for x, _ in known], [y for _, y in known], marker="o", markersize=2.5, label=f"N = {steps}")
    if kind == "precision":
        axes.set_ylim(0, 1)
    axes.set_xlabel("threshold")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=6)


def reliability(answer: Mapping[str, Any], path: Path) -> Path:
    """What was said and what happened."""
    with mpl.rc_context({"svg.hashsalt": "foretell", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(4.0, 4.0), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        for steps, bins in answer["reliability"].items():
            said, happened = [b["said"] for b in bins], [b["happened"] for b in bins]
            axes.plot(said, happened, marker="o", markersize=3, label=f"N = {steps}")
        axes.set_xlabel("probability said")
        axes.set_ylabel("share that came true")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.grid(alpha=0.3)
        axes.legend()
        return _saved(figure, answer, path, "reliability")


def _saved(figure: Figure, answer: Mapping[str, Any], path: Path, what: str) -> Path:
    figure.suptitle(f"{what}; commit {answer['commit'] or 'unknown'}, {answer['date']}", fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    return path
