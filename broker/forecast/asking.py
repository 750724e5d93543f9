"""The present probability of a match of one key, for a client that asks.

Asking changes nothing, so no journal records it.

"Now" is right after the key's last event: the answer equals, to the last digit, a forecast made at that time, reported
or not. Estimates lag behind counts within a tolerance, and using them brings them up to date. So copies are used, and
the question does not affect the engine.

The same chain answers other horizons than the subscription's own. These answers are not verified, so their calibration
is unknown.

Here: from a key to an answer. Not here: unasked forecasts (subscription).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from ..events.errors import DefinitionError, shown
from ..events.instant import FOREVER
from ..events.schema import Row, Schema
from . import joint
from .combination import Combination
from .context_chain import ContextChain
from .inter_arrival import InterArrivals
from .key_state import KeyState
from .keyed_stream import Key, StreamKey
from .pending import PredictionQueue
from .plan import ForecastPlan
from .settings import read_horizon
from .states import NONE, States
from .subscription import SubscriptionForecaster
from .uncertainty import around

Value: TypeAlias = str | int | float | bool


class Probability(NamedTuple):
    """The probability that the next match of a key is within a horizon, counted from the key's last event.

    `lower`, `upper`: the probability lies between them with a confidence of nine in ten. `state` of the chain, with its
    `label`. `effective`: the number of transitions behind that state. `calibrated`: whether forecasts from such states
    over this horizon have proved no worse than the base rate; None while that is not known. `time`: of the last event;
    None if the key has had none since the subscription came. `run`: the key as forecasts name it.
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
        """The probability as one JSON object."""
        return self._asdict()


def key_of(values: object, schema: Schema, positions: tuple[int, ...]) -> Key:
    """A key as a program or a person writes it: one value, or a list of values in the order of `positions`.

    None stands for all the stream's events. A text stands for a number too. Raises DefinitionError.
    """
    given: Sequence[object] = list(values) if isinstance(values, list | tuple) else [] if values is None else [values]
    names = [schema.names[position] for position in positions]
    if len(given) != len(positions):
        wanted = f"the values of {', '.join(names)}" if names else "none, as one chain serves the whole stream"
        raise DefinitionError(f"key: expected {wanted}, found {shown(values)}")
    found = [_value(name, schema.attributes[at].type, one) for name, at, one in zip(names, positions, given)]
    return found[0] if len(found) == 1 else tuple(found)


def _value(name: str, kind: str, given: object) -> Value:
    match given:
        case str() if kind == "string":
            return given
        case bool() if kind == "bool":
            return given
        case "true" | "false" if kind == "bool":
            return given == "true"
        case int() if kind in ("int", "float") and not isinstance(given, bool):
            return given
        case float() if kind == "float":
            return given
        case str() if kind in ("int", "float"):
            try:
                return int(given) if kind == "int" else float(given)
            except ValueError:
                pass
    raise DefinitionError(f"key: {name}: expected a value of type {kind}, found {shown(given)}")


def probability_of(
    subscription: SubscriptionForecaster, plan: ForecastPlan, schema: Schema, key: object, within: object
) -> Probability:
    """The answer. `plan`: the subscription's; `schema`: of the first stream that it counts; `key` as in `key_of`;
    `within` as in a subscription's text, None for its own horizon.

    Raises DefinitionError if there is no answer. O(levels x states + horizon x edges).
    """
    settings, stream, combination = subscription.settings, subscription.stream, subscription.combination
    positions = plan.positions[0][1]
    key = key_of(key, schema, positions)
    row = _row(key, schema, positions)
    steps, duration = (settings.steps, settings.duration) if within is None else read_horizon(within)
    own = (steps, duration) == (settings.steps, settings.duration)
    if not own and combination is not None:
        raise DefinitionError("within: forecasts that are put together from parts have one horizon: expected none")
    if duration and subscription.clock is None:
        raise DefinitionError("within: expected a number of events: times between events are measured for who asks")
    known = stream.keys.get(key)
    state = _aside(subscription, StreamKey(key) if known is None else known)
    chain = state.chain
    assert chain is not None
    before, reached = (stream.row, stream.time), subscription.forecaster.horizon
    stream.row, stream.time = row, state.key.time  # as if the key's last event were the current one
    matched = state.state == subscription.final
    try:
        if combination is not None:
            computed, low, high = _joint(combination, state, int(stream.time))
            begun = matched or not combination.idle(state, stream.time)
        else:
            computed, low, high = _alone(subscription, plan.states, state, chain, steps, duration)
            begun = state.state != NONE
        effective, label = subscription.transitions_behind(state, chain), subscription.label(state)
    finally:
        stream.row, stream.time = before
        subscription.forecaster.horizon = reached
    calibrated = None
    if own:
        verification = subscription.verification
        computed, low, high = (verification.corrected(chance, matched) for chance in (computed, low, high))
        if begun:
            calibrated = verification.calibrated(matched)
    asked: Any = settings.written["within"] if within is None else within
    heard = known is not None and known.time > subscription.since  # others may have heard of the key before
    time = int(state.key.time) if heard else None
    return Probability(computed, low, high, asked, int(state.state), label, effective, calibrated, time, state.key.run)


def _row(key: Key, schema: Schema, positions: tuple[int, ...]) -> Row:
    """A row of the stream with only the key's values."""
    row: list[Any] = [None] * len(schema)
    for position, value in zip(positions, key if isinstance(key, tuple) else (key,)):
        row[position] = value
    return tuple(row)


def _aside(subscription: SubscriptionForecaster, key: StreamKey) -> KeyState:
    """A copy of the subscription's state for the key, with its own estimates."""
    known = key.states.get(subscription.number)
    chain = None if known is None else known.chain
    context = key.contexts.get(subscription.group.number) if subscription.group is not None else ()
    own = subscription.forecaster.aside(context) if chain is None else chain.aside()
    found = KeyState(subscription, key, own, key.events, 0, PredictionQueue())
    if known is not None:
        found.state, found.waiting, found.moments = known.state, known.waiting, known.moments
    if subscription.combination is not None:
        found.parts = subscription.combination.aside([] if known is None else known.parts)
    return found


def _alone(
    subscription: SubscriptionForecaster,
    states: States,
    state: KeyState,
    chain: ContextChain,
    steps: int,
    duration: int,
) -> tuple[float, float, float]:
    """The probability within a horizon, and its interval."""
    at = int(state.state)
    if steps:
        return chain.over(at, steps), *chain.interval(at, steps)
    arrivals = InterArrivals(duration)
    if subscription.arrivals is not None and subscription.arrivals.horizon == duration:
        arrivals.known = dict(subscription.arrivals.known)
    chance = subscription.within_time(state, chain, arrivals, state.key.time, _until(state, states))
    reached = subscription.forecaster.horizon
    return chance, *around(chance, chain.over(at, reached), *chain.interval(at, reached))


def _until(state: KeyState, states: States) -> int:
    """The last moment at which the chain's state is sure, without dropping anything (unlike KeyState.until)."""
    at = int(state.state)
    if at in (NONE, states.final) or not state.moments:
        return FOREVER
    live = [e for e in range(1, len(states.left)) if at >> (e - 1) & 1] if states.sets else [at]
    return min([max(state.moments[e], default=FOREVER) for e in live])


def _joint(whole: Combination, state: KeyState, time: int) -> tuple[float, float, float]:
    """The combined probability of the parts' chains, and its interval."""
    clock, horizons = whole.clock, [part.forecaster.horizon for part in whole.parts]
    measured = {} if clock is None else dict(clock.known)
    try:
        chance = joint.probability(whole, state, time)
        return chance, *joint.spread(whole, state, time, chance)
    finally:
        if clock is not None:
            clock.known = measured
        for part, horizon in zip(whole.parts, horizons):
            part.forecaster.horizon = horizon
