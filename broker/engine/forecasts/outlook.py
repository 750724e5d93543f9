"""The forecasts of one subscription: where it is for each key, what it has counted, whom it tells.

A track takes a step when an event has touched it: the events that have passed it by are steps from its state to itself,
the event at hand leads to the most advanced live state, or to the final one if it has completed a match. Then, in this
order: what was foretold is resolved, the probability is looked at, and told if it has crossed the threshold.

Here: that step. Not here: which tracks an event touches (scope), what the numbers mean (broker.forecast).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ...forecast.counts import Counts
from ...forecast.forecaster import Forecaster
from ...forecast.horizon import usable, within_time
from ...forecast.notifying import Forecast as Told
from ...forecast.notifying import Resolution as Resolved
from ...forecast.notifying import Watch
from ...forecast.place import Place
from ...forecast.uncertainty import around
from ...forecast.varying import varying_of
from ..cells import flattened
from ..notices import Forecast, Notice, Resolution
from ..subscriber import Subscriber, digest
from ..target import ALWAYS_SINCE, Outcome, Target
from . import joint
from .account import Account
from .combination import Combination, context_after
from .judging import Judge
from .pace import Pace
from .progress import Progress, furthest
from .scope import Pulse, Scope, alarm
from .settings import Settings
from .states import NONE, States
from .track import FOREVER, Observer, Track


@final
class Outlook(Observer):
    """`progress` asks the machine of a composite subscription; without it, runs tell where they are, and `windows` says
    how long a run can be of use in each elementary state, in microseconds from its beginning, or FOREVER."""

    def __init__(
        self,
        number: int,
        subscriber: Subscriber,
        version: str,
        settings: Settings,
        states: States,
        scope: Scope,
        windows: list[int],
        progress: Progress | None,
        counts: Counts,
    ) -> None:
        # A machine is this subscription's from its first event on, a run only if it was born in a later epoch.
        super().__init__(number, subscriber.since if progress is None else ALWAYS_SINCE)
        self.subscriber = subscriber
        self.version = version
        self.settings = settings
        self.states = states
        self.scope = scope
        self.windows = windows
        self.progress = progress
        self.counts = counts
        self.target = Target(Outcome((), ()), subscriber)
        definition = settings.context
        parts = settings.values
        steps, varying = max(settings.steps, 1), varying_of(definition)
        self.forecaster = Forecaster(
            version, states.shape, steps, counts, parts, definition.keyed, choose=settings.choose, varying=varying
        )
        self.watch = Watch(subscriber.said(), settings.threshold, settings.within)
        self.account = Account(settings)
        self.within: i64 = settings.within
        self.threshold = settings.threshold
        self.effective = settings.effective
        self.cautious = settings.cautious
        self.final: i64 = states.final
        self.forgets = settings.half_life is not None
        self.pace: Pace | None = None if settings.steps else Pace(settings.duration)
        self.notices: list[Notice] = []
        self.deadlines: list[tuple[int, int]] = []  # of the registry: alarms of horizons in time
        self.symbols: i64 = definition.symbols
        self.parts = parts
        self.combination: Combination | None = None  # of the subscription's parts, if forecasts are put together
        self.judge: Judge | None = None

    # --- what the engine tells ----------------------------------------------------------------------------------

    def entered(self, state: i64, born: i64, t0: i64, run: object) -> None:
        # The place may be shared by others who ask for longer windows: what is over for this one is nothing to it.
        until = self._until(state, t0)
        if born > self.since and until > self.scope.time:
            track = self.scope.track(self)
            if track is not None:
                track.enter(state, until, run if self.subscriber.lineage else None)

    def left(self, state: i64, born: i64, t0: i64, run: object) -> None:
        until = self._until(state, t0)
        if born > self.since and until >= self.scope.time:
            track = self.scope.track(self)
            if track is not None:
                track.leave(state, until, run if self.subscriber.lineage else None)

    def matched(self, born: i64) -> None:
        if born > self.since:
            self.completed()

    def completed(self) -> None:
        """The event at hand has completed a match."""
        track = self.scope.track(self)
        if track is not None:
            track.matched = True

    def touched(self) -> None:
        """The event at hand may have changed where the machine is."""
        self.scope.track(self)

    def _until(self, state: i64, t0: i64) -> i64:
        window: i64 = self.windows[state]
        return FOREVER if window == FOREVER else t0 + window - 1

    # --- steps --------------------------------------------------------------------------------------------------

    def begin(self, pulse: Pulse) -> Track:
        states = len(self.states.left) if self.progress is None else 0
        queue, computed = self.account.pending.of(pulse.run), self.account.computed_pending.of(pulse.run)
        # Under which circumstances the key's first step was made nobody knows: with a context it is not counted.
        place = None if self.parts else self.forecaster.place()
        seen = pulse.events if self.parts else self.bases.get(pulse.key, 0)
        track = Track(self, pulse, place, seen, states, queue, computed)
        if self.combination is not None:
            track.spots = self.combination.begin()
        return track

    def settle(self, track: Track, scope: Scope) -> bool:
        pulse, time = track.pulse, scope.time
        if self.forgets:
            self.counts.clock_of(self.version).move(time)
        matched = track.matched
        track.matched = False
        until: i64 = FOREVER
        fleeting = False
        following: i64 = self.final
        combination = self.combination
        if combination is not None:
            fleeting = combination.step(track) or matched
            until = combination.until
            following = self.final if matched else NONE
        elif matched:
            fleeting = True
        elif self.progress is None:
            following, until = furthest(track, self.states, time)
        else:
            following, fleeting = self.progress.look(scope.row, time)
            until = self.progress.until
        self._step(track, following)
        if self.judge is not None:
            self.judge.settled(track, following, matched)
        if until < FOREVER and until != track.alarm:
            track.alarm = until
            alarm(pulse.times, until, self.number)
        clock: i64 = time
        if self.pace is None:
            clock = pulse.events - self.bases.get(pulse.key, 0)
        self._resolve(track, clock, time, matched)
        if combination is not None:
            if not matched and combination.idle(track, time):
                self._reset(track)
            elif track.place is not None and combination.effective(track, time) >= self.effective:
                self._look(track, track.place, clock, time, until, matched)
        elif following == NONE and not matched:
            self._reset(track)
        elif track.place is not None and track.place.effective(following) >= self.effective:
            self._look(track, track.place, clock, time, until, matched)
        due = fleeting or self.symbols > 0
        if not due and len(track.queue) > 0 and track.wake < clock:
            self._wake(track)
        return due

    def _wake(self, track: Track) -> None:
        """Nothing may touch the track for long: look at it once the outcome of all predictions is known."""
        track.wake = track.queue.newest() + self.within
        if self.pace is None:
            alarm(track.pulse.counts, track.wake + self.bases.get(track.pulse.key, 0), self.number)
        else:
            alarm(track.pulse.times, track.wake, self.number)

    def _reset(self, track: Track) -> None:
        if track.above:
            track.above = False
            self.watch.reset(track.pulse.run)

    def _step(self, track: Track, following: i64) -> None:
        """Count the step, and those of the events that have passed the track by; go to where the next one counts."""
        pulse, place = track.pulse, track.place
        state = track.state
        if place is not None and track.seen < pulse.events:
            stays: int = pulse.events - 1 - track.seen
            if stays > 0:
                place.step(state, state, stays)
                place.moved(state, place, stays)
            place.step(state, following, 1)
        if self.parts:
            after = self.forecaster.place(context_after(track, track.history, self.symbols, following, self.scope))
            if place is not None and track.seen < pulse.events:
                place.moved(following, after)
            track.place = after
        track.seen = pulse.events
        track.state = following

    # --- what was foretold --------------------------------------------------------------------------------------

    def _resolve(self, track: Track, clock: i64, time: i64, matched: bool) -> None:
        run = track.pulse.run
        timed = self.pace is not None
        # What was said so long ago has not come true; with a horizon in time more may still happen at this moment.
        over: i64 = clock - self.within
        if matched or timed:
            over -= 1
        self.account.resolve(track, over, matched)
        if self.forecaster.choice is not None:
            self.forecaster.decide(run, over + self.within, matched)
        if self.account.drifted:
            self._forget_anew()
        resolved: Resolved | None = None
        if matched:
            track.above = False
            resolved = self.watch.matched(run, clock)
            self.account.calibration.matched(resolved is not None and resolved.outcome is True)
        elif track.told or timed:
            resolved = self.watch.advance(run, clock, timed)
        if resolved is not None:
            track.told = False
            self.tell(resolved, time)

    def _forget_anew(self) -> None:
        """Drift was noticed, or has ended: all is estimated by another half-life."""
        drift = self.account.drift
        assert drift is not None
        self.account.drifted = False
        for version, counts, forecaster in self.books():
            drift.apply(counts.clock_of(version))
            forecaster.estimate_anew()

    def tell(self, resolved: Resolved, time: int) -> None:
        """What became of a forecast, for the subscriber and for the calibration."""
        self.account.calibration.resolved(resolved)
        forecast = resolved.forecast
        identity = digest(f"{self.subscriber.said()}resolution\0{forecast.id}", 0, 0)
        self.notices.append(Resolution(identity, time, forecast.id, resolved.outcome, forecast.run, resolved.lead))

    # --- what is foretold ---------------------------------------------------------------------------------------

    def _look(self, track: Track, place: Place, clock: i64, time: i64, until: i64, matched: bool) -> None:
        pulse, state, combination = track.pulse, track.state, self.combination
        if combination is not None:
            state = combination.reached(track, time)
        computed = self.probability(track, place, time, until)
        said = self.account.predict(track, clock, computed, matched)
        if self.forecaster.choice is not None and combination is None:
            self.forecaster.propose(pulse.run, clock + self.within, self._candidates(track, place, time, until))
        judged = said
        if self.cautious and said > self.threshold:
            judged = min(said, self.interval(track, place, computed)[0])
        if judged > self.threshold and self.account.withholds and self.account.calibrated(matched) is False:
            self.account.withheld += 1
            judged = min(judged, self.threshold)
        if judged <= self.threshold and not track.above:
            return
        track.above = judged > self.threshold
        base = self.bases.get(pulse.key, 0)
        told = self.watch.update(pulse.run, clock, time, judged, state, pulse.events - base)
        if told is not None:
            track.told = True
            if self.pace is None:
                alarm(pulse.counts, told.deadline + base, self.number)
            else:
                alarm(self.deadlines, told.deadline, self.number)
            interval, calibrated = self.interval(track, place, computed), self.account.calibrated(matched)
            self.notices.append(self._notice(track, told, said, interval, calibrated))

    def probability(self, track: Track, place: Place, time: i64, until: i64) -> float:
        """P(a match within the horizon), where the track is."""
        if self.combination is not None:
            return joint.probability(self.combination, track, time)
        if self.pace is None:
            return place.within(track.state)
        return self.within_time(track, place, self.pace, time, until)

    def within_time(self, track: Track, place: Place, pace: Pace, time: i64, until: i64) -> float:
        """P(a match within a horizon in time)."""
        fits = self._fits(track, pace, time, until)
        return within_time(place.curve(track.state), fits)

    def _fits(self, track: Track, pace: Pace, time: i64, until: i64) -> list[float]:
        """How many events are in time; curves are as long as that afterwards."""
        if self.progress is not None:
            until = self.progress.end(self.scope.row, time)
        remaining = usable(pace.horizon, None if until == FOREVER else int(until), int(time))
        fits = pace.fits(track.pulse, self.scope, remaining or 0)
        if len(fits) > self.forecaster.horizon:
            self.forecaster.reach(len(fits))
        return fits

    def _candidates(self, track: Track, place: Place, time: i64, until: i64) -> list[float]:
        """P(a match within the horizon), as each pool of the place has it."""
        if self.pace is None:
            return [curve[self.within] for curve in place.candidates(track.state)]
        fits = self._fits(track, self.pace, time, until)
        return [within_time(curve, fits) for curve in place.candidates(track.state)]

    def interval(self, track: Track, place: Place, computed: float) -> tuple[float, float]:
        """Where the probability is thought to lie; with a horizon in time, around it as far as over its steps."""
        if self.combination is not None:
            low, high = joint.spread(self.combination, track, self.scope.time, computed)
            return self.account.corrected(low), self.account.corrected(high)
        low, high = place.interval(track.state, self.forecaster.horizon)
        if self.pace is not None:
            low, high = around(computed, place.within(track.state), low, high)
        return self.account.corrected(low), self.account.corrected(high)

    def _notice(
        self, track: Track, told: Told, said: float, interval: tuple[float, float], calibrated: bool | None
    ) -> Forecast:
        state = told.state
        within: Any = self.settings.written["within"]
        lineage = self._lineage(track) if self.subscriber.lineage is not False else None
        label, bounds = self.label(track), None
        combination, time = self.combination, self.scope.time
        if combination is not None:
            low, high = joint.bounds(combination, track, time)
            bounds = self.account.corrected(low), self.account.corrected(high)
        return Forecast(
            told.id, told.time, said, within, state, label, told.run, interval, lineage, bounds, calibrated
        )

    def label(self, track: Track) -> str:
        """Where the track is, for people."""
        if self.combination is None:
            return self.states.label(track.state)
        return self.combination.label(track, self.scope.time)

    def _lineage(self, track: Track) -> list[int] | None:
        """What contributed to the furthest partial match."""
        if self.progress is not None:
            return self.progress.lineage(self.scope.row, self.scope.time)
        if not self.subscriber.lineage or track.state in (NONE, self.states.final):
            return None
        for state in self.states.order:
            run = track.newest(state, self.scope.time)
            if run is not None:
                return lineage_of(run)
        return None

    def books(self) -> list[tuple[str, Counts, Forecaster]]:
        """What is counted under which version: the whole, then its parts."""
        parts = [] if self.combination is None else self.combination.parts
        return [(self.version, self.counts, self.forecaster), *[(p.version, p.counts, p.forecaster) for p in parts]]

    @property
    def clock(self) -> Pace | None:
        """Where it needs to know how long it is from event to event."""
        return self.pace if self.combination is None else self.combination.clock

    def has_told(self) -> bool:
        return len(self.notices) > 0

    def close(self) -> None:
        """The end: what was foretold is censored."""
        for resolved in self.watch.close():
            self.tell(resolved, self.scope.time)
        for pulse in self.scope.pulses.values():
            track = pulse.tracks.get(self.number)
            if track is not None:  # some have failed since the key was last looked at
                over = pulse.events - self.bases.get(pulse.key, 0) - self.within
                if self.pace is not None:
                    over = self.scope.time - self.within - 1
                self.account.resolve(track, over, False)
        if self.account.drifted:
            self._forget_anew()
        for _, _, forecaster in self.books():
            forecaster.drop()
        self.account.close()

    def expire(self, time: int) -> None:
        """It is `time`: what was foretold for before that has not come true. For horizons in time."""
        for resolved in self.watch.expire(time):
            self.tell(resolved, time)


def lineage_of(run: Any) -> list[int]:
    """The ids of the events that a run has bound."""
    return flattened(run.lineage)
