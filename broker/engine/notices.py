"""What subscribers are told beside matches: forecasts, and what became of them (design 2.3).

Here: their fields and lines. Not here: when they are made (forecasts), matches (results).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

Outcome: TypeAlias = Literal[True, False, "censored"]


class Forecast(NamedTuple):
    """The probability of a match within the horizon has exceeded the threshold.

    `time`: of the event at which it did. `within`: the horizon as the subscription says it. `state`: of its chain, with
    its `label` for people. `run`: the key's value; 0 where there is one chain for the stream. `interval`: where the
    probability is thought to lie with nine chances in ten. `lineage`: what contributed so far, where that is wanted.
    `bounds`: where it is put together from parts as if these were independent, how far off that can be: whatever they
    have to do with each other, it is between these two. `calibrated`: False where earlier ones of the subscription were
    worse than the base rate; None while that is not known.
    """

    id: str
    time: int
    probability: float
    within: int | str
    state: int
    label: str
    run: str | int
    interval: tuple[float, float]
    lineage: list[int] | None
    bounds: tuple[float, float] | None = None
    calibrated: bool | None = None

    def line(self, subscription: str) -> dict[str, Any]:
        """As one JSON object."""
        said: dict[str, Any] = {
            "kind": "forecast",
            "subscription": subscription,
            "id": self.id,
            "time": self.time,
            "probability": self.probability,
            "interval": list(self.interval),
            "within": self.within,
            "state": self.state,
            "label": self.label,
            "run": self.run,
        }
        if self.bounds is not None:
            said["approximate"] = True
            said["bounds"] = list(self.bounds)
        if self.calibrated is False:
            said["calibrated"] = False
        if self.lineage is not None:
            said["lineage"] = self.lineage
        return said


class Resolution(NamedTuple):
    """What became of a forecast, `forecast` being its id. `lead`: how long before the match it was made, in events of
    the key or microseconds, as the horizon counts; None where there was none."""

    id: str
    time: int
    forecast: str
    outcome: Outcome
    run: str | int
    lead: int | None

    def line(self, subscription: str) -> dict[str, Any]:
        """As one JSON object."""
        said: dict[str, Any] = {
            "kind": "resolution",
            "subscription": subscription,
            "id": self.id,
            "time": self.time,
            "forecast": self.forecast,
            "outcome": self.outcome,
            "run": self.run,
        }
        if self.lead is not None:
            said["lead"] = self.lead
        return said


Notice: TypeAlias = Forecast | Resolution
