"""The forecasts of one subscription: its chain, where each key is in it, when a forecast is reported.

A key's state takes a step when an event has touched it: the events that have passed it by are steps from its state to
itself, the event at hand leads to the most advanced live state, or to the final one if it has completed a match. Then,
in this order: earlier forecasts are resolved, the probability is computed, and if it has crossed the threshold it is
reported.

Here: that step. Not here: the states that an event touches (keyed_stream), learning from outcomes (verification), the
form of reports (broker.engine.forecasts).
"""

from __future__ import annotations

from heapq import heappush
from typing import Any

from mypy_extensions import i64

from ..events.instant import FOREVER
from . import joint
from .combination import Combination
from .context_chain import ContextChain
from .forecaster import Forecaster
from .horizon import usable, within_time
from .inter_arrival import InterArrivals
from .key_state import KeyState
from .keyed_stream import KeyedStream, StreamKey
from .learning_observer import LearningObserver
from .model_form import ModelForm
from .notifying import ResolvedForecast
from .progress import Progress
from .settings import Settings
from .uncertainty import around


class SubscriptionForecaster(LearningObserver):
    """`arrivals`: of a horizon in time. `combination`: of its parts, if forecasts are combined from theirs."""

    def __init__(
        self,
        number: int,
        since: i64,
        identity: str,
        settings: Settings,
        version: str,
        forecaster: Forecaster | ModelForm,
        stream: KeyedStream,
        progress: Progress,
        deadlines: list[tuple[int, int]],
    ) -> None:
        """`deadlines`: alarms of all horizons in time, a heap. Otherwise as LearningObserver."""
        super().__init__(number, since, identity, settings, version, forecaster, stream, progress)
        self.deadlines = deadlines
        shape = forecaster.shape if isinstance(forecaster, ModelForm) else forecaster.form
        self.within: i64 = settings.within
        self.threshold = settings.threshold
        self.effective = settings.effective
        self.cautious = settings.cautious
        self.final: i64 = shape.states - 1
        self.forgets = settings.half_life is not None
        self.arrivals: InterArrivals | None = None if settings.steps else InterArrivals(settings.duration)
        self.values = settings.values
        self.combination: Combination | None = None

    # --- steps --------------------------------------------------------------------------------------------------

    def begin(self, key: StreamKey) -> KeyState:
        # Under which circumstances the key's first step was made is unknown: with a context it is not counted.
        if self.blank:
            self.unpack()
        chain = None if self.values else self.forecaster.chain()
        seen = key.events if self.values else self.bases.get(key.key, 0)
        state = KeyState(self, key, chain, seen, self.progress.elementary, self.verification.open.of(key.run))
        if self.combination is not None:
            state.parts = self.combination.begin()
        self.begun += 1
        return state

    def settle(self, state: KeyState) -> bool:
        key, time, combination = state.key, self.stream.time, self.combination
        if self.forgets:
            self.forecaster.clock().move(time)
        matched = state.matched
        state.matched = False
        until: i64 = self.forever
        fleeting = matched
        following: i64 = self.final
        if combination is not None:
            fleeting = combination.step(state) or matched
            until = combination.until
            following = self.final if matched else 0
        elif not matched:
            following, fleeting = self.progress.look(state, self.stream.row, time)
            until = self.progress.until
        self._step(state, following)
        if self.judge is not None:
            self.judge.settled(state, following != 0, matched)
        if until < self.forever and until != state.alarm:
            state.alarm = until
            heappush(key.time_alarms, (until, self.number))
        clock: i64 = time
        if self.arrivals is None:
            clock = key.events
            if len(self.bases) > 0:
                clock -= self.bases.get(key.key, 0)
        self._resolve(state, clock, time, matched)
        if not matched and self._idle(state, time):
            self._reset(state)
        elif state.chain is not None and self.transitions_behind(state, state.chain) >= self.effective:
            self._forecast(state, state.chain, clock, time, until, matched)
        if not fleeting and len(state.predictions) > 0 and state.wake < clock:
            self._wake(state)
        return fleeting

    def _idle(self, state: KeyState, time: i64) -> bool:
        """Whether nothing has begun."""
        return state.state == 0 if self.combination is None else self.combination.idle(state, time)

    def _wake(self, state: KeyState) -> None:
        """Set when the state is next visited if no event touches it: when all its predictions have outcomes."""
        state.wake = state.predictions.newest() + self.within
        if self.arrivals is None:
            heappush(state.key.count_alarms, (state.wake + self.bases.get(state.key.key, 0), self.number))
        else:
            heappush(state.key.time_alarms, (state.wake, self.number))

    def _reset(self, state: KeyState) -> None:
        if state.above:
            state.above = False
            self.notifier.reset(state.key.run)

    def _step(self, state: KeyState, following: i64) -> None:
        """Count the step, and those of the events that have passed the key by; go to where the next one counts."""
        key, chain = state.key, state.chain
        if chain is not None and state.seen < key.events:
            stays: i64 = key.events - 1 - state.seen
            if stays > 0:
                chain.step(state.state, state.state, stays)
            chain.step(state.state, following, 1)
        if self.values:
            state.chain = self.forecaster.chain(state.context())
        state.seen = key.events
        state.state = following

    # --- outcomes -----------------------------------------------------------------------------------------------

    def _resolve(self, state: KeyState, clock: i64, time: i64, matched: bool) -> None:
        run = state.key.run
        timed = self.arrivals is not None
        # A forecast that old has not come true; with a horizon in time more may still happen at this moment.
        over: i64 = clock - self.within
        if matched or timed:
            over -= 1
        self.verification.resolve(state.predictions, over, matched)
        resolved: ResolvedForecast | None = None
        if matched:
            state.above = False
            resolved = self.notifier.matched(run, clock)
            self.verification.calibration.matched(resolved is not None and resolved.outcome is True)
        elif state.open or timed:
            resolved = self.notifier.advance(run, clock, timed)
        if resolved is not None:
            state.open = False
            self._resolved(resolved, time)

    def _resolved(self, resolved: ResolvedForecast, time: int) -> None:
        self.verification.calibration.resolved(resolved)
        self.report_outcome(resolved, time)

    def expire(self, time: int) -> None:
        """It is `time`: forecasts until before that have not come true. For horizons in time."""
        for resolved in self.notifier.expire(time):
            self._resolved(resolved, time)

    def close(self) -> None:
        """Censor open forecasts at the end."""
        for resolved in self.notifier.close():
            self._resolved(resolved, self.stream.time)
        for key in self.stream.keys.values():
            state = key.states.get(self.number)
            if state is not None:  # some have failed since the key was last looked at
                over = key.events - self.bases.get(key.key, 0) - self.within
                if self.arrivals is not None:
                    over = self.stream.time - self.within - 1
                self.verification.resolve(state.predictions, over, False)
        self.verification.close()

    # --- forecasts ----------------------------------------------------------------------------------------------

    def _forecast(self, state: KeyState, chain: ContextChain, clock: i64, time: i64, until: i64, matched: bool) -> None:
        key, verification = state.key, self.verification
        computed = self.probability(state, chain, time, until)
        issued = verification.predict(state.predictions, clock, computed, matched)
        judged = issued
        if self.cautious and issued > self.threshold:
            judged = min(issued, self.interval(state, chain, computed)[0])
        if judged > self.threshold and verification.withholds and verification.calibrated(matched) is False:
            verification.withheld += 1
            judged = min(judged, self.threshold)
        if judged <= self.threshold and not state.above:
            return
        state.above = judged > self.threshold
        base = self.bases.get(key.key, 0)
        phase = state.state if self.combination is None else self.combination.reached(state, time)
        found = self.notifier.update(key.run, clock, time, judged, int(phase), int(key.events - base))
        if found is None:
            return
        state.open = True
        if self.arrivals is None:
            heappush(key.count_alarms, (found.deadline + base, self.number))
        else:
            heappush(self.deadlines, (found.deadline, self.number))
        bounds: tuple[float, float] | None = None
        if self.combination is not None:
            low, high = joint.bounds(self.combination, state, time)
            bounds = self._corrected(state, low), self._corrected(state, high)
        interval = self.interval(state, chain, computed)
        label = self.label(state)
        self.report(found, issued, interval, bounds, verification.calibrated(matched), label, state)

    def probability(self, state: KeyState, chain: ContextChain, time: i64, until: i64) -> float:
        """P(a match within the horizon), where the key is."""
        if self.combination is not None:
            return joint.probability(self.combination, state, time)
        if self.arrivals is None:
            return chain.within(int(state.state))
        return self.within_time(state, chain, self.arrivals, time, until)

    def within_time(
        self, state: KeyState, chain: ContextChain, arrivals: InterArrivals, time: i64, until: i64
    ) -> float:
        """P(a match within a horizon in time). Curves are as long as the events that are in time afterwards."""
        until = self.progress.end(self.stream.row, time, until)
        remaining = usable(arrivals.horizon, None if until == FOREVER else int(until), int(time))
        fits = arrivals.fits(state.key, self.stream, remaining or 0)
        if len(fits) > self.forecaster.horizon:
            self.forecaster.reach(len(fits))
        return within_time(chain.curve(int(state.state)), fits)

    def interval(self, state: KeyState, chain: ContextChain, computed: float) -> tuple[float, float]:
        """The interval of the probability; with a horizon in time, around it as far as over its steps."""
        if self.combination is not None:
            low, high = joint.spread(self.combination, state, self.stream.time, computed)
        else:
            low, high = chain.interval(int(state.state), self.forecaster.horizon)
            if self.arrivals is not None:
                low, high = around(computed, chain.within(int(state.state)), low, high)
        return self._corrected(state, low), self._corrected(state, high)

    def _corrected(self, state: KeyState, computed: float) -> float:
        return self.verification.corrected(computed, state.state == self.final)

    def transitions_behind(self, state: KeyState, chain: ContextChain) -> float:
        """The number of transitions behind the key's state; below 0 where nothing is known."""
        if self.combination is not None:
            return self.combination.effective(state, self.stream.time)
        return chain.effective(int(state.state))

    def label(self, state: KeyState) -> str:
        """Where the key is, for users."""
        if self.combination is not None:
            return self.combination.label(state, self.stream.time)
        return self.progress.label(int(state.state))

    # --- what is counted ----------------------------------------------------------------------------------------

    def forecasters(self) -> list[Forecaster]:
        """The forecaster of the whole, then those of its parts."""
        parts = [] if self.combination is None else self.combination.parts
        return [self.forecaster, *[part.forecaster for part in parts]]

    @property
    def clock(self) -> InterArrivals | None:
        """The model of the times between events; None if the horizon is in events."""
        return self.arrivals if self.combination is None else self.combination.clock

    def statistics(self) -> dict[str, Any]:
        """The quality of its forecasts, and their sizes."""
        return {
            **self.verification.statistics(),
            "within": self.settings.written["within"],
            "threshold": self.settings.threshold,
            "outstanding": self.notifier.statistics()["outstanding"],
            **self.forecaster.statistics(),
            **({} if self.combination is None else {"parts": len(self.combination.parts)}),
        }
