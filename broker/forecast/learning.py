"""Models of what subscriptions have learnt, models that were trained elsewhere, and judges of all forecasts.

Here: all subscriptions at once. Not here: counts of one version (versions), a model's file (model_file), the work of a
judge (judging).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..events.errors import DefinitionError
from .counts import Context
from .forecaster import Forecaster
from .judging import Judge
from .key_state import KeyState
from .model_file import Model
from .states import NONE
from .subscription import SubscriptionForecaster
from .versions import check_version, continued, count_stays, counts_of, others

Forecasters: TypeAlias = Mapping[str, SubscriptionForecaster]  # by the name of the subscription


def model_of(subscriptions: Forecasters, trained: Model) -> Model:
    """All counts, measured and loaded, with the events that have passed keys by until now. O(counts + keys).

    It changes nothing: forecasts continue as if the model had not been taken.
    """
    forecasters = [each for own in subscriptions.values() for each in own.forecasters()]
    found = Model(others(trained.counts, {each.version for each in forecasters}))
    for (version, known), gaps in trained.gaps.items():
        found.gaps_of(version, known).merge(gaps)  # a key has only the gaps that were measured here
    for forecaster in forecasters:
        found.counts.merge(forecaster.counts)
    for each in subscriptions.values():
        for key in each.stream.keys.values():
            if key.gaps is not None and each.clock is not None:
                found.gaps_of(each.forecaster.version, (key.run,)).merge(key.gaps)
            state = key.states.get(each.number)
            if state is None and each.values:
                continue
            passed = key.events - (each.bases.get(key.key, 0) if state is None else state.seen)
            if passed > 0:
                for forecaster, at, context in _staying(each, state):
                    count_stays(found.counts, forecaster, context, at, int(key.time), int(passed))
    return found


def _staying(subscription: SubscriptionForecaster, state: KeyState | None) -> list[tuple[Forecaster, int, Context]]:
    """The forecasters, with state and context, that count the events passing by a state of a key, or of no key."""
    found = [] if subscription.combination is None else subscription.combination.staying(state)
    if state is None:
        found.append((subscription.forecaster, NONE, ()))
    elif state.chain is not None:
        found.append((subscription.forecaster, int(state.state), state.chain.context))
    return found


def load_model(subscriptions: Forecasters, trained: Model, model: Model) -> None:
    """Add a model to these subscriptions, and to what was trained. Raises DefinitionError if it is of another version
    of a subscription; a refused model changes nothing."""
    for name, each in subscriptions.items():
        check_version(model, name, each.forecaster.version)
        for forecaster in each.forecasters():
            continued(model.counts, forecaster.version, each.settings.half_life)
    trained.merge(model)
    for each in subscriptions.values():
        for forecaster in each.forecasters():
            forecaster.absorb(counts_of(model.counts, forecaster.version))
        load_gaps(model, each)


def load_gaps(model: Model, subscription: SubscriptionForecaster) -> None:
    """Count the gaps that were measured elsewhere for all keys."""
    if subscription.clock is not None:
        for (version, _), gaps in model.gaps.items():
            if version == subscription.forecaster.version:
                subscription.stream.gaps.merge(gaps)


def judges_of(subscriptions: Forecasters, horizons: Sequence[int], model: Model | None = None) -> dict[str, Judge]:
    """Judge every forecast from now on over these horizons, in events; returns a judge by subscription.

    With a model its forecasts are judged, otherwise the engine's. Judges are not in snapshots; the caller closes them
    at the end. Raises DefinitionError if forecasts are combined from parts, which have one horizon only.
    """
    found: dict[str, Judge] = {}
    for name, each in subscriptions.items():
        if each.combination is not None:
            raise DefinitionError(
                f"subscription {name!r}: forecasts that are put together from parts are not judged over other"
                " horizons: expected forecast.parts = false"
            )
        steps, form, version = max(horizons, default=1), each.forecaster.form, each.forecaster.version
        own: Forecaster | None = None
        if model is not None:
            settings = replace(each.settings, steps=steps)
            own = settings.forecaster(version, form, counts_of(model.counts, version))
        found[name] = Judge(horizons, each.effective, own)
    for name, judge in found.items():
        subscriptions[name].judge = judge
    return found
