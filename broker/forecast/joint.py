"""The joint forecast of a subscription's parts: its probability, and between which bounds it is.

AND is the later of the parts' completions, OR the earlier; one that has completed counts as 1, and where all have, the
next match is the next completion of any. A sequence is what is left of the phase at work and then, from their starts,
all later ones. That parts are independent is an assumption: they read the same events. However they depend on each
other, AND and OR lie within Frechet's bounds, a sequence between 0 and what its phase alone says, in time for the least
that must still follow.

Here: from the parts' chains to numbers. Not here: where the parts are (combination), arithmetic of curves (combining).
"""

from __future__ import annotations

from math import sqrt
from typing import Final, final

from mypy_extensions import i64

from ..events.instant import FOREVER
from .combination import Combination
from .combining import both, both_bounds, either, either_bounds
from .context_chain import ContextChain
from .horizon import usable, within_time
from .key_state import KeyState
from .series import SeriesChain, in_series, joined
from .uncertainty import interval, standard_error

SERIES_MAX: Final = 1_000
"""Series of chains that are kept, by context; then all are made again."""


@final
class WayToMatch:
    """What a match takes: `awaited` are the parts, in a sequence the phase at work first, that must complete, or of
    which one is enough (`any_suffices`). `held`: what others have completed must not become too old."""

    __slots__ = ("any_suffices", "awaited", "held")

    def __init__(self, awaited: list[int], any_suffices: bool, held: bool) -> None:
        self.awaited = awaited
        self.any_suffices = any_suffices
        self.held = held


def _ways(whole: Combination, state: KeyState, time: i64) -> list[WayToMatch]:
    """How the next match may come: with what has completed, and where that may become too old, anew without it."""
    held = whole.held(state, time)
    found = [WayToMatch(whole.awaited(state, time), whole.any_suffices(state, time), held)]
    if held:
        found.append(WayToMatch(list(range(len(whole.parts))), False, False))
    return found


def probability(whole: Combination, state: KeyState, time: i64) -> float:
    """P(a match within the horizon) if the parts are independent. O(parts) for a horizon in events where nothing waits
    for the end of a window and no estimate has moved, else O(parts x horizon).

    Of the ways that there are the likelier one counts: they need much the same events.
    """
    return max([_chance(whole, state, time, way) for way in _ways(whole, state, time)])


def bounds(whole: Combination, state: KeyState, time: i64) -> tuple[float, float]:
    """Between which the probability is, however the parts depend on each other. O(parts x horizon)."""
    least, most = 0.0, 0.0
    for way in _ways(whole, state, time):
        low, high = _bounds(whole, state, time, way)
        least, most = max(least, low), most + high
    return least, min(most, 1.0)


def spread(whole: Combination, state: KeyState, time: i64, chance: float) -> tuple[float, float]:
    """Where the probability, which was found to be `chance`, is thought to lie by what stands behind the chains' rows:
    over the horizon's events, as if no window ended.

    To first order, independent parts err independently. O(parts x horizon x edges).
    """
    awaited, any_suffices = whole.awaited(state, time), whole.any_suffices(state, time)
    horizon = whole.parts[0].forecaster.horizon
    if whole.phased and len(awaited) > 1:
        found = _series(whole, state)
        _, series = joined([level.chain() for level in found.levels])
        return interval(chance, standard_error(series, found.passage, _phase(state, found, awaited[0]), horizon))
    chances: list[float] = []
    errors: list[float] = []
    for number in awaited:
        own_state, chain = int(state.parts[number].state), _chain(state, number)
        own = chain.over(own_state, horizon)
        chances.append(1.0 - own if any_suffices else own)
        errors.append(chain.error(own_state, horizon))
    variance = 0.0
    for at, error in enumerate(errors):
        others = 1.0
        for other, own in enumerate(chances):
            if other != at:
                others *= own
        variance += (others * error) ** 2
    return interval(chance, sqrt(variance))


def _chance(whole: Combination, state: KeyState, time: i64, way: WayToMatch) -> float:
    awaited = way.awaited
    if way.held or whole.arrivals is not None:
        return _within(whole, state, time, way, _curve(whole, state, time, way))
    if whole.phased and len(awaited) > 1:
        found = _series(whole, state)
        return found.passage.next(_phase(state, found, awaited[0]), found.horizon)
    chance = 1.0
    for number in awaited:
        own = _chain(state, number).within(state.parts[number].state)
        chance *= 1.0 - own if way.any_suffices else own
    return 1.0 - chance if way.any_suffices else chance


def _bounds(whole: Combination, state: KeyState, time: i64, way: WayToMatch) -> tuple[float, float]:
    awaited = way.awaited
    if whole.phased:
        _reach(whole, state)
        alone = _alone(state, awaited[0])
        if len(awaited) == 1:
            only = _within(whole, state, time, way, alone)
            return only, only
        least = 0
        for number in awaited[1:]:
            least += whole.parts[number].least
        late = [0.0] * min(least, len(alone)) + alone[: max(0, len(alone) - least)]
        return 0.0, _within(whole, state, time, way, late)
    curves = _curves(whole, state, time, way)
    low, high = either_bounds(curves) if way.any_suffices else both_bounds(curves)
    return _within(whole, state, time, way, low), _within(whole, state, time, way, high)


# --- curves over events ---------------------------------------------------------------------------------------------


def _curve(whole: Combination, state: KeyState, time: i64, way: WayToMatch) -> list[float]:
    awaited = way.awaited
    if whole.phased:
        _reach(whole, state)
        if len(awaited) == 1:
            return _alone(state, awaited[0])
        found = _series(whole, state)
        return found.passage.curve(_phase(state, found, awaited[0]))
    curves = _curves(whole, state, time, way)
    return either(curves) if way.any_suffices else both(curves)


def _curves(whole: Combination, state: KeyState, time: i64, way: WayToMatch) -> list[list[float]]:
    """Each part's own. What is beyond the end of a window counts for nothing."""
    found: list[list[float]] = []
    fits = _reach(whole, state)
    for number in way.awaited:
        curve = _alone(state, number)
        rest = _rest(whole, state, time, whole.window(state, number, time, way.held))
        if rest is not None and whole.arrivals is None:
            curve = _cut(curve, rest)
        elif rest is not None:
            in_all = within_time(curve, fits)
            share = min(within_time(curve, rest) / in_all, 1.0) if in_all > 0.0 else 0.0
            curve = [chance * share for chance in curve]
        found.append(curve)
    return found


def _alone(state: KeyState, number: i64) -> list[float]:
    chain = _chain(state, number)
    return chain.curve(int(state.parts[number].state))[: chain.frame.horizon + 1]


def _rest(whole: Combination, state: KeyState, time: i64, until: i64) -> list[float] | None:
    """How many events come until a moment, or within the horizon if that is sooner; None where there is no such."""
    clock = whole.clock
    if clock is None or until == FOREVER:
        return None
    remaining = usable(whole.duration or None, int(until), int(time))
    return clock.fits(state.key, whole.stream, remaining or 0)


def _cut(curve: list[float], fits: list[float]) -> list[float]:
    """A curve over events of which n come in time with the chance fits[n], and none that is not there."""
    found = [curve[0]]
    for n in range(1, len(curve)):
        found.append(found[n - 1] + ((curve[n] - curve[n - 1]) * fits[n] if n < len(fits) else 0.0))
    return found


def _reach(whole: Combination, state: KeyState) -> list[float]:
    """How many events come within a horizon in time; curves are to be as long as that."""
    if whole.arrivals is None:
        return []
    fits = whole.arrivals.fits(state.key, whole.stream, whole.duration)
    for part in whole.parts:
        if len(fits) > part.forecaster.horizon:
            part.forecaster.reach(len(fits))
    return fits


def _within(whole: Combination, state: KeyState, time: i64, way: WayToMatch, curve: list[float]) -> float:
    """The probability within the horizon, from a curve over events."""
    rest: list[float] | None = None
    if whole.phased:
        rest = _rest(whole, state, time, whole.window(state, way.awaited[0], time, way.held))
    if whole.arrivals is not None:
        return within_time(curve, _reach(whole, state) if rest is None else rest)
    return curve[-1] if rest is None else _cut(curve, rest)[-1]


def _series(whole: Combination, state: KeyState) -> SeriesChain:
    """The series of all phases' chains."""
    chains = [_chain(state, number) for number in range(len(state.parts))]
    key = tuple([chain.context for chain in chains])
    found = whole.series.get(key)
    if found is None or not found.fresh(chains):
        if len(whole.series) >= SERIES_MAX:
            whole.series.clear()
        found = whole.series[key] = in_series(chains)
    return found


def _phase(state: KeyState, found: SeriesChain, number: i64) -> int:
    """The number of a phase's state in the series."""
    return found.begins[number] + int(state.parts[number].state)


def _chain(state: KeyState, number: i64) -> ContextChain:
    chain = state.parts[number].chain
    assert chain is not None
    return chain
