"""How an answer looks, as a file and on a terminal. The numbers are the questions'."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .measuring import Spread


def write(folder: Path, name: str, answer: Mapping[str, Any]) -> Path:
    """The answer as `name`.json, for people to read and to compare line by line."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def show(console: Console, answer: Mapping[str, Any], table: Table) -> None:
    """Question, machine and bias above and below the table, never without them."""
    machine, versions = answer["machine"], answer["versions"]
    built = "compiled" if answer["compiled"] else "uncompiled"
    console.print(f"[bold]{answer['question']}[/bold]")
    console.print(table)
    console.print(
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']}; {versions['python']};"
        f" foretell {versions['foretell']} {built}, commit {answer['commit'] or 'unknown'};"
        f" least / median / most of {answer['repetitions']}",
        highlight=False,
    )
    for bias in answer["bias"]:
        console.print(f"- {bias}", highlight=False)


def spread(values: Spread, decimals: int) -> str:
    return " / ".join(f"{value:,.{decimals}f}" for value in (values.least, values.median, values.most))
