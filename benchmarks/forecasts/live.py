"""Forecasts along a walk, by whatever model; how good they were is not judged here.

Ours come from an engine (through_engine), those of models that no longer learn from a table. Correction, which is for
the latter, is fitted to forecasts whose outcome was known before a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

from broker.forecast.calibration import BINS, bin_of
from broker.forecast.isotonic import Correction, fitted

from .scores import Predictions
from .walks import Ahead, Walk


@final
class Forecasts:
    """The forecasts of one model: the events at which they were made, and by horizon their probabilities."""

    def __init__(self, steps: Sequence[int]) -> None:
        self.events: list[int] = []
        self.by_steps: dict[int, list[float]] = {each: [] for each in steps}

    def put(self, event: int, probabilities: Sequence[float]) -> None:
        self.events.append(event)
        for column, probability in zip(self.by_steps.values(), probabilities, strict=True):
            column.append(probability)

    def corrected(self, corrections: dict[int, Correction | None]) -> Forecasts:
        """The same, put right; a horizon without a correction stays."""
        found = Forecasts(list(self.by_steps))
        found.events = self.events
        for steps, column in self.by_steps.items():
            correction = corrections[steps]
            found.by_steps[steps] = column if correction is None else [correction.corrected(p) for p in column]
        return found

    def predictions(self, ahead: Ahead, steps: int, since: int | None = None, until: int | None = None) -> Predictions:
        """Those made from `since` on whose outcome is known (before `until`)."""
        found = Predictions([], [], [])
        walk = ahead.walk
        for event, probability in zip(self.events, self.by_steps[steps]):
            if since is not None and walk.times[event] < since:
                continue
            outcome = ahead.outcome(event, steps)
            if outcome is None or (until is not None and ahead.known_at(event, steps) >= until):
                continue
            found.probabilities.append(probability)
            found.outcomes.append(outcome)
            found.blocks.append(walk.runs[event])
        return found


def told_by_table(
    walk: Walk, curve: Callable[[int], Sequence[float]], states: Sequence[int], steps: Sequence[int], asked: set[int]
) -> Forecasts:
    """Forecasts of a model that no longer learns: `curve` by the model's own `states`, asked where the walk's are."""
    found = Forecasts(steps)
    curves: dict[int, list[float]] = {}
    for event, state in enumerate(walk.states):
        if state in asked:
            own = states[event]
            known = curves.get(own)
            if known is None:
                whole = curve(own)
                known = curves[own] = [whole[each] for each in steps]
            found.put(event, known)
    return found


def corrections(forecasts: Forecasts, ahead: Ahead, until: int) -> dict[int, Correction | None]:
    """By horizon, fitted to the forecasts whose outcome was known before `until`."""
    found: dict[int, Correction | None] = {}
    for steps in forecasts.by_steps:
        known = forecasts.predictions(ahead, steps, until=until)
        counts, hits = [0] * BINS, [0] * BINS
        for probability, outcome in zip(known.probabilities, known.outcomes):
            counts[bin_of(probability)] += 1
            hits[bin_of(probability)] += outcome
        found[steps] = fitted(counts, hits)
    return found
