"""The embedded engine: streams and subscriptions in, batches of events in, results out (design 2.5).

Here: the calls that change something, input checks, and keeping catalog, program and runtime consistent. Not here: the
work of these, questions (view). An engine is a pure function of the calls to it: no clock, no I/O except `load`, no
randomness. Not thread-safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

from ..automaton.arc_updates import ArcUpdate
from ..events.batch import Batch
from ..events.errors import EventError, LateEvent, UnknownEvent, shown
from ..events.schema import Row, Schema
from ..events.stream import Disorder, Duration, StreamDefinition, stream_durations
from ..events.time_unit import TimeUnit, instant_of, instants_of, shown_instant
from ..forecast.model_file import Model
from ..language.names import DEFAULT_LANGUAGE
from ..language.subscription import SubscriptionDefinition
from .batches import fitting, fitting_columns, moments_of, numbers_of
from .compiler.prepared import Prepared
from .disorder.joined import JoinedResults
from .disorder.looking import check_invariants
from .dispatch.punctuation import newest, punctuate, release
from .executors.event_ids import EventIds, event_ids
from .inspection.figures import figures
from .inspection.view import END_OF_TIME, EngineView
from .match import Failed
from .options import Options
from .reasons import AskedInput, Why, WhyNot, why, why_not
from .results import Results
from .snapshot import EngineState, restore, save
from .subscribing.entering import activate, install
from .subscribing.leaving import suspend_failed, unsubscribe
from .subscribing.loading import load_into
from .subscribing.replacing import replace
from .subscribing.streams import add_attribute, declare, remove_stream
from .subscribing.suspensions import failed
from .subscribing.time_reset import restart_readers
from .subscribing.updating import update


@final
class Engine(EngineView):
    """Matches events of any number of streams against any number of subscriptions."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(Options() if options is None else options)
        self.runtime.suspend = self._suspend_failed
        self.failures: list[Failed] = []  # subscriptions suspended by defects of this program, for a log

    @classmethod
    def load(cls, path: str | Path, options: Options | None = None) -> Engine:
        """An engine with the streams and subscriptions of a TOML file (design 2.1). Raises ForetellError, whose message
        begins with the path, if the content is invalid; OSError if the file cannot be read."""
        engine = cls(options)
        load_into(engine, path)
        return engine

    # --- reasons ----------------------------------------------------------------------------------------------------

    def why(self, match: str, events: Sequence[AskedInput], subscription: str | None = None) -> Why:
        """Why a match was reported: its events in order, the conditions under which each was taken, and what was passed
        over. An engine keeps no events: `events` are those since the match began, and what a negation looks back on.
        Changes nothing. O(what the subscription needs for the events), for each subscription if none is named. Raises
        UnknownSubscription, Unsupported, DefinitionError if these events have no such match, and LimitExceeded if they
        have too many partial matches (REASONS_STEPS_MAX)."""
        if subscription is not None:
            self._known(subscription)
        return why(self, Engine, match, events, list(self.subscriptions) if subscription is None else [subscription])

    def why_not(
        self,
        subscription: str,
        events: Sequence[AskedInput],
        key: object = None,
        wanted: Sequence[int] = (),
        time: int | None = None,
    ) -> WhyNot:
        """Why a subscription has not matched: the partial matches on these events that came nearest, how far each
        came, and what stopped it. `key`: a value of the partition or the stream's key; `wanted`: ids of the events that
        should have matched; `time`: as things stood then. Changes nothing. O(runs x events), up to REASONS_STEPS_MAX:
        then only the nearest partial matches are followed, and `cut` says how many were left out. Raises
        UnknownSubscription, Unsupported."""
        self._known(subscription)
        return why_not(self, Engine, subscription, events, key, wanted, time)

    # --- streams and subscriptions ----------------------------------------------------------------------------------

    def add_stream(
        self,
        name: str,
        attributes: Mapping[str, str],
        key: str | None = None,
        disorder: Disorder = "arrival",
        lateness: Duration | None = None,
        speculation: Duration | None = None,
        idle: Duration | None = None,
        time_unit: TimeUnit | None = None,
        sequence: str | None = None,
    ) -> None:
        """Declare a stream; an equal one may be repeated. `lateness`, `speculation`, `idle`: microseconds, text like
        `5 s`, a timedelta; of `idle` and the first `time_unit` an engine only keeps a note, as it has no clock.
        `sequence`: the attribute with the numbers of the events. Raises DefinitionError."""
        schema = Schema.declare(attributes)
        order = disorder, *stream_durations(name, lateness, speculation, idle), time_unit
        self.declare(StreamDefinition(name, schema, key, *order, sequence=sequence))

    def add_attribute(self, stream: str, name: str, type: str) -> None:
        """Add an attribute that may be null, such as `int?`, to a stream. Subscriptions go on as they are; later texts
        read it. Rows may end before it; earlier events have null. Raises UnknownStream, DefinitionError."""
        add_attribute(self, stream, name, type)

    def remove_stream(self, name: str) -> JoinedResults:
        """Remove a stream that no subscription reads, with its events that are not final; the results are those that
        waited for it. Raises UnknownStream, and DefinitionError if subscriptions read or publish it."""
        return self._all_done(remove_stream(self, name))

    def declare(self, definition: StreamDefinition) -> None:
        """Declare a stream as `add_stream` does."""
        declare(self, definition)

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
        if isinstance(query, Prepared) and report is None and forecast is None and results is None:
            read = self.catalog.streams if query.form is None else dict(query.form.sources)
            activate(self, self.catalog.bound(name, query, lineage, self.since(read)))
            return
        language, text = (query.language, query.query) if isinstance(query, Prepared) else (language, query)
        definition = SubscriptionDefinition(
            name, language, text, lineage, report, None if forecast is None else dict(forecast), results
        )
        parsed = self.catalog.parse(definition)
        # Looking for the streams in the syntax is a tenth of a registration; without disorder all share one order.
        install(self, parsed, self.since(() if self.disorder is None else parsed.reads()))

    def prepare(self, query: str, language: str = DEFAULT_LANGUAGE) -> Prepared:
        """Parse, type and compile a query once for many subscriptions, which may differ in its literals. Raises as
        `subscribe` does."""
        return self.catalog.compiler.prepare(language, query)

    def finish(self) -> Results | JoinedResults:
        """Report the results that wait for time to pass, and censor open forecasts. Events may follow."""
        if self.disorder is not None:
            return self._all_done(self.disorder.finish(END_OF_TIME, self.program.forecasts.close))
        results = self._done(release(self.runtime, END_OF_TIME))
        for target, notice in self.program.forecasts.close():
            results.notify(0, target, notice)
        return results

    def punctuate(self, time: Any, stream: str | None = None, where: str | None = None) -> Results | JoinedResults:
        """Promise that no stream, or this one, brings or withdraws an event before a time, or a datetime; with `where`,
        an event that satisfies this predicate of attributes and constants. Report the results that waited for it, and
        what is final. Raises LateEvent if a later event has come before and streams are in order, EventError for one of
        several such streams or for what is no time, UnknownStream, QueryError with the place in a predicate,
        LimitExceeded.
        """
        moment = instant_of(time)
        if stream is not None:
            self.catalog.stream(stream)
        if self.disorder is not None:
            return self._all_done(self.disorder.punctuate(moment, stream, where))
        if stream is not None:
            raise EventError(f"stream {stream!r}: expected a punctuation of all streams, since events are in order")
        if where is not None:
            raise EventError("expected no predicate of a punctuation, since events are in order, found one")
        before = newest(self.runtime)
        if before is not None and moment < before:
            raise LateEvent(f"expected a punctuation at {shown_instant(before)} or later, found one before")
        return self._done(punctuate(self.runtime, moment))

    def declare_gap(self, stream: str, first: int, last: int | None = None) -> JoinedResults:
        """Promise that no event of a stream has the sequence numbers from `first` to `last`, or the number `first`; the
        results are those that waited for it. Raises UnknownStream, EventError for a stream without numbers, or if one
        of these has come."""
        definition = self.catalog.stream(stream)
        if definition.sequence is None or self.disorder is None:
            raise EventError(f"stream {stream!r}: expected a stream with a sequence, found one without numbers")
        end = first if last is None else last
        if type(first) is not int or type(end) is not int or not 0 < first <= end < 2**63:
            found = f"{shown(first)} and {shown(end)}"
            raise EventError(f"stream {stream!r}: expected the first and the last number of a gap, found {found}")
        return self._all_done(self.disorder.declare_gap(definition, first, end))

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
        results.known = self.catalog.subscriptions
        return results

    def _all_done(self, results: JoinedResults) -> JoinedResults:
        results.known = self.catalog.subscriptions
        for part in results.parts:
            if isinstance(part, Results):
                self._done(part)
            else:
                self.matches += part.inserted
                self.failures += part.failures
        return results

    def replace(
        self, name: str, query: str, language: str | None = None, keep_runs: bool = False
    ) -> Results | JoinedResults:
        """Give a subscription another text, by default of its language; its options stay. Without its runs it begins
        anew, as of now, and the results are its open forecasts. With them the texts may only differ in arcs that have
        names: the difference is an update. Raises as `subscribe` and `update` do, UnknownSubscription, and
        DefinitionError if others read what it would not publish any more; a refused text changes nothing."""
        subscriber = self._known(name)
        results = replace(self, subscriber, query, language or subscriber.form.language, keep_runs)
        return results if isinstance(results, Results) else self._all_done(results)

    def unsubscribe(self, name: str) -> Results:
        """Remove a subscription, and all that only it needed, at once. The results are its open forecasts, censored.
        Raises UnknownSubscription, and DefinitionError if others read a stream that nothing else would publish."""
        return unsubscribe(self, self._known(name))

    def _suspend_failed(self, results: Results, event: int) -> None:
        """Suspend the subscriptions that ask for a condition which has raised an error at an event."""
        suspend_failed(self.catalog, self.program, self.runtime, results, event)

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
        taken = fitting(definition, moments, rows, ids, starts, self.accepts_from(stream))
        return self._take(definition, moments, taken, ids, starts)

    def publish_columns(
        self, stream: str, columns: Any, times: Any, ids: Any = None, starts: Any = None
    ) -> Results | JoinedResults:
        """Process a batch of which each attribute is a column: a list, an `array.array`, an array of numpy or Arrow,
        any other buffer, CodedTexts; all by name, or as a record batch of Arrow. As `publish` does for the same rows.
        """
        definition, moments = self.catalog.stream(stream), moments_of(times)
        ids, starts, coded = numbers_of(ids), numbers_of(starts), self.catalog.coded(definition)
        taken = fitting_columns(definition, moments, columns, coded, ids, starts, self.accepts_from(stream))
        return self._take(definition, moments, taken, ids, starts)

    def _take(
        self, definition: StreamDefinition, moments: list[int], batch: Batch, ids: Sequence[int] | None,
        starts: Sequence[int] | None,
    ) -> Results | JoinedResults:  # fmt: skip
        n = batch.count
        numbers = EventIds(self.events + 1, n) if ids is None else event_ids(ids)
        begun = moments if starts is None else list(starts)
        if starts is not None and begun == moments:  # moments, which go by columns
            begun = moments
        if self.disorder is not None:
            joined = self.disorder.publish(definition, moments, batch, numbers, begun)
            self.events += n
            return self._all_done(joined)
        results = self.runtime.process(definition.name, moments, batch, numbers, begun)
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
        definition = self.catalog.stream(stream)
        taken = fitting(definition, times, rows, ids, starts, self.accepts_from(stream))
        if self.disorder is not None:
            numbers = EventIds(self.events + 1, taken.count).all() if ids is None else ids
            self.disorder.checks.check(definition, times, taken.rows(), numbers)

    def faults(
        self, stream: str, times: Sequence[int], rows: Sequence[Row], ids: Sequence[int]
    ) -> list[tuple[int, type[EventError], str]]:
        """The events that are refused alone, of a batch that fits a stream with disorder otherwise: the index of each,
        its error and the reason. The others may be published together. Raises UnknownStream."""
        definition = self.catalog.stream(stream)
        return [] if self.disorder is None else list(self.disorder.checks.faults(definition, times, rows, ids))

    def reset_time(self, stream: str, time: int | None) -> list[Results]:
        """Set the newest time back after an invalid event time of this stream, and restart the stream's readers.
        Returns the results of ending them. Raises UnknownStream, Unsupported if a stream has disorder."""
        return restart_readers(self, self.catalog.stream(stream).name, time)

    # --- forecasts ----------------------------------------------------------------------------------------------

    def load_model(self, model: Model) -> None:
        """Forecast with the counts of another engine, and continue counting. Raises DefinitionError if the model is of
        another version of a subscription; a refused model changes nothing."""
        self.program.forecasts.load_model(model)

    # --- inspection ---------------------------------------------------------------------------------------------

    def statistics(self) -> dict[str, Any]:
        """Counts for operators. O(runs). `forecasts`: how good those of each subscription are (Calibration.summary)."""
        return figures(self)

    def check_invariants(self) -> None:
        """Raise AssertionError if the engine's parts contradict each other; for tests. O(everything)."""
        self.program.check_invariants()
        self.runtime.check_invariants()
        check_invariants(self.disorder)
        assert self.program.merged.references() == len(self.catalog.ends())

    def snapshot(self) -> bytes:
        """All state on which later results depend, in a form that any later process can restore. O(runs)."""
        return save(EngineState(self))

    @classmethod
    def restore(cls, data: bytes, options: Options | None = None) -> Engine:
        """The engine of a snapshot. Raises DefinitionError if this version cannot read the bytes."""
        engine = cls(options)
        restore(data, EngineState(engine))
        return engine
