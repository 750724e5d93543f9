"""The tables of docs/performance.md that compare two builds, from the kept results; nobody types a figure by hand.

`python -m benchmarks.comparison.page` writes each behind its mark, `<!-- builds -->` and `<!-- builds_uncompiled -->`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final, final

from ..measuring import ROOT

PAGE: Final = ROOT / "docs" / "performance.md"
RESULTS: Final = ROOT / "benchmarks" / "results"
MARKS: Final = ("builds", "builds_uncompiled")
WORSE: Final = 1.03


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one phase of a load, as it is shown; before and after."""

    load: str
    of: str
    counted: float | None
    instructions: tuple[str, str]
    ratio: str
    microseconds: tuple[str, str]
    ratios: str


def rows(answer: Mapping[str, Any]) -> list[Row]:
    """A row a load and phase, in the order in which they were found."""
    counts, times = ({(row["load"], row["of"]): row for row in answer[kind]} for kind in ("counted", "timed"))
    found: list[Row] = []
    for load, of in counts | times:
        counted, timed = counts.get((load, of)), times.get((load, of))
        instructions = microseconds = ("", "")
        ratios = ""
        if counted is not None:
            before, after = counted["each"]
            instructions = (f"{before:,}", f"{after:,}")
        if timed is not None:
            before, after = (own["median"] for own in timed["each"])
            microseconds = (f"{before:,.4g}", f"{after:,.4g}")
            ratios = " / ".join(f"{timed['ratio'][each]:.3f}" for each in ("least", "median", "most"))
        ratio = None if counted is None else counted["ratio"]
        shown = "" if ratio is None else f"{ratio:.3f}"
        found.append(Row(load, of, ratio, instructions, shown, microseconds, ratios))
    return found


def table(answer: Mapping[str, Any]) -> str:
    """A table in Markdown; columns of which nothing is known are left out."""
    before, after = answer["builds"]
    heads = ["load", "of", f"instructions, {before}", f"{after}", "ratio"]
    timed = bool(answer["timed"])
    if timed:
        heads += [f"us, {before}", f"{after}", "ratios"]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(heads) - 2)]
    for row in rows(answer):
        cells = [row.load, row.of, *row.instructions, row.ratio]
        if timed:
            cells += [*row.microseconds, row.ratios]
        lines.append("| " + " | ".join(cells) + " |")
    machine, versions = answer["machine"], answer["versions"]
    where = f"{answer['date']}; {machine['cpu']}, {machine['cores']} cores; {versions['python']}"
    return "\n".join([*lines, f"| *{where}* |"])


def written(text: str, results: Path = RESULTS) -> str:
    """The page with its tables as the results have them; marks without a result stay as they are."""
    for name in MARKS:
        file = results / f"{name}.json"
        if file.exists():
            shown = table(json.loads(file.read_text(encoding="utf-8")))
            before, mark, after = text.partition(f"<!-- {name} -->\n")
            rest = dropwhile(lambda line: line.startswith("|"), after.splitlines(keepends=True))
            text = f"{before}{mark}{shown}\n{''.join(rest)}" if mark else text
    return text


def write() -> None:
    """Write them into the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
