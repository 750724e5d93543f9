"""The shape that every question has, and nothing that only one of them needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from rich.table import Table

from ..measuring import Effort, Say


@final
@dataclass(frozen=True, slots=True)
class Question:
    """`ask` measures and gives the answer's own part: `compiled`, `workload`, `cases`. `table` shows its cases.

    `plot` draws them into a folder; it needs matplotlib. `needs`: the data, by name, whose place must be told.
    """

    name: str
    text: str
    bias: tuple[str, ...]
    ask: Callable[[Effort, Say], dict[str, Any]]
    table: Callable[[dict[str, Any]], Table]
    plot: Callable[[dict[str, Any], Path], list[Path]] | None = None
    needs: tuple[str, ...] = ()
