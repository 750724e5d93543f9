"""Detects that forecasts have become worse, and forgets sooner because of it.

The test of Page and Hinkley (Page, Biometrika 41, 1954) on the log loss of resolved predictions: the sum of each
loss's excess over the mean so far, less an allowance; the alarm is how far it has risen above its least value. After an
alarm the half-life is halved, down to a limit, and the test starts anew; long peace restores it step by step. Counts
are not touched: generations are weighed differently (counts). A season whose losses are higher than the mean is a false
alarm, and while it lasts most counts weigh nothing: so this is off unless a subscription asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

from .counts import GENERATIONS_A_HALF_LIFE, GenerationClock

ALLOWANCE: Final = 0.02  # nats by which the mean loss may rise without being drift
ALARM: Final = 50.0  # nats, accumulated
OUTCOMES_MIN: Final = 100  # before the mean says anything
PEACE: Final = 5_000  # outcomes without an alarm after which the half-life is doubled again
HALVINGS_MAX: Final = 4  # of the half-life: at most 16 times as short


@final
class Drift:
    """The test of one subscription, and how often its half-life is halved at present."""

    def __init__(self, allowance: float = ALLOWANCE, alarm: float = ALARM, peace: int = PEACE) -> None:
        self.allowance = allowance
        self.alarm = alarm
        self.peace = peace
        self.outcomes: int = 0
        self.mean: float = 0.0
        self.excess: float = 0.0
        self.least: float = 0.0
        self.halvings: int = 0
        self.alarms: int = 0

    def observe(self, loss: float) -> bool:
        """Record the log loss of a resolved prediction, in nats; returns whether the half-life has changed. O(1)."""
        self.outcomes += 1
        self.mean += (loss - self.mean) / self.outcomes
        if self.outcomes >= OUTCOMES_MIN:
            self.excess += loss - self.mean - self.allowance
            self.least = min(self.least, self.excess)
        if self.excess - self.least > self.alarm:
            self._start()
            self.alarms += 1
            changed = self.halvings < HALVINGS_MAX
            self.halvings = min(self.halvings + 1, HALVINGS_MAX)
            return changed
        if self.outcomes >= self.peace and self.halvings:
            self._start()
            self.halvings -= 1
            return True
        return False

    def _start(self) -> None:
        self.outcomes, self.mean, self.excess, self.least = 0, 0.0, 0.0, 0.0

    def apply(self, clock: GenerationClock) -> None:
        """Set the clock's rate; forecasts are then to be estimated anew (Forecaster.estimate_anew)."""
        clock.rate = float(2**self.halvings) / GENERATIONS_A_HALF_LIFE

    def dump(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "allowance": self.allowance,
            "alarm": self.alarm,
            "peace": self.peace,
            "outcomes": self.outcomes,
            "mean": self.mean,
            "excess": self.excess,
            "least": self.least,
            "halvings": self.halvings,
            "alarms": self.alarms,
        }


def load_drift(data: Mapping[str, Any]) -> Drift:
    """The test of a dump."""
    found = Drift(data["allowance"], data["alarm"], data["peace"])
    found.outcomes, found.mean = data["outcomes"], data["mean"]
    found.excess, found.least = data["excess"], data["least"]
    found.halvings, found.alarms = data["halvings"], data["alarms"]
    return found
