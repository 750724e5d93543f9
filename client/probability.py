"""The probability of the next match of a key, as the broker reports it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, final

from .errors import ProtocolError


@final
@dataclass(frozen=True, slots=True)
class Probability:
    """How likely the next match of a key is within a horizon, counted from the key's last event.

    `lower`, `upper`: where the probability is thought to lie with nine chances in ten, as far as finite counts decide
    it. `state`, `label`: how far the key has got. `effective`: how many transitions stand behind that. `calibrated`:
    whether earlier predictions of that kind were no worse than the base rate; None while that is not known, and for
    other horizons than the subscription's own. `time`: of the key's last event, in microseconds; None where it has
    none. `run`: the key as forecasts name it.
    """

    probability: float
    lower: float
    upper: float
    within: int | str
    state: int
    label: str
    effective: float
    calibrated: bool | None
    time: int | None
    run: str | int

    def line(self) -> dict[str, Any]:
        """As one JSON object."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def reported(report: Mapping[str, Any]) -> Probability:
    """What has come; what a later broker says beyond that is left out. Raises ProtocolError."""
    try:
        return Probability(**{each.name: report[each.name] for each in fields(Probability)})
    except KeyError as missing:
        raise ProtocolError(f"a report of a probability lacks {missing}") from None
