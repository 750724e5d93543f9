"""Forecasts and their resolutions, and punctuations, which subscribers receive beside matches (design 2.3).

Here: their fields and JSON lines. Not here: making them (forecasts), matches (results).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

from ..events.schema import Value

Outcome: TypeAlias = Literal[True, False, "censored"]


class Forecast(NamedTuple):
    """The probability of a match within the horizon has exceeded the threshold.

    `time`: that of the event at which it did. `within`: the horizon as written in the subscription. `state`: that of
    its chain, with a readable `label`. `run`: the key's value; 0 if the stream has one chain. `interval`: the
    probability lies in it with a confidence of nine in ten. `lineage`: the events that contributed so far, if the
    subscription asks for it. `bounds`: if the probability is computed from parts as if these were independent, it lies
    between the bounds for any dependence of the parts. `calibrated`: False if earlier forecasts of the subscription
    were worse than the base rate; None while that is not known.
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

    @property
    def kind(self) -> str:
        return "forecast"

    def line(self, subscription: str) -> dict[str, Any]:
        """The forecast as one JSON object."""
        fields: dict[str, Any] = {
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
            fields["approximate"] = True
            fields["bounds"] = list(self.bounds)
        if self.calibrated is False:
            fields["calibrated"] = False
        if self.lineage is not None:
            fields["lineage"] = self.lineage
        return fields


class Resolution(NamedTuple):
    """The resolution of a forecast; `forecast` is the forecast's id.

    `lead`: the time from the forecast to the match, in events of the key or microseconds, in the horizon's unit; None
    if no match came.
    """

    id: str
    time: int
    forecast: str
    outcome: Outcome
    run: str | int
    lead: int | None

    @property
    def kind(self) -> str:
        return "resolution"

    def line(self, subscription: str) -> dict[str, Any]:
        """The resolution as one JSON object."""
        fields: dict[str, Any] = {
            "kind": "resolution",
            "subscription": subscription,
            "id": self.id,
            "time": self.time,
            "forecast": self.forecast,
            "outcome": self.outcome,
            "run": self.run,
        }
        if self.lead is not None:
            fields["lead"] = self.lead
        return fields


class Finality(NamedTuple):
    """Results of the subscription that end before `time` are final: none of them is withdrawn, and none is added.

    `key`: the values of BY, by attribute, if that is so for the results of one key only.
    """

    id: str
    time: int
    key: dict[str, Value] | None = None

    @property
    def kind(self) -> str:
        return "punctuation"

    def line(self, subscription: str) -> dict[str, Any]:
        """The punctuation as one JSON object."""
        fields = {"kind": "punctuation", "subscription": subscription, "id": self.id, "time": self.time}
        return fields if self.key is None else {**fields, "key": self.key}


Notice: TypeAlias = Forecast | Resolution | Finality
