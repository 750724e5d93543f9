"""All forecasts of an engine: which subscriptions have them, whose events they count, what was learnt so far.

Here: coming and going, the model. Not here: what an event does (scope, outlook).
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop
from typing import Any, final

from mypy_extensions import i64

from ...events.errors import DefinitionError, UnknownSubscription
from ...events.schema import Row
from ...forecast.counts import Context, Counts
from ...forecast.forecaster import Forecaster
from ...forecast.model_file import Model
from ...forecast.moves import marks_of
from ...forecast.varying import check_varying, varying_of
from ..directory import Directory
from ..dispatch.lanes import Lane
from ..dispatch.matchers import Matcher
from ..notices import Notice
from ..subscriber import Subscriber
from ..target import Target
from .combination import Combination, Part
from .judging import Judge
from .keys import Positions
from .outlook import Outlook
from .plan import Plan
from .progress import Progress
from .scope import Pulse, Scope
from .states import NONE
from .track import Track


@final
class Forecasts:
    """`scopes` by stream number is what the runtime reads; `open` are those whose event is not done yet."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.outlooks: dict[str, Outlook] = {}  # by subscription
        self.numbered: dict[int, Outlook] = {}
        self.scopes: dict[int, list[Scope]] = {}
        self.keyed: dict[Positions, Scope] = {}
        self.open: list[Scope] = []
        self.deadlines: list[tuple[int, int]] = []  # of horizons in time: (time, number of the outlook)
        self.trained = Model()
        self.next = 0

    # --- events -------------------------------------------------------------------------------------------------

    def begin(self, scopes: list[Scope], stream: int, row: Row, time: i64) -> None:
        """An event of the stream, before anything matches it."""
        for scope in scopes:
            if not scope.open:
                self.open.append(scope)
            scope.begin(stream, row, time)

    def finish(self, time: i64) -> list[tuple[Target, Notice]]:
        """The event, and what was derived from it, is done: who is to be told what."""
        telling: dict[int, Outlook] = {}
        for scope in self.open:
            scope.finish()
            if len(scope.telling) > 0:
                for observer in scope.told():
                    assert isinstance(observer, Outlook)
                    telling[observer.number] = observer
        if len(self.open) > 0:
            self.open.clear()
        while len(self.deadlines) > 0 and self.deadlines[0][0] < time:
            outlook = self.numbered.get(heappop(self.deadlines)[1])
            if outlook is not None:
                outlook.expire(time)
                telling[outlook.number] = outlook
        told: list[tuple[Target, Notice]] = []
        if len(telling) > 0:
            for number in sorted(telling):
                self._collect(telling[number], told)
        return told

    def _collect(self, outlook: Outlook, told: list[tuple[Target, Notice]]) -> None:
        for notice in outlook.notices:
            told.append((outlook.target, notice))
        outlook.notices.clear()

    def close(self) -> list[tuple[Target, Notice]]:
        """The end of all streams: what is outstanding is censored."""
        told: list[tuple[Target, Notice]] = []
        for outlook in self.outlooks.values():
            outlook.close()
            self._collect(outlook, told)
        self.deadlines.clear()
        return told

    # --- coming and going ---------------------------------------------------------------------------------------

    def check(self, plan: Plan, subscriber: Subscriber) -> None:
        """Raises DefinitionError where the model that was loaded is of another version of the subscription."""
        version = plan.version(subscriber.name, subscriber.text())
        known = [found for found in self._versions() if found.rpartition("@")[0] == subscriber.name]
        if known and version not in known:
            raise DefinitionError(
                f"subscription {subscriber.name!r}: the model was trained with another query or other states:"
                f" expected version {version}, found {known[0]}"
            )
        for each in plan.versions(subscriber.name, subscriber.text()):
            self._known(each, plan)

    def _known(self, version: str, plan: Plan) -> Counts:
        """What the model knows of a version, to go on with. Raises DefinitionError where it forgets otherwise."""
        return _merged(plan.settings.half_life, version, _only(self.trained.counts, version))

    def _versions(self) -> list[str]:
        return self.trained.counts.versions()

    def join(
        self, plan: Plan, subscriber: Subscriber, lane: Lane | None, matcher: Matcher | None, parts: list[Matcher]
    ) -> Outlook:
        """Forecasts for a subscription that was checked; its runs, or its machine, are yet to be watched. `parts` are
        the machines of the plan's parts. O(keys)."""
        self.next += 1
        version = plan.version(subscriber.name, subscriber.text())
        scope = self._scope(plan.positions)
        progress: Progress | None = None
        if lane is not None and matcher is not None:
            progress = Progress(lane, matcher, plan.states, plan.left, plan.positions[0][1])
        counts = self._known(version, plan)
        outlook = Outlook(
            self.next,
            subscriber,
            version,
            plan.settings,
            plan.states,
            scope,
            plan.windows,
            progress,
            counts,
        )
        outlook.deadlines = self.deadlines
        if lane is not None and plan.division is not None:
            own: list[Part] = []
            for part, machine in zip(plan.division.parts, parts, strict=True):
                name, positions = part.version(version), plan.positions[0][1]
                own.append(Part(part, name, plan.settings, self._known(name, plan), lane, machine, positions))
            outlook.combination = Combination(plan.division, own, outlook, scope, plan.settings, outlook.pace)
        self.outlooks[subscriber.name] = outlook
        self.numbered[outlook.number] = outlook
        scope.join(outlook, plan.settings.context, outlook.clock is not None)
        if outlook.clock is not None:
            self._load_gaps(self.trained, outlook)
        return outlook

    def _scope(self, positions: Positions) -> Scope:
        scope = self.keyed.get(positions)
        if scope is None:
            numbers = {self.directory.stream(stream): attributes for stream, attributes in positions}
            scope = self.keyed[positions] = Scope(numbers)
            for number in numbers:
                self.scopes.setdefault(number, []).append(scope)
        return scope

    def leave(self, name: str) -> list[tuple[Target, Notice]]:
        """Undo one `join`: what was outstanding is censored. O(keys)."""
        outlook = self.outlooks.pop(name)
        del self.numbered[outlook.number]
        outlook.close()
        told: list[tuple[Target, Notice]] = []
        self._collect(outlook, told)
        scope = outlook.scope
        scope.leave(outlook, outlook.clock is not None)
        if not scope.observers:
            self.keyed = {positions: other for positions, other in self.keyed.items() if other is not scope}
            for number in scope.positions:
                self.scopes[number].remove(scope)
                if not self.scopes[number]:
                    del self.scopes[number]
        return told

    # --- what was learnt ----------------------------------------------------------------------------------------

    def outlook(self, name: str) -> Outlook:
        """The forecasts of a subscription. Raises UnknownSubscription."""
        found = self.outlooks.get(name)
        if found is None:
            raise UnknownSubscription(f"subscription {name!r} has no forecasts")
        return found

    def model(self) -> Model:
        """All that was counted and loaded, with the events that have passed tracks by until now. O(counts + tracks).

        Nothing changes by it: an engine that was asked goes on as one that was not.
        """
        found = Model()
        versions = [version for outlook in self.outlooks.values() for version, _, _ in outlook.books()]
        own = {*versions, *map(marks_of, versions)}
        found.merge(_others(self.trained, own))
        for (version, known), gaps in self.trained.gaps.items():
            found.gaps_of(version, known).merge(gaps)  # a pulse has only those that were measured here
        for outlook in self.outlooks.values():
            for _, counts, _ in outlook.books():
                found.counts.merge(counts)
            for key, pulse in outlook.scope.pulses.items():
                if pulse.gaps is not None and outlook.clock is not None:
                    found.gaps_of(outlook.version, (pulse.run,)).merge(pulse.gaps)
                track = pulse.tracks.get(outlook.number)
                if track is None:
                    if outlook.parts:
                        continue
                    passed = pulse.events - outlook.bases.get(key, 0)
                else:
                    passed = pulse.events - track.seen
                if passed > 0:
                    for forecaster, state, context in _staying(outlook, track):
                        _passed(found.counts, forecaster, context, int(state), pulse, int(passed))
        return found

    def load_model(self, model: Model) -> None:
        """Add what was trained elsewhere, for subscriptions that are here and others that may come.

        Raises DefinitionError where it is of another version of a subscription that is here; then nothing has changed.
        """
        for outlook in self.outlooks.values():
            name = outlook.subscriber.name
            known = [found for found in model.counts.versions() if found.rpartition("@")[0] == name]
            if known and outlook.version not in known:
                raise DefinitionError(
                    f"subscription {name!r}: the model was trained with another query or other states:"
                    f" expected version {outlook.version}, found {known[0]}"
                )
            for version, _, _ in outlook.books():
                _merged(outlook.settings.half_life, version, _only(model.counts, version))
        self.trained.merge(model)
        for outlook in self.outlooks.values():
            for version, _, forecaster in outlook.books():
                forecaster.absorb(_only(model.counts, version))
            if outlook.clock is not None:
                self._load_gaps(model, outlook)

    def _load_gaps(self, model: Model, outlook: Outlook) -> None:
        """Gaps that were measured elsewhere count for all keys."""
        for (version, _), gaps in model.gaps.items():
            if version == outlook.version:
                outlook.scope.gaps.merge(gaps)

    def judge(self, horizons: Sequence[int], model: Model | None = None) -> dict[str, Judge]:
        """From now on every forecast is judged over these horizons, in events: a judge by subscription.

        With a model its forecasts are, else those that are made. Judges are in no snapshot, and are to be closed at the
        end. Raises DefinitionError where forecasts are put together from parts: these have one horizon only; and
        LimitExceeded where values of a context that vary make a chain too large for a horizon.
        """
        found: dict[str, Judge] = {}
        for name, outlook in self.outlooks.items():
            if outlook.combination is not None:
                raise DefinitionError(
                    f"subscription {name!r}: forecasts that are put together from parts are not judged over other"
                    " horizons: expected forecast.parts = false"
                )
            check_varying(outlook.settings.context, [outlook.states.shape.states], max(horizons, default=1))
            own: Forecaster | None = None
            if model is not None:
                counts, settings = _only(model.counts, outlook.version), outlook.settings
                keyed, steps = settings.context.keyed, max(horizons, default=1)
                varying = varying_of(settings.context)
                shape = outlook.states.shape
                own = Forecaster(outlook.version, shape, steps, counts, settings.values, keyed, varying=varying)
            found[name] = Judge(horizons, outlook.effective, own)
        for name, judge in found.items():
            self.outlooks[name].judge = judge
        return found

    def statistics(self) -> dict[str, Any]:
        """How good the forecasts of each subscription were, and their sizes."""
        return {
            name: {
                **outlook.account.statistics(),
                "within": outlook.settings.written["within"],
                "threshold": outlook.settings.threshold,
                "outstanding": outlook.watch.statistics()["outstanding"],
                **outlook.forecaster.statistics(),
                **({} if outlook.combination is None else {"parts": len(outlook.combination.parts)}),
            }
            for name, outlook in self.outlooks.items()
        }

    def check_invariants(self) -> None:
        """Raise AssertionError where the parts contradict each other."""
        assert not self.open
        for scope in self.keyed.values():
            assert scope.observers
            scope.check_invariants()
        for outlook in self.outlooks.values():
            assert self.numbered[outlook.number] is outlook
            assert not outlook.notices
            for _, _, forecaster in outlook.books():
                forecaster.check_invariants()
            outlook.watch.check_invariants()
            outlook.account.check_invariants()


def _merged(half_life: int | None, version: str, known: Counts) -> Counts:
    """What is known of a version, to go on with. Raises DefinitionError where it forgets otherwise."""
    counts = Counts(half_life)
    counts.table(version)
    for name, _ in known.tables:
        counts.table(name)
    counts.merge(known)
    return counts


def _only(counts: Counts, version: str) -> Counts:
    """The counts of one version, and those of the moves of its marks."""
    found = Counts()
    names = version, marks_of(version)
    for (name, context), table in counts.tables.items():
        if name in names:
            found.clocks.setdefault(name, counts.clock_of(name))
            for generation, rows in table.generations.items():
                for state, row in rows.items():
                    for following, count in row.items():
                        found.table(name, context).put(generation, state, following, count)
    return found


def _staying(outlook: Outlook, track: Track | None) -> list[tuple[Forecaster, int, Context]]:
    """Whose steps events make which pass a track by, or a key without one, in which state and context."""
    found = [] if outlook.combination is None else outlook.combination.staying(track)
    if track is None:
        found.append((outlook.forecaster, NONE, ()))
    elif track.place is not None:
        found.append((outlook.forecaster, int(track.state), track.place.context))
    return found


def _passed(counts: Counts, forecaster: Forecaster, context: Context, state: int, pulse: Pulse, times: int) -> None:
    """Count events that have passed a track by, which have left the state and the mark as they were."""
    steps = [(forecaster.version, context, state)]
    moves = forecaster.moves
    if moves is not None and len(context) > 0:
        steps.append((moves.version, moves.varying.binned(context), moves.varying.code(context)))
    for version, where, following in steps:
        clock = counts.clock_of(version)
        generation = pulse.time // clock.width if clock.width else 0
        counts.table(version, where).put(generation, state, following, times)
        clock.generation = max(clock.generation, generation)


def _others(model: Model, versions: set[str]) -> Model:
    """What was counted of other versions than these."""
    found = Model()
    for version in model.counts.versions():
        if version not in versions:
            found.counts.merge(_only(model.counts, version))
    return found
