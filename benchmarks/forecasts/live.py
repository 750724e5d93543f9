"""Law: forecasts along a walk, each made before anything later is counted; how good they were is not judged here.

`forecast` goes through the events in their order, as the engine does: the step to an event is counted in the context
of the one before, then the probability at the event is asked for. Up to `learn_until` it learns; a model that is
frozen afterwards is what was trained. Correction is fitted to forecasts whose outcome was known before a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final, final

from broker.forecast.calibration import BINS, bin_of
from broker.forecast.chain import Shape
from broker.forecast.counts import Counts
from broker.forecast.forecaster import Forecaster, Place
from broker.forecast.isotonic import Correction, fitted

from .scores import Predictions
from .walks import Ahead, Walk

VERSION: Final = "benchmark"


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


def forecast(
    walk: Walk,
    form: Shape,
    steps: Sequence[int],
    asked: Collection[int],
    parts: int,
    keyed: bool,
    learn_until: int | None = None,
    half_life: int | None = None,
    counts: Counts | None = None,
) -> Forecasts:
    """Forecasts at every event whose state is asked for; `parts` and `keyed` are of the walk's contexts. O(events).

    `counts`: where to, to be looked at afterwards.
    """
    counts = Counts(half_life) if counts is None else counts
    forecaster = Forecaster(VERSION, form, max(steps), counts, parts=parts, keyed=keyed)
    found = Forecasts(steps)
    places: list[Place | None] = [None] * len(walk.names)
    last = [0] * len(walk.names)
    where: list[object] = [None] * len(walk.names)
    for event, run in enumerate(walk.runs):
        time, state, context = walk.times[event], walk.states[event], walk.contexts[event]
        counts.clock.move(time)
        place = places[run]
        if place is not None and (learn_until is None or time < learn_until):
            place.step(last[run], state)
        if place is None or where[run] != context:
            place = places[run] = forecaster.place(context)
            where[run] = context
        last[run] = state
        if state in asked:
            passage = place.passage()
            found.put(event, [passage.next(state, each) for each in steps])
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
