"""What the chains of a subscription's parts say together: probabilities, how far off these can be, and why.

AND is the later of the parts' completions, OR the earlier; one that has completed counts as 1, and where all have, the
next match is the next completion of any. A sequence is what is left of the phase at work and then, from their starts,
all later ones. That parts are independent is an assumption: they read the same events. Whatever they have to do with
each other, AND and OR lie within Frechet's bounds, a sequence between 0 and what its phase alone says, in time for the
least that must still follow.

Here: from places to numbers. Not here: where the parts are (combination), curves themselves (broker.forecast).
"""

from __future__ import annotations

from math import sqrt
from typing import Final, final

from mypy_extensions import i64

from ...forecast.combining import both, both_bounds, either, either_bounds
from ...forecast.horizon import usable, within_time
from ...forecast.place import Place
from ...forecast.uncertainty import interval, standard_error
from .combination import Combination
from .serial import Serial, joined, serial
from .states import NONE
from .track import FOREVER, Track

SERIALS_MAX: Final = 1_000
"""Sequences of chains that are kept, by context; then all are made again."""


@final
class Question:
    """What a match takes: `asked` are the parts, in a sequence the phase at work first, that must complete, or of which
    one is enough (`union`). `held`: what others have completed must not become too old."""

    __slots__ = ("asked", "held", "union")

    def __init__(self, asked: list[int], union: bool, held: bool) -> None:
        self.asked = asked
        self.union = union
        self.held = held


def _questions(whole: Combination, track: Track, time: i64) -> list[Question]:
    """How the next match may come: with what has completed, and where that may become too old, anew without it."""
    held = whole.held(track, time)
    found = [Question(whole.asked(track, time), whole.union(track, time), held)]
    if held:
        found.append(Question(list(range(len(whole.parts))), False, False))
    return found


def probability(whole: Combination, track: Track, time: i64) -> float:
    """P(a match within the horizon) if the parts are independent. O(parts) for a horizon in events where nothing waits
    for the end of a window and no estimate has moved, else O(parts x horizon).

    Of the ways that there are the likelier one is said: they need much the same events.
    """
    return max([_chance(whole, track, time, question) for question in _questions(whole, track, time)])


def bounds(whole: Combination, track: Track, time: i64) -> tuple[float, float]:
    """Between which the probability is, whatever the parts have to do with each other. O(parts x horizon)."""
    least, most = 0.0, 0.0
    for question in _questions(whole, track, time):
        low, high = _bounds(whole, track, time, question)
        least, most = max(least, low), most + high
    return least, min(most, 1.0)


def spread(whole: Combination, track: Track, time: i64, chance: float) -> tuple[float, float]:
    """Where the probability, which was found to be `chance`, is thought to lie by what stands behind the chains' rows:
    over the horizon's events, as if no window ended.

    To first order, independent parts err independently. O(parts x horizon x edges).
    """
    asked, union = whole.asked(track, time), whole.union(track, time)
    horizon = whole.parts[0].forecaster.horizon
    if whole.phased and len(asked) > 1:
        found = _serial(whole, track)
        _, chain = joined([source.chain() for source in found.sources], found.starts)
        return interval(chance, standard_error(chain, found.passage, _phase(track, found, asked[0]), horizon))
    chances: list[float] = []
    errors: list[float] = []
    for number in asked:
        own_state, place = int(track.spots[number].state), _place(track, number)
        own = place.over(own_state, horizon)
        chances.append(1.0 - own if union else own)
        errors.append(place.error(own_state, horizon))
    variance = 0.0
    for at, error in enumerate(errors):
        others = 1.0
        for other, own in enumerate(chances):
            if other != at:
                others *= own
        variance += (others * error) ** 2
    return interval(chance, sqrt(variance))


def _chance(whole: Combination, track: Track, time: i64, question: Question) -> float:
    asked = question.asked
    if question.held or whole.pace is not None:
        return _within(whole, track, time, question, _curve(whole, track, time, question))
    if whole.phased and len(asked) > 1:
        found = _serial(whole, track)
        return found.passage.next(_phase(track, found, asked[0]), found.horizon)
    chance = 1.0
    for number in asked:
        own = _place(track, number).within(track.spots[number].state)
        chance *= 1.0 - own if question.union else own
    return 1.0 - chance if question.union else chance


def _bounds(whole: Combination, track: Track, time: i64, question: Question) -> tuple[float, float]:
    asked = question.asked
    if whole.phased:
        _reach(whole, track)
        alone = _alone(track, asked[0])
        if len(asked) == 1:
            only = _within(whole, track, time, question, alone)
            return only, only
        least = 0
        for number in asked[1:]:
            least += whole.parts[number].states.left[NONE]
        late = [0.0] * min(least, len(alone)) + alone[: max(0, len(alone) - least)]
        return 0.0, _within(whole, track, time, question, late)
    curves = _curves(whole, track, time, question)
    low, high = either_bounds(curves) if question.union else both_bounds(curves)
    return _within(whole, track, time, question, low), _within(whole, track, time, question, high)


# --- curves over events ---------------------------------------------------------------------------------------------


def _curve(whole: Combination, track: Track, time: i64, question: Question) -> list[float]:
    asked = question.asked
    if whole.phased:
        _reach(whole, track)
        if len(asked) == 1:
            return _alone(track, asked[0])
        found = _serial(whole, track)
        return found.passage.curve(_phase(track, found, asked[0]))
    curves = _curves(whole, track, time, question)
    return either(curves) if question.union else both(curves)


def _curves(whole: Combination, track: Track, time: i64, question: Question) -> list[list[float]]:
    """Each part's own. What is beyond the end of a window counts for nothing."""
    found: list[list[float]] = []
    fits = _reach(whole, track)
    for number in question.asked:
        curve = _alone(track, number)
        rest = _rest(whole, track, time, whole.window(track, number, time, question.held))
        if rest is not None and whole.pace is None:
            curve = _cut(curve, rest)
        elif rest is not None:
            in_all = within_time(curve, fits)
            share = min(within_time(curve, rest) / in_all, 1.0) if in_all > 0.0 else 0.0
            curve = [chance * share for chance in curve]
        found.append(curve)
    return found


def _alone(track: Track, number: i64) -> list[float]:
    place = _place(track, number)
    return place.curve(int(track.spots[number].state))[: place.forecaster.horizon + 1]


def _rest(whole: Combination, track: Track, time: i64, until: i64) -> list[float] | None:
    """How many events come until a moment, or within the horizon if that is sooner; None where there is no such."""
    clock = whole.clock
    if clock is None or until == FOREVER:
        return None
    remaining = usable(whole.duration or None, int(until), int(time))
    return clock.fits(track.pulse, whole.scope, remaining or 0)


def _cut(curve: list[float], fits: list[float]) -> list[float]:
    """A curve over events of which n come in time with the chance fits[n], and none that is not there."""
    found = [curve[0]]
    for n in range(1, len(curve)):
        found.append(found[n - 1] + ((curve[n] - curve[n - 1]) * fits[n] if n < len(fits) else 0.0))
    return found


def _reach(whole: Combination, track: Track) -> list[float]:
    """How many events come within a horizon in time; curves are to be as long as that."""
    if whole.pace is None:
        return []
    fits = whole.pace.fits(track.pulse, whole.scope, whole.duration)
    for part in whole.parts:
        if len(fits) > part.forecaster.horizon:
            part.forecaster.reach(len(fits))
    return fits


def _within(whole: Combination, track: Track, time: i64, question: Question, curve: list[float]) -> float:
    """The probability within the horizon, from a curve over events."""
    rest: list[float] | None = None
    if whole.phased:
        rest = _rest(whole, track, time, whole.window(track, question.asked[0], time, question.held))
    if whole.pace is not None:
        return within_time(curve, _reach(whole, track) if rest is None else rest)
    return curve[-1] if rest is None else _cut(curve, rest)[-1]


def _serial(whole: Combination, track: Track) -> Serial:
    """The chain of all phases one after the other, at the places of the track."""
    places = [_place(track, number) for number in range(len(track.spots))]
    key = tuple([place.context for place in places])
    found = whole.serials.get(key)
    if found is None or not found.fresh(places):
        if len(whole.serials) >= SERIALS_MAX:
            whole.serials.clear()
        found = whole.serials[key] = serial(places)
    return found


def _phase(track: Track, found: Serial, number: i64) -> int:
    """The number in a serial chain of where a phase is."""
    return found.begins[number] + _place(track, number).number(int(track.spots[number].state))


def _place(track: Track, number: i64) -> Place:
    place = track.spots[number].place
    assert place is not None
    return place
