"""The probability of the next match of a key, as the broker reports it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, final

from .errors import ProtocolError


# The engine's answer has the same fields and is another class: a client may talk to a broker of another version, so it
# has what the protocol says (wire.forecast_messages), whatever the engine beside it has, and it imports no engine.
@final
@dataclass(frozen=True, slots=True)
class Probability:
    """The probability of a key's next match within a horizon, counted from the key's last event.

    `lower`, `upper`: the 90 % interval of the probability, given the number of observations. `state`, `label`: the
    state of the key in the chain, as a number and in words. `effective`: how many transitions the estimate rests on.
    `calibrated`: whether earlier forecasts were no worse than the base rate; None while that is not known, and for
    horizons other than the subscription's own. `time`: the time of the key's last event, in microseconds; None if it
    has none. `run`: the key as forecasts name it.
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
    """A report as received; unknown fields of a later broker are ignored. Raises ProtocolError for a missing field."""
    try:
        return Probability(**{each.name: report[each.name] for each in fields(Probability)})
    except KeyError as missing:
        raise ProtocolError(f"a report of a probability lacks {missing}") from None
