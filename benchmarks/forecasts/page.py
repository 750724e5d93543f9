"""The measured tables of docs/forecast-quality.md, from the kept results; nobody types a figure by hand.

`python -m benchmarks forecast_quality` measures them anew and writes each behind its mark, `<!-- temperatures -->` and
so on; `python -m benchmarks.forecasts.page` only writes. A test says when that was forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final

from ..measuring import ROOT

PAGE: Final = ROOT / "docs" / "forecast-quality.md"
RESULTS: Final = ROOT / "benchmarks" / "results"
TABLES: Final[Mapping[str, tuple[str, str, tuple[str, ...]]]] = {
    "temperatures": ("temperatures", "cases", ("auc", "brier", "ece", "precision")),
    "options": ("temperatures", "options", ("auc", "brier", "ece")),
    "flights": ("flights", "cases", ("auc", "brier", "log_loss", "ece")),
    "stocks": ("stocks", "cases", ("auc", "brier", "skill", "ece")),
}
"""By mark: the result, what of it, and the measures."""
NAMES: Final[Mapping[str, str]] = {
    "auc": "AUC",
    "brier": "Brier",
    "ece": "ECE",
    "log_loss": "log loss",
    "skill": "Brier skill",
    "precision": "true / false above {threshold:g}: precision",
}


def table(answer: Mapping[str, Any], measures: Sequence[str], rows: str = "cases") -> str:
    """A table in Markdown: a row a model and horizon."""
    threshold = answer["workload"].get("threshold", 0.0)
    heads = ["model", "N", *(NAMES[name].format(threshold=threshold) for name in measures)]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "---|" * len(measures)]
    for case in sorted(answer[rows], key=lambda case: int(case["steps"])):
        cells = [case["model"], str(case["steps"]), *(_cell(case, name) for name in measures)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(case: Mapping[str, Any], name: str) -> str:
    low, high = case["interval"][name]
    if name == "precision":
        true, false = case["true"], case["false"]
        return f"{true:,.0f} / {false:,.0f}: {case[name]:.3f}" if true + false else "none"
    digits = 3 if name in ("auc", "ece", "skill") else 4
    return f"{case[name]:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def written(text: str, results: Path = RESULTS) -> str:
    """The page with its tables as the results have them; marks without a result stay as they are."""
    for name, (result, rows, measures) in TABLES.items():
        file = results / f"forecast_{result}.json"
        if file.exists():
            shown = table(json.loads(file.read_text(encoding="utf-8")), measures, rows)
            before, mark, after = text.partition(f"<!-- {name} -->\n")
            rest = dropwhile(lambda line: line.startswith("|"), after.splitlines(keepends=True))
            text = f"{before}{mark}{shown}\n{''.join(rest)}" if mark else text
    return text


def write() -> None:
    """Write them into the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
