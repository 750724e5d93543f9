"""Chooses the model that has forecast best, judged on its outcomes at the horizon.

The prequential log loss (Dawid, JRSS A 147, 1984): each model names a probability of a match within the horizon before
anything is known of it, and pays the negative logarithm of what then happens. A model with more parameters pays for
having to learn them; nothing is held out and nothing else penalises. Models are not judged by the next step: what is
known of it may be out of date at the horizon. Sums are whole numbers of millionths of a nat, so that the parts of a
stream add up.

Here: losses. Not here: forecasts whose outcome is not known yet (trials).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any, Final, final

from mypy_extensions import i64

MILLIONTHS: Final = 1_000_000
SURPRISE_MAX: Final = 20 * MILLIONTHS
"""What an outcome costs at most that a model held impossible: e**-20."""


def surprise(probability: float) -> i64:
    """-log(probability) in millionths of a nat, at most SURPRISE_MAX."""
    if probability <= 2.1e-9:
        return SURPRISE_MAX
    return min(i64(-log(probability) * MILLIONTHS + 0.5), SURPRISE_MAX)


@final
class Choice:
    """The losses of some models on the same forecasts; `steps` is how many these were."""

    def __init__(self, models: int, margin: float = 2.0) -> None:
        """`margin`: by how many nats a more elaborate model must be better than a simpler one (a smaller number)."""
        self.losses: list[int] = [0] * models
        self.steps: int = 0
        self.margin: int = round(margin * MILLIONTHS)

    def score(self, probabilities: list[float], times: int = 1) -> None:
        """Each model's probability of something that then happened `times` times. O(models)."""
        self.steps += times
        for model, probability in enumerate(probabilities):
            self.losses[model] += times * int(surprise(probability))

    def best(self) -> int:
        """The simplest of the models that no other beats by more than the margin. O(models)."""
        bound = min(self.losses) + self.margin
        return next(model for model, loss in enumerate(self.losses) if loss <= bound)

    def dump(self) -> dict[str, Any]:
        """As plain data."""
        return {"losses": list(self.losses), "steps": self.steps, "margin": self.margin}


def load_choice(data: Mapping[str, Any]) -> Choice:
    """The choice of a dump."""
    found = Choice(len(data["losses"]))
    found.losses, found.steps, found.margin = list(data["losses"]), data["steps"], data["margin"]
    return found
