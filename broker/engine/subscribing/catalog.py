"""The names that an engine knows: declared streams, published streams, and subscriptions.

Here: names, schemas, publishers and readers of streams, refusal of circles. Not here: compiling a text to automata
(query_compiler), what is kept for a name (holdings), the program that merges the automata, events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, final

from ...algebra.timed_stream import timed, untimed
from ...events.errors import DefinitionError, UnknownStream
from ...events.names import checked_subscription_name
from ...events.nearest import suggestion
from ...events.schema import Schema
from ...events.stream import StreamDefinition
from ...language.diagnostics import published_in
from ...language.subscription import SubscriptionDefinition
from ..compiler.prepared import Prepared
from ..compiler.query_compiler import Parsed, QueryCompiler
from ..options import Options
from .holdings import Holding, InternalStream, PublishedStream
from .subscriber import CompiledQuery, Subscriber

READERS_SHOWN: Final = 5
_ALL: Final[Mapping[str, int]] = {}


@final
class Catalog:
    """Maps names to streams and subscriptions. A refused definition changes nothing."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.streams: dict[str, StreamDefinition] = {}
        self.published: dict[str, PublishedStream] = {}
        self.subscriptions: dict[str, Subscriber] = {}
        self.holdings: dict[str, Holding] = {}
        self.withdrawn: dict[str, tuple[int, int]] = {}  # suspended, not in the program: reason, since
        self.internal: dict[str, InternalStream] = {}
        self._widths: Mapping[str, int] = _ALL  # of the subscription that is compiled: see `widths`
        self._coded: dict[str, list[bool]] = {}
        self.timed: dict[str, int] = {}  # the timed streams, each with the number of subscriptions that read it
        self.compiler = self.compiler_with(options)

    def compiler_with(self, options: Options) -> QueryCompiler:
        """A compiler of texts on these streams."""
        return QueryCompiler(options, self.schema_of, self._known, self._key_of)

    def declare(self, definition: StreamDefinition) -> None:
        """Declare a stream. Raises DefinitionError if another stream has the name."""
        name = definition.name
        if name in self.published:
            raise DefinitionError(f"stream {name!r}: a subscription publishes a stream of this name already")
        existing = self.streams.setdefault(name, definition)
        if not existing.includes(definition):
            raise DefinitionError(f"stream {name!r} is declared already, with another definition")
        if existing.time_unit is None and definition.time_unit is not None:
            self.streams[name] = replace(existing, time_unit=definition.time_unit)

    def add_attribute(self, stream: str, name: str, kind: str) -> StreamDefinition:
        """Add an attribute to a stream; subscriptions read the others. Raises UnknownStream, DefinitionError, also if a
        subscription reads times: they stand behind the attributes that its automata know."""
        definition = self.stream(stream)
        if timed(stream) in self.timed:
            reader = next(n for n, s in self.subscriptions.items() if timed(stream) in s.form.timed_streams())
            raise DefinitionError(f"stream {stream!r}: subscription {reader!r} reads its times; unsubscribe that first")
        self.streams[stream] = definition.with_attribute(name, kind)
        return self.streams[stream]

    def widths(self, subscriber: Subscriber) -> dict[str, int]:
        """How many attributes a subscription reads of each stream that has more by now."""
        found: dict[str, int] = {}
        for stream, schema in subscriber.form.sources:
            declared = self.streams.get(stream)
            if declared is not None and schema is not None and len(schema) < len(declared.schema):
                found[stream] = len(schema)
        return found

    def undeclare(self, name: str) -> StreamDefinition:
        """Remove a stream. Raises UnknownStream, and DefinitionError if a subscription reads or publishes it."""
        if name in self.published:
            publisher = next((n for n, s in self.subscriptions.items() if s.form.publish == name), None)
            raise DefinitionError(f"stream {name!r} is made of results: subscription {publisher!r} publishes it")
        stream = self.stream(name)
        readers = self._readers(name)
        if readers:
            shown = ", ".join(map(repr, readers[:READERS_SHOWN])) + ", ..." * (len(readers) > READERS_SHOWN)
            word = "subscription" if len(readers) == 1 else f"{len(readers)} subscriptions"
            raise DefinitionError(f"stream {name!r}: read by {word} {shown}")
        del self.streams[name]
        self.compiler.forget()
        return stream

    def stream(self, name: str) -> StreamDefinition:
        found = self.streams.get(name)
        if found is None:
            if name in self.published:
                raise UnknownStream(f"stream {name!r} is made of results; expected a declared stream to publish to")
            raise UnknownStream(f"unknown stream {name!r}{suggestion(name, list(self.streams))}")
        return found

    def coded(self, stream: StreamDefinition) -> list[bool]:
        """By attribute, whether somebody has asked a batch for numbers of its texts, which are then made at once."""
        known = self._coded.get(stream.name)
        if known is None or len(known) != len(stream.schema):
            known = self._coded[stream.name] = [False] * len(stream.schema)
        return known

    def declared_of(self, streams: Iterable[str]) -> list[str]:
        """The declared streams that these are, or are made of, each once. O(them)."""
        found: dict[str, None] = {}
        waiting = list(streams)
        while waiting:
            name = untimed(waiting.pop(0))
            if name not in found:
                found[name] = None
                waiting += self.published[name].sources if name in self.published else ()
        return [name for name in found if name in self.streams]

    def schema_of(self, name: str) -> Schema | None:
        declared = self.streams.get(name)
        if declared is not None:
            width = self._widths.get(name)
            return declared.schema if width is None else declared.schema.first(width)
        published = self.published.get(name)
        return None if published is None else published.schema

    def _key_of(self, name: str) -> str | None:
        """The key attribute that a stream declares."""
        declared = self.streams.get(name)
        return None if declared is None else declared.key

    def _known(self) -> list[str]:
        return [*self.streams, *self.published]

    # --- from a definition to a subscription ----------------------------------------------------------------------

    def parse(self, definition: SubscriptionDefinition) -> Parsed:
        """Parse a definition. Raises QueryError, Unsupported or DefinitionError, each naming the subscription."""
        return self.compiler.parse(definition)

    def compile(
        self,
        parsed: Parsed,
        since: int,
        replaced: Subscriber | None = None,
        widths: Mapping[str, int] = _ALL,
    ) -> Subscriber:
        """Compile a subscription and check it against all known names, without the one that it replaces; changes
        nothing. `widths`: of streams of which it reads the first attributes only."""
        definition = parsed.definition
        self._widths = widths
        try:
            form, literals = self.compiler.form(parsed, since)
        finally:
            self._widths = _ALL
        own = None if form.written.says(literals, definition.query) else definition.query
        subscriber = self.compiler.bound(Subscriber(definition.name, form, literals, own, definition.lineage, since, 0))
        subscriber.results = definition.results
        if replaced is None:
            self._check_new(definition.name, form, definition.query)
        else:
            self._check_replacement(replaced, form, definition.query)
        return subscriber

    def bound(self, name: str, prepared: Prepared, lineage: bool | None, since: int) -> Subscriber:
        """A subscription made from a prepared query. Raises as `compile` does."""
        form = prepared.form
        foreign = prepared.options is not self.options
        if foreign or form is None or any(self.schema_of(stream) is not schema for stream, schema in form.sources):
            definition = SubscriptionDefinition(name, prepared.language, prepared.query, lineage)
            return self.compile(self.parse(definition), since)
        own_name, literals = checked_subscription_name(name), form.decisive.whole(prepared.literals)
        found = self.compiler.bound(Subscriber(own_name, form, literals, prepared.own, lineage, since, 0))
        self._check_new(name, form, prepared.query)
        return found

    def _check_new(self, name: str, form: CompiledQuery, text: str) -> None:
        if name in self.subscriptions:
            raise DefinitionError(f"subscription {name!r} exists already")
        if form.publish is not None:
            self._check_published(name, form.publish, form, text)

    def _check_replacement(self, replaced: Subscriber, form: CompiledQuery, text: str) -> None:
        """As for a new one; what only the replaced one publishes stays for those that read it, and is not there for
        itself."""
        name, stream = replaced.name, replaced.form.publish
        alone = None if stream is None or self.published[stream].publishers > 1 else stream
        if alone is not None and any(source == alone for source, _ in form.sources):
            raise DefinitionError(f"subscription {name!r}: it would read the stream {alone!r}, which only it publishes")
        if alone is not None and alone != form.publish and self.published[alone].readers:
            raise DefinitionError(
                f"subscription {name!r}: {self._readers(alone)[0]!r} reads the stream {alone!r}, which only this one"
                f" publishes; expected PUBLISH {alone} in the new text"
            )
        if form.publish is not None:
            unread = alone == form.publish and not self.published[alone].readers
            self._check_published(name, form.publish, form, text, unread)

    def check_publish(self, name: str, stream: str | None, text: str) -> None:
        """Raise DefinitionError if results would flow into a declared stream."""
        if stream in self.streams:
            where = f"subscription {name!r}: {published_in(text, stream)}"
            raise DefinitionError(f"{where}: cannot publish {stream!r}, a declared stream has this name")

    def _check_published(self, name: str, stream: str, form: CompiledQuery, text: str, replaced: bool = False) -> None:
        """`replaced`: only the subscription that this one replaces publishes the stream, and nothing reads it."""
        self.check_publish(name, stream, text)
        where = f"subscription {name!r}: {published_in(text, stream)}"
        if stream in self._upstream([source for source, _ in form.sources]):
            raise DefinitionError(f"{where}: it would read its own results through the stream {stream!r}")
        other = None if replaced else self.published.get(stream)
        if other is not None and _columns(other.schema) != _columns(form.schema):
            found = f"expected ({_listed(other.schema)}), found ({_listed(form.schema)})"
            raise DefinitionError(f"{where}: the stream {stream!r} is published already with another schema: {found}")

    def _upstream(self, streams: list[str]) -> set[str]:
        """These streams and all streams that feed them. O(streams found)."""
        found: set[str] = set()
        waiting = list(streams)
        while waiting:
            stream = waiting.pop()
            if stream not in found:
                found.add(stream)
                published = self.published.get(stream)
                if published is not None:
                    waiting.extend(published.sources)
        return found

    # --- what a subscription holds ----------------------------------------------------------------------------------

    def enter(self, subscriber: Subscriber, holding: Holding | None) -> None:
        form = subscriber.form
        if self.published:
            for stream, _ in form.sources:
                if stream in self.published:
                    self.published[stream].readers += 1
        if form.publish is not None:
            published = self.published.setdefault(form.publish, PublishedStream(form.schema))
            published.publishers += 1
            for stream, _ in form.sources:
                published.sources[stream] = published.sources.get(stream, 0) + 1
        for stream in form.timed_streams():
            self.timed[stream] = self.timed.get(stream, 0) + 1
        self.subscriptions[subscriber.name] = subscriber
        if holding is not None:
            self.holdings[subscriber.name] = holding

    def check_leave(self, subscriber: Subscriber) -> None:
        """Raise DefinitionError if other subscriptions would lose their input when this one leaves."""
        stream = subscriber.form.publish
        published = None if stream is None else self.published[stream]
        if stream is not None and published is not None and published.publishers == 1 and published.readers:
            reader = self._readers(stream)[0]
            raise DefinitionError(
                f"subscription {subscriber.name!r}: {reader!r} reads the stream {stream!r}, which only"
                f" this one publishes; unsubscribe that first"
            )

    def _readers(self, stream: str) -> list[str]:
        """The names of the subscriptions that read a stream. O(subscriptions)."""
        return [n for n, s in self.subscriptions.items() if any(source == stream for source, _ in s.form.sources)]

    def leave(self, subscriber: Subscriber) -> None:
        form = subscriber.form
        for stream in form.timed_streams():
            self.timed[stream] -= 1
            if not self.timed[stream]:
                del self.timed[stream]
        del self.subscriptions[subscriber.name]
        self.holdings.pop(subscriber.name, None)
        for stream, _ in form.sources:
            if stream in self.published:
                self.published[stream].readers -= 1
                self._forget(stream)
        if form.publish is not None:
            published = self.published[form.publish]
            published.publishers -= 1
            for stream, _ in form.sources:
                published.sources[stream] -= 1
                if not published.sources[stream]:
                    del published.sources[stream]
            self._forget(form.publish)

    def _forget(self, stream: str) -> None:
        published = self.published[stream]
        if not published.publishers and not published.readers:
            del self.published[stream]

    def ends(self) -> list[object]:
        """Those of all automata in the merged program, in an order that depends only on the order of the
        subscriptions."""
        seen: set[str] = set()
        found: list[object] = []
        for name in self.subscriptions:
            holding = self.holdings.get(name)
            if holding is None:
                continue
            for stream in holding.internal:
                if stream not in seen:
                    seen.add(stream)
                    found.extend([end for end in self.internal[stream].ends.values() if end is not None])
            found.extend(holding.ends.values())
        return found


def _columns(schema: Schema) -> list[tuple[str, str]]:
    return [(a.name, a.type) for a in schema.attributes]


def _listed(schema: Schema) -> str:
    return ", ".join(f"{name} {type_}" for name, type_ in _columns(schema))
