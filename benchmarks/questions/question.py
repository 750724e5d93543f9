"""Law: the shape that every question has, and nothing that only one of them needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from rich.table import Table

from ..measuring import Effort, Say


@final
@dataclass(frozen=True, slots=True)
class Question:
    """`ask` measures and gives the answer's own part: `compiled`, `workload`, `cases`. `table` shows its cases."""

    name: str
    text: str
    bias: tuple[str, ...]
    ask: Callable[[Effort, Say], dict[str, Any]]
    table: Callable[[dict[str, Any]], Table]
