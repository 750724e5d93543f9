"""Measures of models as rows of a result, beside goals and beside each other. Nothing is computed from data here.

Figures keep five significant digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from .scores import Predictions, differences, interval, scored

Redrawn = Sequence[dict[str, float]]


@final
@dataclass(frozen=True, slots=True)
class Goal:
    """A measure at a horizon may be at most that much, or, with `at_least`, at least."""

    measure: str
    steps: int
    limit: float
    at_least: bool = False

    def reached(self, found: float) -> bool:
        return found >= self.limit if self.at_least else found <= self.limit


def rounded(value: float) -> float:
    return float(f"{value:.5g}")


def measured(model: str, steps: int, tested: Predictions, threshold: float, redrawn: Redrawn) -> dict[str, Any]:
    """A row: each measure, and its interval over the drawings."""
    found = {name: rounded(value) for name, value in scored(tested, threshold).items()}
    between = {name: [*map(rounded, interval([each[name] for each in redrawn]))] for name in redrawn[0]}
    return {"model": model, "steps": steps, **found, "interval": between}


def compared(
    model: str, other: str, steps: int, redrawn: Mapping[str, Redrawn], measures: Iterable[str]
) -> dict[str, Any]:
    """A row: the interval of what a model's measures are more than the other's, paired by drawing."""
    gains = {name: [*map(rounded, differences(redrawn[model], redrawn[other], name))] for name in measures}
    return {"model": model, "other": other, "steps": steps, "gains": gains}


def judged(goals: Iterable[Goal], model: str, cases: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each goal beside what the model has."""
    rows = {case["steps"]: case for case in cases if case["model"] == model}
    found: list[dict[str, Any]] = []
    for goal in goals:
        value = rows[goal.steps][goal.measure]
        told = {"measure": goal.measure, "steps": goal.steps, "limit": goal.limit, "at_least": goal.at_least}
        found.append({**told, "found": value, "reached": goal.reached(value)})
    return found
