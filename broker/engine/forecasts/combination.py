"""Where the parts of a large subscription are for each key, and what is counted of them.

Each part has a machine of its own, whose completions make no results, and a chain of its own. Of AND and OR they go on
side by side. Of a sequence one is on, and takes events, once those before it have completed one after the other: so
what it has begun before is not its. With WITHIN a completion is of use until the window of its first event ends; then
what followed it is forgotten.

Here: the parts' steps. Not here: which parts there are (parts), what their chains say together (joint).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from mypy_extensions import i64

from ...automaton.machines.tree import Dividing
from ...forecast.counts import Context, Counts
from ...forecast.forecaster import Forecaster
from ...forecast.varying import varying_of
from ..dispatch.lanes import Lane
from ..dispatch.matchers import Matcher
from ..executors.matches import MatchSource
from ..watcher import Follower
from .pace import Pace
from .parts import Division, PartPlan
from .progress import Progress
from .scope import Scope
from .serial import Serial
from .settings import Settings
from .states import NONE, States
from .track import FOREVER, NEVER, Observer, Spot, Track


@final
class Part(Follower):
    """One part: its machine and its chain. The counts are its own, so that models name them apart."""

    def __init__(
        self,
        plan: PartPlan,
        version: str,
        settings: Settings,
        counts: Counts,
        lane: Lane,
        matcher: Matcher,
        positions: tuple[int, ...],
    ) -> None:
        definition = settings.context
        self.number = plan.number
        self.version = version
        self.counts = counts
        self.states: States = plan.states
        self.symbols: i64 = definition.symbols
        self.values = settings.values
        steps, keyed = max(settings.steps, 1), definition.keyed
        self.forecaster = Forecaster(
            version,
            plan.states.shape,
            steps,
            counts,
            self.values,
            keyed,
            choose=settings.choose,
            varying=varying_of(definition),
        )
        self.progress = Progress(lane, matcher, plan.states, plan.states.left, positions)
        self.combination: Combination | None = None
        matcher.follower = self

    def admits(self, time: i64) -> bool:
        assert self.combination is not None
        return self.combination.admits(self.number - 1, time)

    def completed(self, completion: MatchSource) -> None:
        assert self.combination is not None
        self.combination.completed(self.number - 1, completion)

    def touched(self) -> None:
        assert self.combination is not None
        self.combination.scope.track(self.combination.observer)


@final
class Combination:
    """The parts of one subscription. `until`: the last moment at which what was found last is sure to be so."""

    def __init__(
        self,
        division: Division,
        parts: list[Part],
        observer: Observer,
        scope: Scope,
        settings: Settings,
        pace: Pace | None,
    ) -> None:
        self.kind: Dividing = division.kind
        self.phased = division.kind == ";"
        self.within: i64 = FOREVER if division.within is None else division.within
        self.parts = parts
        self.observer = observer
        self.scope = scope
        self.duration = settings.duration
        self.pace = pace
        # What is left of a window that spans several parts is an amount of time, also where the horizon is in events.
        windowed = division.within is not None and division.kind != "OR"
        self.clock: Pace | None = Pace(division.within or 1) if windowed and pace is None else pace
        self.until: i64 = FOREVER
        self.serials: dict[tuple[Context, ...], Serial] = {}
        for part in parts:
            part.combination = self

    # --- what machines tell -------------------------------------------------------------------------------------

    def admits(self, number: i64, time: i64) -> bool:
        """Whether a part takes the event at hand: in a sequence when the parts before have completed."""
        if not self.phased or number == 0:
            return True
        pulse = self.scope.current
        track = None if pulse is None else pulse.tracks.get(self.observer.number)
        return track is not None and self.reached(track, time) >= number

    def completed(self, number: i64, completion: MatchSource) -> None:
        """The event at hand has completed a part."""
        track = self.scope.track(self.observer)
        if track is None:
            return
        spot = track.spots[number]
        spot.matched = True
        end: i64 = FOREVER
        if self.within < FOREVER:
            end = completion.one().start + self.within
        spot.completing = max(spot.completing, end)

    # --- steps --------------------------------------------------------------------------------------------------

    def begin(self) -> list[Spot]:
        """Where parts are on a key that nothing has happened to."""
        found: list[Spot] = []
        for part in self.parts:
            place = None if part.values else part.forecaster.place()
            found.append(Spot(place, not self.phased or part.number == 1))
        return found

    def reached(self, track: Track, time: i64) -> i64:
        """How many parts have completed and are of use, of OR none: of a sequence the phase, never beyond the last."""
        count: i64 = 0
        if self.kind == "OR":
            return 0
        for spot in track.spots:
            if spot.done >= time:
                count += 1
            elif self.phased:
                break
        return min(count, len(self.parts) - 1) if self.phased else count

    def step(self, track: Track) -> bool:
        """The event at hand has touched the track: a step of each part. Whether the next one ends a state whatever it
        is. O(parts)."""
        scope, pulse = self.scope, track.pulse
        row, time = scope.row, scope.time
        fleeting = False
        until: i64 = FOREVER
        reached = self.reached(track, time)
        stays: int = pulse.events - 1 - track.seen
        stepped: list[bool] = []
        for number, part in enumerate(self.parts):
            spot = track.spots[number]
            part.counts.clock_of(part.version).move(time)
            on = not self.phased or number <= reached
            following: i64 = NONE
            if on:
                following, ends = part.progress.look(row, time)
                until = min(until, part.progress.until)
                if spot.matched:
                    following, ends = part.states.final, True
                fleeting = fleeting or ends
            elif spot.on:  # what the parts before had completed is too long ago, and what followed it with it
                part.progress.forget(row)
            place = spot.place
            if place is not None and spot.on and track.seen < pulse.events:
                state: int = spot.state
                if stays > 0:
                    place.step(state, state, stays)
                    place.moved(state, place, stays)
                if on:
                    place.step(state, following, 1)
                    stepped.append(True)
            if len(stepped) <= number:
                stepped.append(False)
            spot.state = following
            if part.forecaster.choice is not None:
                if on:
                    part.forecaster.decide(pulse.run, int(pulse.events) - spot.matched, spot.matched)
                else:  # whether it would have matched nobody knows
                    part.forecaster.drop(pulse.run)
        self.until = until
        for spot in track.spots:
            if spot.matched:
                spot.matched = False
                spot.done = max(spot.done, spot.completing)
                spot.completing = NEVER
            if spot.done >= time and self.kind != "OR":
                self.until = min(self.until, spot.done)
        reached = self.reached(track, time)
        for number, part in enumerate(self.parts):
            spot = track.spots[number]
            spot.on = not self.phased or number <= reached
            if part.values:
                after = part.forecaster.place(context_after(track, spot.history, part.symbols, spot.state, scope))
                if spot.place is not None and stepped[number]:
                    spot.place.moved(spot.state, after)
                spot.place = after
            if part.forecaster.choice is not None and spot.on and spot.place is not None:
                steps = part.forecaster.horizon
                chances = [curve[steps] for curve in spot.place.candidates(spot.state)]
                part.forecaster.propose(pulse.run, int(pulse.events) + steps, chances)
        return fleeting

    # --- what is foretold ---------------------------------------------------------------------------------------

    def idle(self, track: Track, time: i64) -> bool:
        """Whether nothing has begun."""
        if self.reached(track, time) > 0:
            return False
        return max([spot.state for spot in track.spots]) == NONE

    def label(self, track: Track, time: i64) -> str:
        """Where the parts are, for people."""
        reached = self.reached(track, time)
        said: list[str] = []
        for number, part in enumerate(self.parts):
            spot = track.spots[number]
            done = number < reached if self.phased else self.kind == "AND" and spot.done >= time
            if self.phased and number > reached:
                break
            where = "completed" if done else part.states.label(spot.state)
            said.append(f"part {part.number}: {where}")
        return ", ".join(said)

    def asked(self, track: Track, time: i64) -> list[int]:
        """The parts that the next match waits for, in a sequence the phase at work first."""
        if self.phased:
            return list(range(self.reached(track, time), len(self.parts)))
        numbers = [number for number, spot in enumerate(track.spots) if self.kind == "OR" or spot.done < time]
        return numbers or list(range(len(self.parts)))

    def union(self, track: Track, time: i64) -> bool:
        """Whether one of the asked parts is enough: of OR, and of AND where all have completed."""
        return self.kind == "OR" or (not self.phased and self.reached(track, time) == len(self.parts))

    def effective(self, track: Track, time: i64) -> float:
        """The least number of transitions that stand behind any of the asked parts; below 0 where none is known."""
        least = -1.0
        for number in self.asked(track, time):
            place = track.spots[number].place
            if place is None:
                return -1.0
            own = place.effective(track.spots[number].state)
            least = own if least < 0.0 else min(least, own)
        return least

    def held(self, track: Track, time: i64) -> bool:
        """Whether something has completed that will be too old."""
        return self.within < FOREVER and self.reached(track, time) > 0

    def window(self, track: Track, number: i64, time: i64, held: bool) -> i64:
        """Until when a part's completion would be one with what the others have completed, if that is `held`.

        With a horizon in time its own window ends too; else its chain has learnt how it does.
        """
        until: i64 = FOREVER if self.pace is None else self.parts[number].progress.end(self.scope.row, time)
        for other, spot in enumerate(track.spots):
            if held and other != number and self.kind != "OR" and spot.done >= time:
                until = min(until, spot.done)
        return until

    # --- what was learnt ----------------------------------------------------------------------------------------

    def staying(self, track: Track | None) -> list[tuple[Forecaster, int, Context]]:
        """Whose steps events make which pass a track by, or a key without one, in which state and context."""
        if track is None:
            return [(part.forecaster, NONE, ()) for part in self.parts if not self.phased or part.number == 1]
        found: list[tuple[Forecaster, int, Context]] = []
        for part, spot in zip(self.parts, track.spots):
            if spot.on and spot.place is not None:
                found.append((part.forecaster, int(spot.state), spot.place.context))
        return found

    def load(self, saved: Sequence[Any]) -> list[Spot]:
        """Spots that were dumped."""
        found = self.begin()
        for part, spot, (state, done, on, context, history) in zip(self.parts, found, saved, strict=True):
            spot.state, spot.done, spot.on, spot.history = state, done, on, list(history)
            spot.place = None if context is None else part.forecaster.place(tuple(context))
        return found


def dumped(spots: Sequence[Spot]) -> list[list[Any]]:
    """Spots between two events, as plain data."""
    return [
        [
            int(spot.state),
            int(spot.done),
            spot.on,
            None if spot.place is None else list(spot.place.context),
            spot.history,
        ]
        for spot in spots
    ]


def context_after(track: Track, history: list[int], symbols: i64, following: i64, scope: Scope) -> Context:
    """Under which circumstances the next step is made: the event at hand was the last, `history` the states before."""
    group = track.observer.group
    assert group is not None
    if symbols == 0:
        return track.pulse.contexts[group.number]
    history.append(following)
    if len(history) > symbols:
        del history[0]
    rest = group.rest.of(scope.row, scope.time, history)
    return (track.pulse.run, *rest) if group.keyed else rest
