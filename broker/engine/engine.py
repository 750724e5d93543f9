"""The embedded engine: streams and subscriptions in, batches of events in, results out (design 2.5).

Here: the public interface, input checks, and keeping catalog, program and runtime consistent. Not here: their work. An
engine is a pure function of the calls to it: no clock, no I/O except `load`, no randomness. Not thread-safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, final

from ..automaton.diagram import Graph
from ..events import instant
from ..events.errors import (
    EventError,
    LateEvent,
    LimitExceeded,
    UnknownEvent,
    UnknownSubscription,
    Unsupported,
)
from ..events.nearest import suggestion
from ..events.schema import Row, Schema
from ..events.stream import Disorder, StreamDefinition
from ..events.time_unit import instant_of, instants_of
from ..forecast.model_file import Model
from ..language.names import DEFAULT_LANGUAGE
from ..language.subscription import SubscriptionDefinition
from .anew import begin_anew
from .batches import fitting
from .catalog import Catalog, Definitions
from .disorder.joined import JoinedResults
from .disorder.reordering import Reordering
from .dispatch.dispatcher import Dispatcher
from .entering import enter
from .explanation import diagram, explain, live
from .figures import figures
from .forecasts.explanation import chain_diagram
from .forecasts.probability import Probability, probability_of
from .forecasts.subscription import PredictiveSubscription
from .forms import Parsed
from .leaving import put_out, unsubscribe
from .loading import load_into
from .options import Options
from .prepared import Prepared
from .program import Program
from .punctuation import newest, punctuate, release
from .results import Failed, Results
from .snapshot import EngineState, restore, save
from .subscriber import Subscriber
from .suspensions import failed
from .target import ALWAYS_SINCE
from .updates import ArcUpdate
from .updating import update, update_again

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
        self.disorder: Reordering | None = None  # if a stream's events come in another order than that of their times
        self.events = 0  # events accepted so far; numbers the events without an id
        self.matches = 0  # matches found so far; one that equal subscriptions share counts once
        self.failures: list[Failed] = []  # subscriptions suspended by defects of this program, for a log

    @classmethod
    def load(cls, path: str | Path, options: Options | None = None) -> Engine:
        """An engine with the streams and subscriptions of a TOML file (design 2.1). Raises ForetellError, whose message
        begins with the path, if the content is invalid; OSError if the file cannot be read."""
        engine = cls(options)
        load_into(engine, path)
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

    @property
    def due(self) -> int | None:
        """A punctuation behind this time reports results that wait for it, or makes events final. None: none wait."""
        moment = min(self.program.machines.clock.next, END_OF_TIME if self.disorder is None else self.disorder.due())
        return None if moment >= END_OF_TIME else moment

    def accepts_from(self, stream: str) -> int | None:
        """The time before which an event of a stream is late; None: no event is late."""
        return newest(self.runtime) if self.disorder is None else self.disorder.floor(stream)

    @property
    def reported_until(self) -> int | None:
        """The time before which later calls give no results; FOREVER if results are not told in the order of time."""
        return self.now if self.disorder is None else self.disorder.reported_until

    def add_stream(
        self,
        name: str,
        attributes: Mapping[str, str],
        key: str | None = None,
        disorder: Disorder = "arrival",
        lateness: int | None = None,
        speculation: int | None = None,
        idle: int | None = None,
    ) -> None:
        """Declare a stream; an equal definition may be repeated. `lateness`, `speculation`, `idle`: microseconds; an
        engine has no clock, and only keeps `idle`. Raises DefinitionError."""
        self.declare(StreamDefinition(name, Schema.declare(attributes), key, disorder, lateness, speculation, idle))

    def declare(self, definition: StreamDefinition) -> None:
        """Declare a stream as `add_stream` does."""
        if definition.name not in self.catalog.streams and len(self.catalog.streams) >= self.options.streams_max:
            raise LimitExceeded(f"an engine may have at most {self.options.streams_max} streams (streams_max)")
        self.catalog.declare(definition)
        if self.disorder is None and definition.disorder != "arrival":
            self.disorder = Reordering(self.catalog, self.runtime)

    def subscribe(
        self,
        name: str,
        language: str = DEFAULT_LANGUAGE,
        query: str | Prepared = "",
        lineage: bool | None = None,
        report: str | None = None,
        forecast: Mapping[str, Any] | None = None,
        results: str | None = None,
    ) -> None:
        """Add a subscription. It takes effect from the next epoch. O(its size), whatever the engine holds. A prepared
        query costs a few microseconds, and brings its own language. Raises QueryError with line and column,
        DefinitionError, LimitExceeded or Unsupported; a refused subscription changes nothing."""
        since = ALWAYS_SINCE if self.now is None else self.now
        if isinstance(query, Prepared) and report is None and forecast is None and results is None:
            self._install(self.catalog.bound(name, query, lineage, since))
            return
        if isinstance(query, Prepared):
            language, text = query.language, query.query
        else:
            text = query
        definition = SubscriptionDefinition(
            name, language, text, lineage, report, None if forecast is None else dict(forecast), results
        )
        self.install(self.catalog.parse(definition), since)

    def prepare(self, query: str, language: str = DEFAULT_LANGUAGE) -> Prepared:
        """Parse, type and compile a query once for many subscriptions, which may differ in its literals. Raises as
        `subscribe` does."""
        return self.catalog.forms.prepare(language, query)

    def install(self, parsed: Parsed, since: int) -> None:
        """Activate a parsed subscription as of a time. Raises as `subscribe` does."""
        self._install(self.catalog.compile(parsed, since))

    def _install(self, subscriber: Subscriber) -> None:
        if len(self.catalog.subscriptions) >= self.options.subscriptions_max:
            raise LimitExceeded(
                f"an engine may have at most {self.options.subscriptions_max} subscriptions (subscriptions_max)"
            )
        enter(self, subscriber)

    def finish(self) -> Results | JoinedResults:
        """Report the results that wait for time to pass, and censor open forecasts. Events may follow."""
        if self.disorder is not None:
            return self._all_done(self.disorder.finish(END_OF_TIME, self.program.forecasts.close))
        results = self._done(release(self.runtime, END_OF_TIME))
        for target, notice in self.program.forecasts.close():
            results.notify(0, target, notice)
        return results

    def punctuate(self, time: Any, stream: str | None = None, where: str | None = None) -> Results | JoinedResults:
        """Promise that no stream, or this one, brings or withdraws an event before a time, or a datetime; report the
        results that waited for it, and what is final. Raises LateEvent if a later event has come before and streams are
        in order, EventError for one of several such streams or for what is no time, UnknownStream, Unsupported.
        """
        moment = instant_of(time)
        if where is not None:
            raise Unsupported("a punctuation with a predicate is not supported yet")
        if stream is not None:
            self.catalog.stream(stream)
        if self.disorder is not None:
            return self._all_done(self.disorder.punctuate(moment, stream))
        if stream is not None:
            raise EventError(f"stream {stream!r}: expected a punctuation of all streams, since events are in order")
        before = newest(self.runtime)
        if before is not None and moment < before:
            raise LateEvent(f"expected a punctuation at {before} or later, the newest time, found {moment}")
        return self._done(punctuate(self.runtime, moment))

    def stream_of(self, id: int) -> str | None:
        """The stream of an event that may be withdrawn; None: there is no such event."""
        return None if self.disorder is None else self.disorder.stream_of(id)

    def retract(self, id: int) -> JoinedResults:
        """Withdraw an event. Raises UnknownEvent if there is none of that id, or it is final, as all in order are."""
        if self.disorder is None:
            raise UnknownEvent(f"expected the id of an event that may be withdrawn, found {id}: all events are final")
        return self._all_done(self.disorder.retract(id))

    def update(
        self,
        name: str,
        insert: Sequence[str] = (),
        delete: Sequence[str] = (),
        start: int | None = None,
        end: int | None = None,
    ) -> JoinedResults:
        """Insert arcs and delete those with these names, for the events of [start, end); by default for all that are
        later than any so far. All of it takes effect, or nothing. Raises UnknownSubscription, QueryError with the place
        in the arc's text, DefinitionError, EventError if it reaches events that are final, LimitExceeded, Unsupported.
        """
        return self._all_done(update(self, self._known(name), insert, delete, start, end))

    def updates(self, name: str) -> Sequence[ArcUpdate]:
        """The updates of a subscription. Raises UnknownSubscription."""
        return self._known(name).updates

    def _done(self, results: Results) -> Results:
        self.matches += results.entries()
        self.failures += failed(results)
        results.unmade = self.failures
        return results

    def _all_done(self, results: JoinedResults) -> JoinedResults:
        for part in results.parts:
            if isinstance(part, Results):
                self._done(part)
            else:
                self.matches += part.inserted
                self.failures += part.failures
        return results

    def unsubscribe(self, name: str) -> Results:
        """Remove a subscription, and all that only it needed, at once. The results are its open forecasts, censored.
        Raises UnknownSubscription, and DefinitionError if others read a stream that nothing else would publish."""
        return unsubscribe(self, self._known(name))

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
    ) -> Results | JoinedResults:
        """Process a batch of one stream in columns: rows are tuples in schema order, times may be datetimes. Raises
        UnknownStream, EventError if a row, time, start or id does not fit, LateEvent if a time is before the newest, or
        what is final; with disorder DuplicateEvent, LimitExceeded if too many wait. A refused batch changes nothing.
        """
        definition, moments = self.catalog.stream(stream), list(instants_of(times))
        taken = self._fitting(definition, moments, rows, ids, starts)
        n = len(taken)
        numbers = list(range(self.events + 1, self.events + n + 1)) if ids is None else list(ids)
        begun = moments if starts is None else list(starts)
        if self.disorder is not None:
            self.disorder.check(definition, numbers)
            joined = self.disorder.publish(definition, moments, taken, numbers, begun, self.events)
            self.events += n
            return self._all_done(joined)
        results = self.runtime.process(stream, moments, taken, numbers, begun)
        self.events += n
        return self._done(results)

    def _fitting(
        self,
        stream: StreamDefinition,
        times: Sequence[int],
        rows: Sequence[Row],
        ids: Sequence[int] | None,
        starts: Sequence[int] | None,
    ) -> list[Row]:
        if self.disorder is None:
            return fitting(stream, times, rows, ids, starts, newest(self.runtime))
        return fitting(stream, times, rows, ids, starts, self.disorder.floor(stream.name))

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
        definition = self.catalog.stream(stream)
        taken = self._fitting(definition, times, rows, ids, starts)
        if self.disorder is not None:
            upto = self.events + len(taken) + 1
            self.disorder.check(definition, range(self.events + 1, upto) if ids is None else ids)

    def reset_time(self, stream: str, time: int | None) -> list[Results]:
        """Set the newest time back after an invalid event time of this stream, and restart the stream's readers.
        Returns the results of ending them. Raises UnknownStream, Unsupported if a stream has disorder."""
        return begin_anew(self, self.catalog.stream(stream).name, time)

    # --- forecasts ----------------------------------------------------------------------------------------------

    def forecasts(self, name: str) -> PredictiveSubscription:
        """The forecasts of a subscription, for reading. Raises UnknownSubscription if it has none."""
        return self.program.forecasts.subscription(name)

    def probability(self, name: str, key: object = None, within: int | str | None = None) -> Probability:
        """The probability that the next match of one key comes within a horizon, by default the subscription's own.
        `key`: its value, or a list of several. Changes nothing. Raises UnknownSubscription, DefinitionError."""
        return probability_of(self.forecasts(name), key, within)

    def model(self) -> Model:
        """The counts of all predictive subscriptions, and those that were loaded. O(counts); changes nothing."""
        return self.program.forecasts.model()

    def load_model(self, model: Model) -> None:
        """Forecast with the counts of another engine, and continue counting. Raises DefinitionError if the model is of
        another version of a subscription; a refused model changes nothing."""
        self.program.forecasts.load_model(model)

    # --- inspection ---------------------------------------------------------------------------------------------

    def statistics(self) -> dict[str, Any]:
        """Counts for operators. O(runs). `forecasts`: how good those of each subscription are (Calibration.summary)."""
        return figures(self)

    def partial_matches(self, name: str, most: int = 1_000) -> list[dict[str, list[int]]]:
        """At most `most` partial matches of a subscription: ids of events by operand. A subscription that reports
        completions only shows a few. Partial matches that time has ruled out may still be among them. Raises
        UnknownSubscription, and Unsupported if the executor keeps none."""
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
        return diagram(self.catalog, self.program, self.disorder)

    def chains(self) -> Graph:
        """The chains of predictive subscriptions with their probabilities, as data for a diagram."""
        return chain_diagram(self.program.forecasts)

    def explain(self) -> list[str]:
        """The compiled form of the subscriptions, one line each."""
        return explain(self.catalog, self.program, self.disorder)

    def live(self) -> list[str]:
        """How much each part of the program holds now, one line each. O(runs)."""
        return live(self.program, self.runtime.runs.statistics())

    def snapshot(self) -> bytes:
        """All state on which later results depend, in a form that any later process can restore. O(runs)."""
        return save(EngineState(self, partial(update_again, self)))

    @classmethod
    def restore(cls, data: bytes, options: Options | None = None) -> Engine:
        """The engine of a snapshot. Raises DefinitionError if this version cannot read the bytes."""
        engine = cls(options)
        restore(data, EngineState(engine, partial(update_again, engine)))
        return engine
