"""When a forecast is reported, and how it resolves. How likely a match is comes from elsewhere.

A forecast is made when the probability of a run crosses the threshold upwards, that is, exceeds it and did not before,
and none is outstanding for the run. It is resolved once:

    true        a match of the run within the horizon
    false       the horizon has passed without
    "censored"  the subscription, the stream or the broker ended before either was known

A match starts the run anew: a probability above the threshold after it is a crossing. Horizons are counted on the
caller's clock: the events of the run's key, of the stream, or microseconds. A match at the deadline itself is in time.

    update ──crossing──> outstanding ──matched──> true
                              ├──advance, expire──> false
                              └──close──> censored

All state is plain data (dump, load): outstanding forecasts outlive the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, TypeAlias, final

Outcome: TypeAlias = Literal[True, False, "censored"]
Run: TypeAlias = str | int


@final
@dataclass(frozen=True, slots=True)
class IssuedForecast:
    """A reported forecast. `clock`, `deadline`: in the unit of the horizon; `time`: of the event, microseconds."""

    id: str
    run: Run
    clock: int
    deadline: int
    time: int
    probability: float
    state: int


@final
@dataclass(frozen=True, slots=True)
class ResolvedForecast:
    """The outcome of a forecast. `lead`: how long before the match it was made; None: no match."""

    forecast: IssuedForecast
    outcome: Outcome
    lead: int | None = None


@final
class Notifier:
    """The notices of one subscription."""

    def __init__(self, subscription: str, threshold: float, within: int) -> None:
        """`within`: the horizon, in the unit of the clocks. Raises ValueError unless 0 <= threshold < 1 <= within."""
        if not (0.0 <= threshold < 1.0 <= within):
            raise ValueError(f"expected 0 <= threshold < 1 <= within, found {threshold} and {within}")
        self.subscription = subscription
        self.threshold = threshold
        self.within = within
        self._outstanding: dict[Run, IssuedForecast] = {}  # in the order in which they were made
        self._above: set[Run] = set()  # never iterated over but sorted

    def update(
        self, run: Run, clock: int, time: int, probability: float, state: int, number: int | None = None
    ) -> IssuedForecast | None:
        """Set the run's probability; returns the forecast to report at a crossing. `number`: of the event, where
        several may have one clock. O(1).
        """
        if not probability > self.threshold:
            self._above.discard(run)
            return None
        if run in self._above:
            return None
        self._above.add(run)
        if run in self._outstanding:
            return None
        identity = forecast_id(self.subscription, run, clock if number is None else number)
        found = IssuedForecast(identity, run, clock, clock + self.within, time, probability, state)
        self._outstanding[run] = found
        return found

    def is_above(self, run: Run) -> bool:
        """Whether the run's latest probability exceeded the threshold."""
        return run in self._above

    def is_open(self, run: Run) -> bool:
        """Whether a forecast is outstanding for the run."""
        return run in self._outstanding

    def matched(self, run: Run, clock: int) -> ResolvedForecast | None:
        """Resolve the run's outstanding forecast after a match; the run begins anew. O(1)."""
        self._above.discard(run)
        found = self._outstanding.pop(run, None)
        if found is None:
            return None
        if clock > found.deadline:
            return ResolvedForecast(found, False)
        return ResolvedForecast(found, True, clock - found.clock)

    def advance(self, run: Run, clock: int, time_passes: bool = False) -> ResolvedForecast | None:
        """The run's clock has reached `clock` without a match at it: false if the horizon is used up. O(1).

        With `time_passes` more events may come at this clock, as with microseconds: the deadline must be past.
        """
        found = self._outstanding.get(run)
        if found is None or clock < found.deadline or (time_passes and clock == found.deadline):
            return None
        del self._outstanding[run]
        return ResolvedForecast(found, False)

    def reset(self, run: Run) -> None:
        """End the run: the next of that name begins below the threshold. Its forecast stays outstanding, as the key may
        still match within the horizon. O(1).
        """
        self._above.discard(run)

    def expire(self, clock: int) -> list[ResolvedForecast]:
        """All runs share one clock, on which deadlines pass: false for those before `clock`. O(what is resolved)."""
        passed = []
        for found in self._outstanding.values():
            if found.deadline >= clock:
                break  # they stand in the order of their deadlines, as the horizon is one
            passed.append(found)
        for found in passed:
            del self._outstanding[found.run]
        return [ResolvedForecast(found, False) for found in passed]

    def close(self) -> list[ResolvedForecast]:
        """Censor everything outstanding at the end."""
        passed = list(self._outstanding.values())
        self._outstanding.clear()
        self._above.clear()
        return [ResolvedForecast(found, "censored") for found in passed]

    def is_used(self) -> bool:
        """Whether anything is outstanding or above the threshold."""
        return len(self._outstanding) > 0 or len(self._above) > 0

    def outstanding(self) -> list[IssuedForecast]:
        """Forecasts that are reported and not resolved, in the order of their reports."""
        return list(self._outstanding.values())

    def dump(self) -> dict[str, Any]:
        """As plain data: texts, numbers, lists."""
        fields = [
            [f.id, f.run, f.clock, f.deadline, f.time, f.probability, f.state] for f in self._outstanding.values()
        ]
        above = sorted(self._above, key=lambda run: (isinstance(run, str), run))
        return {
            "subscription": self.subscription,
            "threshold": self.threshold,
            "within": self.within,
            "outstanding": fields,
            "above": above,
        }

    def check_invariants(self) -> None:
        """Raise AssertionError unless every forecast stands under its run."""
        for run, found in self._outstanding.items():
            assert found.run == run
            assert found.deadline == found.clock + self.within
            assert found.probability > self.threshold

    def statistics(self) -> dict[str, int]:
        """Sizes, for operators."""
        return {"outstanding": len(self._outstanding), "above": len(self._above)}


def load_notifier(data: Mapping[str, Any]) -> Notifier:
    """The notifier of a dump. Raises KeyError, TypeError or ValueError if the data are no dump."""
    found = Notifier(data["subscription"], data["threshold"], data["within"])
    for fields in data["outstanding"]:
        forecast = IssuedForecast(*fields)
        found._outstanding[forecast.run] = forecast
    found._above = set(data["above"])
    return found


def forecast_id(subscription: str, run: Run, number: int) -> str:
    """The id of a forecast, a digest of its content, so that a replay makes the same one. 16 hexadecimal digits."""
    kind = "s" if isinstance(run, str) else "i"
    return blake2b(f"{subscription}\0{kind}\0{run}\0{number}".encode(), digest_size=8).hexdigest()
