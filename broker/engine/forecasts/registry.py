"""All forecasts of an engine: the predictive subscriptions, the streams whose events they count, and the learnt model.

Here: adding and removing forecasts, the model. Not here: the effect of an event (broker.forecast.keyed_stream,
subscription).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop
from typing import Any, final

from mypy_extensions import i64

from ...automaton.analyses.chain_keys import Positions
from ...events.errors import DefinitionError, UnknownSubscription
from ...events.schema import Row
from ...forecast.combination import Combination, PartForecaster
from ...forecast.counts import Context, Counts
from ...forecast.forecaster import Forecaster
from ...forecast.judging import Judge
from ...forecast.key_state import KeyState
from ...forecast.keyed_stream import KeyedStream
from ...forecast.model_file import Model
from ...forecast.plan import ForecastPlan
from ...forecast.progress import Progress
from ...forecast.states import NONE
from ...forecast.varying import check_varying
from ...forecast.versions import check_version, continued, count_stays, counts_of, others
from ..dispatch.matchers import Matcher
from ..dispatch.registry import Registration
from ..notices import Notice
from ..program.directory import Directory
from ..program.target import ALWAYS_SINCE, Target
from ..subscribing.subscriber import Subscriber
from .listening import PartFollower
from .progress import RunProgress
from .subscription import PredictiveSubscription


@final
class Forecasts:
    """The runtime reads `scopes`, by stream number; `open` are those whose event is not done yet."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.subscriptions: dict[str, PredictiveSubscription] = {}
        self.numbered: dict[int, PredictiveSubscription] = {}
        self.scopes: dict[int, list[KeyedStream]] = {}
        self.keyed: dict[Positions, KeyedStream] = {}
        self.open: list[KeyedStream] = []
        self.deadlines: list[tuple[int, int]] = []  # of horizons in time: (time, number of the subscription)
        self.trained = Model()
        self.next = 0

    # --- events -------------------------------------------------------------------------------------------------

    def begin(self, scopes: list[KeyedStream], stream: int, row: Row, time: i64) -> None:
        """Begin an event of the stream, before any matching."""
        for scope in scopes:
            if not scope.open:
                self.open.append(scope)
            scope.begin(stream, row, time)

    def finish(self, time: i64) -> list[tuple[Target, Notice]]:
        """End the event and its derived events; returns the notices, each with its target."""
        reporting: dict[int, PredictiveSubscription] = {}
        for scope in self.open:
            scope.finish()
            if len(scope.reporting) > 0:
                for observer in scope.take_reporting():
                    assert isinstance(observer, PredictiveSubscription)
                    reporting[observer.number] = observer
        if len(self.open) > 0:
            self.open.clear()
        while len(self.deadlines) > 0 and self.deadlines[0][0] < time:
            subscription = self.numbered.get(heappop(self.deadlines)[1])
            if subscription is not None:
                subscription.expire(time)
                reporting[subscription.number] = subscription
        notices: list[tuple[Target, Notice]] = []
        if len(reporting) > 0:
            for number in sorted(reporting):
                self._collect(reporting[number], notices)
        return notices

    def _collect(self, subscription: PredictiveSubscription, notices: list[tuple[Target, Notice]]) -> None:
        for notice in subscription.notices:
            notices.append((subscription.target, notice))
        subscription.notices.clear()

    def close(self) -> list[tuple[Target, Notice]]:
        """End all streams: censor the open forecasts."""
        notices: list[tuple[Target, Notice]] = []
        for subscription in self.subscriptions.values():
            subscription.close()
            self._collect(subscription, notices)
        self.deadlines.clear()
        return notices

    # --- coming and going ---------------------------------------------------------------------------------------

    def check(self, plan: ForecastPlan, subscriber: Subscriber) -> None:
        """Raise DefinitionError if the loaded model is of another version of the subscription."""
        versions = plan.versions(subscriber.name, subscriber.text())
        check_version(self.trained, subscriber.name, versions[0])
        for version in versions:
            self._known(version, plan)

    def _known(self, version: str, plan: ForecastPlan) -> Counts:
        return continued(self.trained.counts, version, plan.settings.half_life)

    def join(
        self,
        plan: ForecastPlan,
        subscriber: Subscriber,
        registration: Registration | None,
        parts: list[Matcher],
    ) -> PredictiveSubscription:
        """Add forecasts for a checked subscription; the caller then watches its runs or its machine. O(keys).

        `registration`: the registration of its machine; `parts` are the machines of the plan's parts.
        """
        self.next += 1
        version, settings = plan.version(subscriber.name, subscriber.text()), plan.settings
        stream, positions = self._stream(plan.positions), plan.positions[0][1]
        progress: Progress = RunProgress(plan.states)
        since = subscriber.since
        if registration is not None:
            # A machine reports from its first event on, a run only if it was born in a later epoch.
            since = ALWAYS_SINCE
            machine, lane = registration.matcher.machine, registration.lane
            progress = registration.plan.progress(machine, lane, plan.states, plan.left, positions)
        whole = settings.forecaster(version, plan.states.shape, self._known(version, plan))
        found = PredictiveSubscription(self.next, since, subscriber, plan, whole, stream, progress, self.deadlines)
        if registration is not None and plan.division is not None:
            own: list[PartForecaster] = []
            for part, matcher in zip(plan.division.parts, parts, strict=True):
                name, states = part.version(version), part.states
                forecaster = settings.forecaster(name, states.shape, self._known(name, plan))
                lane = registration.lane
                progress = registration.plan.progress(matcher.machine, lane, states, states.left, positions)
                own.append(PartForecaster(part.number, forecaster, settings, states.final, states.left[NONE], progress))
            kind, within, arrivals = plan.division.kind, plan.division.within, found.arrivals
            found.combination = Combination(kind, within, own, found, stream, settings.duration, arrivals)
            for number, matcher in enumerate(parts):
                matcher.follower = PartFollower(found.combination, number)
        self.subscriptions[subscriber.name] = self.numbered[found.number] = found
        stream.join(found, settings.context, found.clock is not None)
        self._load_gaps(self.trained, found)
        return found

    def _stream(self, positions: Positions) -> KeyedStream:
        stream = self.keyed.get(positions)
        if stream is None:
            numbers = {self.directory.stream(name): attributes for name, attributes in positions}
            stream = self.keyed[positions] = KeyedStream(numbers)
            for number in numbers:
                self.scopes.setdefault(number, []).append(stream)
        return stream

    def leave(self, name: str) -> list[tuple[Target, Notice]]:
        """Undo one `join`: its open forecasts are censored. O(keys)."""
        found = self.subscriptions.pop(name)
        del self.numbered[found.number]
        found.close()
        notices: list[tuple[Target, Notice]] = []
        self._collect(found, notices)
        stream = found.stream
        stream.leave(found, found.clock is not None)
        if not stream.observers:
            self.keyed = {positions: other for positions, other in self.keyed.items() if other is not stream}
            for number in stream.positions:
                self.scopes[number].remove(stream)
                if not self.scopes[number]:
                    del self.scopes[number]
        return notices

    # --- what was learnt ----------------------------------------------------------------------------------------

    def subscription(self, name: str) -> PredictiveSubscription:
        """The forecasts of a subscription. Raises UnknownSubscription."""
        found = self.subscriptions.get(name)
        if found is None:
            raise UnknownSubscription(f"subscription {name!r} has no forecasts")
        return found

    def model(self) -> Model:
        """All counts, measured and loaded, with the events that have passed keys by until now. O(counts + keys).

        It changes nothing: the engine continues as if the model had not been taken.
        """
        forecasters = [each for own in self.subscriptions.values() for each in own.forecasters()]
        found = Model(others(self.trained.counts, {each.version for each in forecasters}))
        for (version, known), gaps in self.trained.gaps.items():
            found.gaps_of(version, known).merge(gaps)  # a key has only the gaps that were measured here
        for forecaster in forecasters:
            found.counts.merge(forecaster.counts)
        for each in self.subscriptions.values():
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

    def load_model(self, model: Model) -> None:
        """Add a model that was trained elsewhere, for present and later subscriptions.

        Raises DefinitionError if it is of another version of a present subscription; a refused model changes nothing.
        """
        for each in self.subscriptions.values():
            check_version(model, each.subscriber.name, each.forecaster.version)
            for forecaster in each.forecasters():
                continued(model.counts, forecaster.version, each.settings.half_life)
        self.trained.merge(model)
        for each in self.subscriptions.values():
            for forecaster in each.forecasters():
                forecaster.absorb(counts_of(model.counts, forecaster.version))
            self._load_gaps(model, each)

    def _load_gaps(self, model: Model, subscription: PredictiveSubscription) -> None:
        """Count the gaps that were measured elsewhere for all keys."""
        if subscription.clock is not None:
            for (version, _), gaps in model.gaps.items():
                if version == subscription.forecaster.version:
                    subscription.stream.gaps.merge(gaps)

    def judge(self, horizons: Sequence[int], model: Model | None = None) -> dict[str, Judge]:
        """Judge every forecast from now on over these horizons, in events; returns a judge by subscription.

        With a model its forecasts are judged, otherwise the engine's. Judges are not in snapshots; the caller closes
        them at the end. Raises DefinitionError if forecasts are combined from parts, which have one horizon only; and
        LimitExceeded if varying values of a context make a chain too large for a horizon.
        """
        found: dict[str, Judge] = {}
        for name, each in self.subscriptions.items():
            if each.combination is not None:
                raise DefinitionError(
                    f"subscription {name!r}: forecasts that are put together from parts are not judged over other"
                    " horizons: expected forecast.parts = false"
                )
            steps, form, version = max(horizons, default=1), each.states.shape, each.forecaster.version
            check_varying(each.settings.context, [form.states], steps)
            own: Forecaster | None = None
            if model is not None:
                settings = replace(each.settings, steps=steps, choose=False)
                own = settings.forecaster(version, form, counts_of(model.counts, version))
            found[name] = Judge(horizons, each.effective, own)
        for name, judge in found.items():
            self.subscriptions[name].judge = judge
        return found

    def statistics(self) -> dict[str, Any]:
        """The quality of each subscription's forecasts, and their sizes."""
        return {
            name: {
                **each.verification.statistics(),
                "within": each.settings.written["within"],
                "threshold": each.settings.threshold,
                "outstanding": each.notifier.statistics()["outstanding"],
                **each.forecaster.statistics(),
                **({} if each.combination is None else {"parts": len(each.combination.parts)}),
            }
            for name, each in self.subscriptions.items()
        }

    def check_invariants(self) -> None:
        """Raise AssertionError if the parts contradict each other."""
        assert not self.open
        for stream in self.keyed.values():
            assert stream.observers
            stream.check_invariants()
        for each in self.subscriptions.values():
            assert self.numbered[each.number] is each
            assert not each.notices
            for forecaster in each.forecasters():
                forecaster.check_invariants()
            each.notifier.check_invariants()
            each.verification.check_invariants()


def _staying(subscription: PredictiveSubscription, state: KeyState | None) -> list[tuple[Forecaster, int, Context]]:
    """The forecasters, with state and context, that count the events passing by a state of a key, or of no key."""
    found = [] if subscription.combination is None else subscription.combination.staying(state)
    if state is None:
        found.append((subscription.forecaster, NONE, ()))
    elif state.chain is not None:
        found.append((subscription.forecaster, int(state.state), state.chain.context))
    return found
