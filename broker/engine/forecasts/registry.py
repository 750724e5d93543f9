"""All forecasts of an engine: the predictive subscriptions, the streams whose events they count, and the learnt model.

Here: adding and removing forecasts. Not here: the effect of an event (broker.forecast.keyed_stream, subscription), the
content of a model (broker.forecast.learning).
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop
from typing import Any, Final, final

from mypy_extensions import i64

from ...automaton.analyses.chain_keys import Positions
from ...events.errors import UnknownSubscription
from ...events.schema import Row
from ...forecast.combination import Combination, PartForecaster
from ...forecast.counts import Counts
from ...forecast.forecaster import Forecaster
from ...forecast.judging import Judge
from ...forecast.key_state import KeyState
from ...forecast.keyed_stream import KeyedStream
from ...forecast.learning import judges_of, load_gaps, load_model, model_of
from ...forecast.model_file import Model
from ...forecast.model_form import ModelForm
from ...forecast.plan import ForecastPlan
from ...forecast.progress import Progress
from ...forecast.states import NONE
from ...forecast.versions import check_version, continued
from ..dispatch.matchers import Matcher
from ..dispatch.registrations import Registration
from ..notices import Notice
from ..program.directory import Directory
from ..program.target import ALWAYS_SINCE, Target
from ..subscribing.subscriber import Subscriber
from .listening import PartFollower
from .progress import RunProgress
from .subscription import FollowedKeys, PredictiveSubscription

_NONE: Final[list[tuple[Target, Notice]]] = []  # nobody changes it


@final
class Forecasts:
    """The runtime reads `scopes`, by stream number. The first `opened` of `open` are those whose event is not done yet;
    places are used again, as a list that grows and shrinks with each event would cost more than the rest."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.subscriptions: dict[str, PredictiveSubscription] = {}
        self.numbered: dict[int, PredictiveSubscription] = {}
        self.scopes: dict[int, list[KeyedStream]] = {}
        self.keyed: dict[Positions, KeyedStream] = {}
        self.open: list[KeyedStream] = []
        self.opened: i64 = 0
        self.deadlines: list[tuple[int, int]] = []  # of horizons in time: (time, number of the subscription)
        self.trained = Model()
        self.next = 0

    # --- events -------------------------------------------------------------------------------------------------

    def begin(self, scopes: list[KeyedStream], stream: int, row: Row, time: i64) -> None:
        """Begin an event of the stream, before any matching."""
        for scope in scopes:
            if not scope.open:
                if self.opened == len(self.open):
                    self.open.append(scope)
                else:
                    self.open[self.opened] = scope
                self.opened += 1
            scope.begin(stream, row, time)

    def finish(self, time: i64) -> list[tuple[Target, Notice]]:
        """End the event and its derived events; returns the notices, each with its target."""
        told = len(self.deadlines) > 0 and self.deadlines[0][0] < time
        at: i64
        for at in range(self.opened):
            scope = self.open[at]
            scope.finish()
            told = told or len(scope.reporting) > 0
        if told:
            return self._notices(time)
        self.opened = 0
        return _NONE

    def _notices(self, time: i64) -> list[tuple[Target, Notice]]:
        reporting: dict[int, PredictiveSubscription] = {}
        at: i64
        for at in range(self.opened):
            for observer in self.open[at].take_reporting():
                assert isinstance(observer, PredictiveSubscription)
                reporting[observer.number] = observer
        self.opened = 0
        while len(self.deadlines) > 0 and self.deadlines[0][0] < time:
            subscription = self.numbered.get(heappop(self.deadlines)[1])
            if subscription is not None:
                subscription.expire(time)
                reporting[subscription.number] = subscription
        notices: list[tuple[Target, Notice]] = []
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
        for subscription in self.unpacked().values():
            subscription.close()
            self._collect(subscription, notices)
        self.deadlines.clear()
        return notices

    # --- coming and going ---------------------------------------------------------------------------------------

    def check(self, plan: ForecastPlan, subscriber: Subscriber) -> None:
        """Raise DefinitionError if the loaded model is of another version of the subscription."""
        if not self.trained.counts.tables:
            return
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
        whole: Forecaster | ModelForm
        known = self._known(version, plan)
        models = None if registration is not None or subscriber.lineage else plan.models
        if models is None or known.tables[version, ()].rows:
            whole = settings.forecaster(version, plan.states.shape, known)
        else:
            whole = models
        followed = FollowedKeys(stream, progress)
        found = PredictiveSubscription(self.next, since, subscriber, plan, version, whole, followed, self.deadlines)
        found.may_pack(models)
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
        load_gaps(self.trained, found)
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
        found.unpack()
        del self.numbered[found.number]
        found.close()
        notices: list[tuple[Target, Notice]] = []
        self._collect(found, notices)
        stream = found.stream
        stream.leave(found, found.clock is not None)
        if not stream.observers:
            self.open.clear()
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
        found.unpack()
        return found

    def unpacked(self) -> dict[str, PredictiveSubscription]:
        """All subscriptions, for who reads or changes what they have learnt. O(those that are packed)."""
        self.unpack()
        return self.subscriptions

    def unpack(self) -> list[tuple[PredictiveSubscription, KeyState | None]]:
        """Have objects of all subscriptions; returns those that had none, for `pack_again`."""
        return [(each, each.unpack()) for each in self.subscriptions.values() if each.is_packed()]

    def pack_again(self, packed: list[tuple[PredictiveSubscription, KeyState | None]]) -> None:
        """Undo `unpack`."""
        for each, state in packed:
            each.pack_again(state)

    def model(self) -> Model:
        """The counts and gaps of all forecasts (broker.forecast.learning.model_of)."""
        packed = self.unpack()
        found = model_of(self.subscriptions, self.trained)
        self.pack_again(packed)
        return found

    def load_model(self, model: Model) -> None:
        """Add a model that was trained elsewhere, for present and later subscriptions.

        Raises DefinitionError if it is of another version of a present subscription; a refused model changes nothing.
        """
        load_model(self.unpacked(), self.trained, model)

    def judge(self, horizons: Sequence[int], model: Model | None = None) -> dict[str, Judge]:
        """Judge every forecast from now on over these horizons (judges_of, which says what it raises)."""
        return judges_of(self.unpacked(), horizons, model)

    def statistics(self) -> dict[str, Any]:
        """The quality of each subscription's forecasts, and their sizes."""
        found: dict[str, Any] = {}
        for name, each in self.subscriptions.items():
            was_packed, state = each.is_packed(), each.unpack()
            found[name] = each.statistics()
            if was_packed:
                each.pack_again(state)
        return found

    def check_invariants(self) -> None:
        """Raise AssertionError if the parts contradict each other."""
        assert self.opened == 0
        for stream in self.keyed.values():
            assert stream.observers
            stream.check_invariants()
        for each in self.subscriptions.values():
            assert self.numbered[each.number] is each
            assert not each.notices
            if each.is_packed():
                continue
            for forecaster in each.forecasters():
                forecaster.check_invariants()
            each.notifier.check_invariants()
            each.verification.check_invariants()
