"""How answers about forecasts look on a terminal. The numbers are the questions'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rich.table import Table

MEASURES: Final = ("auc", "brier", "skill", "log_loss", "ece")


def whole(answer: dict[str, Any]) -> Table:
    """The scores, then goals, gains, figures and statements, as far as there are any."""
    shown = Table.grid(padding=(0, 0, 1, 0))
    if answer["cases"]:
        shown.add_row(scores_table(answer["cases"]))
    if answer.get("options"):
        shown.add_row(scores_table(answer["options"]))
    for name in ("candidates", "goals", "gains", "exact", "statements"):
        if answer.get(name):
            shown.add_row("\n".join(_line(name, row) for row in answer[name]))
    return shown


def scores_table(cases: Sequence[dict[str, Any]]) -> Table:
    """A row a model and horizon, each measure with its interval."""
    shown = Table(caption_justify="left")
    shown.add_column("model")
    for heading in ("N", "tested", "base", *MEASURES, "true / false", "precision"):
        shown.add_column(heading, justify="right")
    for case in cases:
        shown.add_row(
            case["model"],
            str(case["steps"]),
            f"{case['predictions']:,.0f}",
            f"{case['base_rate']:.3f}",
            *(_between(case, name) for name in MEASURES),
            f"{case['true']:,.0f} / {case['false']:,.0f}",
            _between(case, "precision") if case["true"] + case["false"] else "-",
        )
    return shown


def _between(case: dict[str, Any], name: str) -> str:
    low, high = case["interval"][name]
    return f"{case[name]:.4f}\n{low:.3f} - {high:.3f}"


def _line(kind: str, row: dict[str, Any]) -> str:
    match kind:
        case "candidates":
            chosen = ", chosen" if row["chosen"] else ""
            return f"trained with {row['name']}: log loss {row['log_loss']:.4f}{chosen}"
        case "gains":
            found = ", ".join(f"{name} {low:+.4f} - {high:+.4f}" for name, (low, high) in row["gains"].items())
            return f"{row['model']} less {row['other']}, N = {row['steps']}: {found}"
        case "goals":
            sign = ">=" if row["at_least"] else "<="
            reached = "reached" if row["reached"] else "not reached"
            return f"{row['measure']} {sign} {row['limit']:g} at N = {row['steps']}: {row['found']:g}, {reached}"
        case "exact":
            return f"{row['what']}: {'equal' if row['holds'] else 'differs'}"
        case _:
            holds = "holds" if row["holds"] else "does not hold"
            return f"{row['figure']}: {row['says']}: {holds} ({row['reason']})"
