"""Who would have been told what: true and false notices by threshold and lookahead. No probability is made here.

Two ways of counting. `states`: every forecast above the threshold is a notice, as where one looks at a board each day.
`once`: a notice at the upward crossing, and none before it is resolved, as Foretell tells it (broker.forecast.notifying
does the telling).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, final

from broker.forecast.notifying import Notifier

from .live import Forecasts
from .walks import Ahead

THRESHOLDS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


@final
@dataclass(frozen=True, slots=True)
class Told:
    """`false` and `true` notices; what the end of a stream has censored is neither."""

    threshold: float
    steps: int
    true: int
    false: int

    @property
    def precision(self) -> float | None:
        """Trues among notices; None without a notice."""
        return self.true / (self.true + self.false) if self.true + self.false else None

    def told(self) -> dict[str, Any]:
        precision = self.precision
        return asdict(self) | {"precision": None if precision is None else round(precision, 4)}


def of_states(forecasts: Forecasts, ahead: Ahead, steps: int, since: int) -> list[Told]:
    """Every forecast from `since` on that is above the threshold. O(forecasts x thresholds)."""
    known = forecasts.predictions(ahead, steps, since=since)
    found: list[Told] = []
    for threshold in THRESHOLDS:
        told = [outcome for p, outcome in zip(known.probabilities, known.outcomes) if p > threshold]
        found.append(Told(threshold, steps, sum(told), len(told) - sum(told)))
    return found


def once(forecasts: Forecasts, ahead: Ahead, steps: int, since: int) -> list[Told]:
    """Crossings from `since` on; an event without a forecast is below every threshold. O(forecasts x thresholds).

    A watch is only looked after where something may happen: at forecasts, behind them, and at matches.
    """
    walk = ahead.walk
    said = {
        event: probability
        for event, probability in zip(forecasts.events, forecasts.by_steps[steps])
        if walk.times[event] >= since and ahead.outcome(event, steps) is not None
    }
    watches = [Notifier("benchmark", threshold, steps) for threshold in THRESHOLDS]
    true, false = [0] * len(watches), [0] * len(watches)
    clocks = [0] * len(walk.names)
    above = [False] * len(walk.names)  # the run's last event had a forecast
    for event, run in enumerate(walk.runs):
        clock = clocks[run] = clocks[run] + 1
        state = walk.states[event]
        probability = said.get(event)
        if probability is None and not above[run] and state != walk.final:
            continue
        above[run] = probability is not None
        for place, watch in enumerate(watches):
            resolution = watch.matched(run, clock) if state == walk.final else watch.advance(run, clock)
            if resolution is not None:
                true[place] += resolution.outcome is True
                false[place] += resolution.outcome is False
            watch.update(run, clock, walk.times[event], probability or 0.0, state)
    for run, clock in enumerate(clocks):
        for place, watch in enumerate(watches):
            false[place] += watch.advance(run, clock) is not None
    return [Told(threshold, steps, t, f) for threshold, t, f in zip(THRESHOLDS, true, false)]
