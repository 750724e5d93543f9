"""The embedded engine: streams and subscriptions in, batches of events in, results out (design 2.5).

Here: the public interface, input checks, and keeping catalog, program and runtime consistent. Not here: their work. An
engine is a pure function of the calls to it: no clock, no I/O except `load`, no randomness. Not thread-safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias, final

from ..automaton.automaton import Automaton
from ..automaton.diagram import Graph
from ..events import instant
from ..events.errors import (
    DefinitionError,
    ForetellError,
    LateEvent,
    LimitExceeded,
    QueryError,
    UnknownSubscription,
)
from ..events.nearest import suggestion
from ..events.schema import Row, Schema
from ..events.stream import Disorder, StreamDefinition
from ..events.time_unit import instants_of
from ..forecast.model_file import Model
from ..language.names import DEFAULT_LANGUAGE
from ..language.subscription import SubscriptionDefinition
from ..language.subscription_file import read_subscription_file
from .anew import begin_anew
from .batches import fitting
from .catalog import Catalog, Definitions, Holding, InternalStream
from .dispatch.dispatcher import Dispatcher
from .explanation import diagram, explain
from .forecasts.explanation import chain_diagram
from .forecasts.probability import Probability, probability_of
from .forecasts.subscription import PredictiveSubscription
from .foretelling import foretell
from .forms import Parsed
from .leaving import Told, forget, put_out, withdraw
from .loading import install_all
from .notices import Notice
from .options import Options
from .prepared import Prepared
from .program import Program
from .punctuation import newest, punctuate, release
from .results import Failed, Results
from .snapshot import EngineState, restore, save
from .subscriber import Subscriber
from .suspensions import failed, suspended
from .target import ALWAYS_SINCE, Feed, Target

Internal: TypeAlias = tuple[tuple[str, tuple[Automaton, ...]], ...]  # internal streams and the automata that feed them

END_OF_TIME: Final = instant.FOREVER  # later than any event and any end of a window


@final
class Engine:
    """Matches events of any number of streams against any number of subscriptions."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options if options is not None else Options()
        self.catalog = Catalog(self.options)
        self.program = Program(self.options)
        self.runtime = Dispatcher(self.program)
        self.runtime.suspend = self._put_out
        self.events = 0  # events accepted so far; numbers the events without an id
        self.matches = 0  # matches found so far; a match that equal subscriptions share counts once
        self.failures: list[Failed] = []  # subscriptions suspended by defects of this program, for a log

    @classmethod
    def load(cls, path: str | Path, options: Options | None = None) -> Engine:
        """An engine with the streams and subscriptions of a TOML file (design 2.1). Raises ForetellError, with a
        message that begins with the path, if the content is invalid; OSError if the file cannot be read.
        """
        engine = cls(options)
        place = str(path)
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DefinitionError(f"{place}: expected UTF-8 text, found byte {error.start} that is not") from None
        file = read_subscription_file(text, place)
        try:
            for stream in file.streams:
                engine._declare(stream)
            install_all(engine, file.subscriptions)
        except QueryError as error:
            raise QueryError(f"{place}: {error}", error.line, error.column, error.excerpt) from None
        except ForetellError as error:
            raise type(error)(f"{place}: {error}") from None
        return engine

    # --- what there is ------------------------------------------------------------------------------------------

    @property
    def streams(self) -> Mapping[str, StreamDefinition]:
        """Declared streams by name."""
        return MappingProxyType(self.catalog.streams)

    @property
    def subscriptions(self) -> Mapping[str, SubscriptionDefinition]:
        """Active subscriptions by name, in order of registration."""
        return Definitions(self.catalog.subscriptions)

    @property
    def published(self) -> Mapping[str, Schema]:
        """The schemas of streams that subscriptions publish, by name."""
        return {name: p.schema for name, p in self.catalog.published.items()}

    @property
    def now(self) -> int | None:
        """The newest processed time, in microseconds; None before the first event."""
        return self.runtime.now

    def add_stream(
        self, name: str, attributes: Mapping[str, str], key: str | None = None, disorder: Disorder = "arrival"
    ) -> None:
        """Declare a stream; an equal definition may be repeated. Raises DefinitionError or Unsupported."""
        self._declare(StreamDefinition(name, Schema.declare(attributes), key, disorder))

    def _declare(self, definition: StreamDefinition) -> None:
        if definition.name not in self.catalog.streams and len(self.catalog.streams) >= self.options.streams_max:
            raise LimitExceeded(f"an engine may have at most {self.options.streams_max} streams (streams_max)")
        self.catalog.declare(definition)

    def subscribe(
        self,
        name: str,
        language: str = DEFAULT_LANGUAGE,
        query: str | Prepared = "",
        lineage: bool | None = None,
        report: str | None = None,
        forecast: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a subscription. It takes effect from the next epoch. O(its size), whatever the engine holds. A prepared
        query costs a few microseconds, and brings its own language. Raises QueryError with line and column,
        DefinitionError, LimitExceeded or Unsupported; a refused subscription changes nothing.
        """
        since = ALWAYS_SINCE if self.now is None else self.now
        if isinstance(query, Prepared) and report is None and forecast is None:
            self._install(self.catalog.bound(name, query, lineage, since))
            return
        if isinstance(query, Prepared):
            language, text = query.language, query.query
        else:
            text = query
        definition = SubscriptionDefinition(
            name, language, text, lineage, report, None if forecast is None else dict(forecast)
        )
        self.install(self.catalog.parse(definition), since)

    def prepare(self, query: str, language: str = DEFAULT_LANGUAGE) -> Prepared:
        """Parse, type and compile a query once for many subscriptions, which may differ in its literals. Raises as
        `subscribe` does.
        """
        return self.catalog.forms.prepare(language, query)

    def install(self, parsed: Parsed, since: int) -> None:
        """Activate a parsed subscription as of a time. Raises as `subscribe` does."""
        self._install(self.catalog.compile(parsed, since))

    def _install(self, subscriber: Subscriber) -> None:
        if len(self.catalog.subscriptions) >= self.options.subscriptions_max:
            raise LimitExceeded(
                f"an engine may have at most {self.options.subscriptions_max} subscriptions (subscriptions_max)"
            )
        form = subscriber.form
        if subscriber.name in self.catalog.withdrawn:  # a suspended subscription is registered again
            self.catalog.enter(subscriber, None)
            return
        holding: Holding | None = None
        plan = subscriber.plan
        if plan is not None:
            self.program.forecasts.check(plan, subscriber)
        if subscriber.machine is not None:
            holding = Holding(feed=self._publishes(subscriber))
            self.program.machines.join(subscriber.name, subscriber.machine, subscriber, holding.feed)
        for branch, recipe in enumerate(form.recipes):
            own = subscriber if branch == 0 else subscriber.at_branch(branch)
            if recipe is not None and self.program.merged.join(recipe, own):
                continue
            if holding is None:
                holding = Holding()
                compiled = form.compiled(subscriber.literals)
                self._attach_internal(holding, compiled.internal, subscriber.since)
            feed = self._publishes(subscriber)
            entered = subscriber.name if branch == 0 else f"{subscriber.name} {branch}"
            holding.services.append(self.program.enter(entered, compiled.automata[branch], own, feed, plan is not None))
        self.catalog.enter(subscriber, holding)
        self.runtime.refresh()
        if plan is not None and holding is not None:
            foretell(self.program, plan, subscriber, holding)

    def _notices(self, told: list[tuple[Target, Notice]]) -> Results:
        """Results for notices that no event has caused."""
        now = 0 if self.now is None else self.now
        results = Results([now], [()], [0], [now], {})
        for target, notice in told:
            results.notify(0, target, notice)
        return results

    def finish(self) -> Results:
        """Report the results that wait for time to pass, and censor open forecasts. The engine accepts events
        afterwards.
        """
        results = self._done(release(self.runtime, END_OF_TIME))
        for target, notice in self.program.forecasts.close():
            results.notify(0, target, notice)
        return results

    def punctuate(self, time: int) -> Results:
        """Promise that no stream brings an earlier event; report the results that waited for this time. Raises
        LateEvent if a later event has come before.
        """
        before = newest(self.runtime)
        if before is not None and time < before:
            raise LateEvent(f"expected a punctuation at {before} or later, the newest time, found {time}")
        return self._done(punctuate(self.runtime, time))

    def _done(self, results: Results) -> Results:
        self.matches += results.entries()
        self.failures += failed(results)
        results.unmade = self.failures
        return results

    def _publishes(self, subscriber: Subscriber) -> Feed | None:
        publish = subscriber.form.publish
        return None if publish is None else Feed(self.program.directory.stream(publish), subscriber.since)

    def _attach_internal(self, holding: Holding, internal: Internal, since: int) -> None:
        for name, automata in internal:
            holding.internal.append(name)
            known = self.catalog.internal.get(name)
            if known is not None:
                known.users += 1
                continue
            feed = Feed(self.program.directory.stream(name), since)
            services = [self.program.enter(f"{name} {at}", each, None, feed) for at, each in enumerate(automata)]
            self.catalog.internal[name] = InternalStream(1, services)

    def unsubscribe(self, name: str) -> Results:
        """Remove a subscription, and all that only it needed, at once. The results are its open forecasts, censored.
        Raises UnknownSubscription, and DefinitionError if others read a stream that nothing else would publish.
        """
        subscriber = self._known(name)
        self.catalog.check_leave(subscriber)
        left: list[str] = []
        told: Told = []
        if self.catalog.withdrawn.pop(name, None) is None:
            told, left = withdraw(self.catalog, self.program, subscriber)
        results = self._notices(told)
        self.catalog.leave(subscriber)
        self.runtime.refresh()
        publish = subscriber.form.publish
        forget(self.catalog, self.program, self.runtime, left if publish is None else [*left, publish])
        return results

    def _known(self, name: str) -> Subscriber:
        subscriber = self.catalog.subscriptions.get(name)
        if subscriber is None:
            near = suggestion(name, list(self.catalog.subscriptions))
            raise UnknownSubscription(f"unknown subscription {name!r}{near}")
        return subscriber

    def _put_out(self, results: Results, event: int) -> None:
        """Suspend the subscriptions that ask for a condition which has raised an error at an event."""
        put_out(self.catalog, self.program, self.runtime, results, event)

    # --- events -------------------------------------------------------------------------------------------------

    def publish(
        self,
        stream: str,
        times: Sequence[Any],
        rows: Sequence[Row],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> Results:
        """Process a batch of events of one stream, in columns; rows are tuples in schema order. Raises UnknownStream,
        EventError if a row, time, start or id does not fit, LateEvent if a time is earlier than a previous one. A
        refused batch changes nothing. Times: microseconds, or datetimes, or times of numpy or pandas.
        """
        given = instants_of(times)
        taken = fitting(self.catalog.stream(stream), given, rows, ids, starts, newest(self.runtime))
        n = len(taken)
        moments = list(given)
        numbers = list(range(self.events + 1, self.events + n + 1)) if ids is None else list(ids)
        results = self.runtime.process(stream, moments, taken, numbers, moments if starts is None else list(starts))
        self.events += n
        return self._done(results)

    def check(
        self,
        stream: str,
        times: Sequence[int],
        rows: Sequence[Row],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> None:
        """Raise the errors that `publish` would raise. A batch that passes may be published in pieces of any length:
        each subscription gets the same results in the same order.
        """
        fitting(self.catalog.stream(stream), times, rows, ids, starts, newest(self.runtime))

    def reset_time(self, stream: str, time: int | None) -> list[Results]:
        """Set the newest time back after an invalid event time of this stream, and restart the stream's readers.
        Returns the results of ending them. Raises UnknownStream.
        """
        return begin_anew(self, self.catalog.stream(stream).name, time)

    # --- forecasts ----------------------------------------------------------------------------------------------

    def forecasts(self, name: str) -> PredictiveSubscription:
        """The forecasts of a subscription, for reading. Raises UnknownSubscription if it has none."""
        return self.program.forecasts.subscription(name)

    def probability(self, name: str, key: object = None, within: int | str | None = None) -> Probability:
        """The probability that the next match of one key comes within a horizon, by default the subscription's own.
        `key`: its value, or a list of several. Changes nothing. Raises UnknownSubscription, DefinitionError.
        """
        return probability_of(self.forecasts(name), key, within)

    def model(self) -> Model:
        """The counts of all predictive subscriptions, and those that were loaded. O(counts); changes nothing."""
        return self.program.forecasts.model()

    def load_model(self, model: Model) -> None:
        """Forecast with the counts of another engine, and continue counting. Raises DefinitionError if the model is of
        another version of a subscription; a refused model changes nothing.
        """
        self.program.forecasts.load_model(model)

    # --- inspection ---------------------------------------------------------------------------------------------

    def statistics(self) -> dict[str, Any]:
        """Counts for operators. O(runs). `forecasts`: the quality of each subscription's forecasts
        (Calibration.summary).
        """
        return {
            "events": self.events,
            "matches": self.matches,
            "streams": len(self.catalog.streams),
            "published_streams": len(self.catalog.published),
            "subscriptions": len(self.catalog.subscriptions),
            **self.program.merged.statistics(),
            **self.runtime.runs.statistics(),
            "suspended": len(suspended(self.catalog, self.program)),
            **self.program.machines.statistics(),
            **({"forecasts": self.program.forecasts.statistics()} if self.program.forecasts.subscriptions else {}),
        }

    def partial_matches(self, name: str, most: int = 1_000) -> list[dict[str, list[int]]]:
        """At most `most` partial matches of a subscription: ids of events by operand. A subscription that reports
        completions only shows a few. Partial matches that time has ruled out may still be among them. Raises
        UnknownSubscription, and Unsupported if the executor keeps none.
        """
        self._known(name)
        return self.program.machines.partial(name, 0 if self.now is None else self.now, most)

    def check_invariants(self) -> None:
        """Raise AssertionError if the engine's parts contradict each other; for tests. O(everything)."""
        self.program.check_invariants()
        self.runtime.check_invariants()
        merged = [service for service in self.catalog.services() if service.end is not None]
        assert self.program.merged.references() == len(merged)

    def diagram(self) -> Graph:
        """The merged automata, as data for a diagram."""
        return diagram(self.catalog, self.program)

    def chains(self) -> Graph:
        """The chains of predictive subscriptions with their probabilities, as data for a diagram."""
        return chain_diagram(self.program.forecasts)

    def explain(self) -> list[str]:
        """The compiled form of the subscriptions, one line each."""
        return explain(self.catalog, self.program)

    def snapshot(self) -> bytes:
        """All state on which later results depend, in a form that any later process can restore. O(runs)."""
        return save(EngineState(self.catalog, self.runtime, self.events, self.matches))

    @classmethod
    def restore(cls, data: bytes, options: Options | None = None) -> Engine:
        """The engine of a snapshot. Raises DefinitionError if this version cannot read the bytes."""
        engine = cls(options)
        state = EngineState(engine.catalog, engine.runtime, install=engine.install)
        restore(data, state)
        engine.events, engine.matches = state.events, state.matches
        return engine
