"""How likely a match of one key is now, told to whoever asks; asking changes nothing, so it is in no log.

"Now" is right after the key's last event: that is what a forecast would have said then, to the last digit, whether it
was told or not. Estimates lag behind counts within a tolerance, and looking brings them up to date; so what is asked is
asked of copies, and an engine that was asked goes on as one that was not.

Other horizons than the subscription's own are answered from the same chain. They have no account, so nobody knows
whether they are calibrated.

Here: from a key to an answer. Not here: what the engine looks at by itself (outlook).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from mypy_extensions import i64

from ...events.errors import DefinitionError, shown
from ...events.schema import Row, Schema
from ...forecast.pending import Queue
from ...forecast.place import Place
from ...forecast.uncertainty import around
from ...forecast.varying import check_varying
from ..index.spaces import Key
from . import joint
from .combination import Combination
from .outlook import Outlook
from .pace import Pace
from .plan import Plan
from .scope import Pulse
from .settings import read_horizon
from .states import NONE, States
from .track import FOREVER, Spot, Track

Value: TypeAlias = str | int | float | bool


class Probability(NamedTuple):
    """How likely the next match of a key is within a horizon, counted from the key's last event.

    `lower`, `upper`: where the probability is thought to lie with nine chances in ten. `state` of the chain, with its
    `label`. `effective`: how many transitions stand behind that state. `calibrated`: whether what was said of such
    states and this horizon has proved no worse than the base rate; None while that is not known. `time`: of the last
    event; None where the key has none. `run`: the key as forecasts name it.
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
        return self._asdict()


def key_of(values: object, schema: Schema, positions: tuple[int, ...]) -> Key:
    """A key as a program or a person writes it: one value, or a list of them in the order of `positions`; None for all
    the stream's events. A text stands for a number too. Raises DefinitionError."""
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


def ask(outlook: Outlook, key: object, within: object) -> Probability:
    """`key` as in `key_of`; `within` as a subscription says it, None for its own horizon.

    Raises DefinitionError or LimitExceeded for what cannot be answered. O(levels x states + horizon x edges), where
    values of the context vary for each of their marks.
    """
    settings, scope = outlook.settings, outlook.scope
    key, row = _found(outlook, key)
    steps, duration = (settings.steps, settings.duration) if within is None else read_horizon(within)
    own = (steps, duration) == (settings.steps, settings.duration)
    if not own and outlook.combination is not None:
        raise DefinitionError("within: forecasts that are put together from parts have one horizon: expected none")
    if duration and outlook.clock is None:
        raise DefinitionError("within: expected a number of events: times between events are measured for who asks")
    if not own:
        check_varying(settings.context, [outlook.states.shape.states], steps)
    known = scope.pulses.get(key)
    pulse = Pulse(key) if known is None else known
    track = _aside(outlook, pulse)
    place = track.place
    assert place is not None
    before, reached = (scope.row, scope.time), outlook.forecaster.horizon
    scope.row, scope.time = row, pulse.time  # as if the key's last event were at hand
    try:
        if outlook.combination is not None:
            computed, low, high, effective = _joint(outlook, outlook.combination, track)
            begun = track.state == outlook.final or not outlook.combination.idle(track, scope.time)
        else:
            computed, low, high = _alone(outlook, track, place, steps, duration)
            effective, begun = place.effective(track.state), track.state != NONE
        label = outlook.label(track)
    finally:
        scope.row, scope.time = before
        outlook.forecaster.horizon = reached
    calibrated = None
    if own:
        computed, low, high = map(outlook.account.corrected, (computed, low, high))
        if begun:
            calibrated = outlook.account.calibrated(track.state == outlook.final)
    asked: Any = settings.written["within"] if within is None else within
    state = int(track.state)
    time = None if known is None else int(pulse.time)
    return Probability(computed, low, high, asked, state, label, effective, calibrated, time, pulse.run)


def _found(outlook: Outlook, given: object) -> tuple[Key, Row]:
    """The key, and a row of its stream in which nothing but its values is known."""
    form = outlook.subscriber.form
    assert isinstance(form.plan, Plan)
    stream, positions = form.plan.positions[0]
    schema = dict(form.sources)[stream]
    assert schema is not None
    key = key_of(given, schema, positions)
    row: list[Any] = [None] * len(schema)
    for position, value in zip(positions, key if isinstance(key, tuple) else (key,)):
        row[position] = value
    return key, tuple(row)


def _aside(outlook: Outlook, pulse: Pulse) -> Track:
    """A copy of where the subscription is for the key, on estimates of its own."""
    known = pulse.tracks.get(outlook.number)
    place = None if known is None else known.place
    context = pulse.contexts.get(outlook.group.number) if outlook.group is not None else ()
    own = outlook.forecaster.aside(context) if place is None else place.aside()
    found = Track(outlook, pulse, own, pulse.events, 0, Queue(), Queue())
    if known is not None:
        found.state, found.waiting, found.moments = known.state, known.waiting, known.moments
    combination = outlook.combination
    if combination is not None:
        spots = [] if known is None else known.spots
        for number, part in enumerate(combination.parts):
            spot = spots[number] if spots else None
            at = None if spot is None or spot.place is None else spot.place
            copy = Spot(part.forecaster.aside(()) if at is None else at.aside(), not combination.phased or number == 0)
            if spot is not None:
                copy.state, copy.done, copy.on = spot.state, spot.done, spot.on
            found.spots.append(copy)
    return found


def _alone(outlook: Outlook, track: Track, place: Place, steps: int, duration: int) -> tuple[float, float, float]:
    """The probability within a horizon, and its interval."""
    state = track.state
    if steps:
        return place.over(state, steps), *place.interval(state, steps)
    pace = Pace(duration)
    if outlook.pace is not None and outlook.pace.horizon == duration:
        pace.known = dict(outlook.pace.known)
    chance = outlook.within_time(track, place, pace, track.pulse.time, _until(track, outlook.states))
    reached = outlook.forecaster.horizon
    return chance, *around(chance, place.over(state, reached), *place.interval(state, reached))


def _until(track: Track, states: States) -> i64:
    """The last moment at which the chain's state is sure, without letting go of anything (progress.furthest)."""
    state = int(track.state)
    if state in (NONE, states.final) or not track.moments:
        return FOREVER
    live = [e for e in range(1, len(states.left)) if state >> (e - 1) & 1] if states.sets else [state]
    return min([max(track.moments[e], default=FOREVER) for e in live])


def _joint(outlook: Outlook, whole: Combination, track: Track) -> tuple[float, float, float, float]:
    """What the parts' chains say together, its interval, and what stands behind it."""
    time = outlook.scope.time
    clock, horizons = whole.clock, [part.forecaster.horizon for part in whole.parts]
    measured = {} if clock is None else dict(clock.known)
    try:
        chance = joint.probability(whole, track, time)
        low, high = joint.spread(whole, track, time, chance)
        return chance, low, high, whole.effective(track, time)
    finally:
        if clock is not None:
            clock.known = measured
        for part, horizon in zip(whole.parts, horizons):
            part.forecaster.horizon = horizon
