"""What an engine knows by name: streams, declared and published, and subscriptions.

Here: names, schemas, who publishes and who reads what, refusal of circles, and the way from a definition to automata.
Not here: the program that the automata are merged into, events.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, final

from ..algebra.lowering_cayuga import lower
from ..algebra.operators import Query, sources
from ..algebra.terms import LiteralUsed
from ..automaton.automaton import Automaton
from ..automaton.compilation import INTERNAL, Compiled, compile_query
from ..automaton.sharing import End
from ..events.errors import DefinitionError, LimitExceeded, QueryError, UnknownStream, Unsupported
from ..events.names import checked_subscription_name
from ..events.nearest import suggestion
from ..events.schema import Schema
from ..events.stream import StreamDefinition
from ..language import cayuga, cayuga_syntax
from ..language.printing import print_query
from ..language.shapes import Shape, shape_of
from ..language.subscription import SubscriptionDefinition
from .templates import Template, marked, template_of
from .transition import Feed, Subscriber

SHAPES_MAX: Final = 10_000  # query shapes whose parsing is kept


@final
@dataclass(slots=True)
class Service:
    """An automaton's end in the program, and whom it serves."""

    end: End
    subscriber: Subscriber | None
    feed: Feed | None


@final
@dataclass(slots=True)
class Subscription:
    """A subscription in force. `internal`: the internal streams that it reads, inner ones first."""

    definition: SubscriptionDefinition
    query: Query
    text: str
    since: int
    internal: list[str] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)


@final
@dataclass(slots=True)
class PublishedStream:
    """A stream made of results; it lives while somebody publishes or reads it."""

    schema: Schema
    publishers: int = 0
    readers: int = 0


@final
@dataclass(slots=True)
class InternalStream:
    """A right operand's stream, shared by subscriptions of the same moment; `services` are the ends that feed it."""

    users: int
    services: list[Service]


@final
@dataclass(frozen=True, slots=True)
class Parsed:
    """A definition whose text is read but whose names are not yet looked up."""

    definition: SubscriptionDefinition
    syntax: cayuga_syntax.Query  # of this text, or of another one of the same shape
    shape: Shape | None = None

    @property
    def publish(self) -> str | None:
        return self.syntax.publish

    def reads(self) -> list[str]:
        return _stream_names(self.syntax.source)


def _stream_names(node: cayuga_syntax.StreamExpression) -> list[str]:
    match node:
        case cayuga_syntax.Source(stream):
            return [stream]
        case cayuga_syntax.Filter() | cayuga_syntax.Select():
            return _stream_names(node.source)
        case _:
            return _stream_names(node.left) + _stream_names(node.right)


@final
class Catalog:
    """Names and what stands behind them. Nothing here changes unless a definition is accepted as a whole."""

    def __init__(self) -> None:
        self.streams: dict[str, StreamDefinition] = {}
        self.published: dict[str, PublishedStream] = {}
        self.subscriptions: dict[str, Subscription] = {}
        self.definitions: dict[str, SubscriptionDefinition] = {}
        self.internal: dict[str, InternalStream] = {}
        self._syntaxes: dict[str, cayuga_syntax.Query] = {}  # by shape
        self._templates: dict[str, tuple[Template | None, tuple[Schema | None, ...]]] = {}

    def declare(self, definition: StreamDefinition) -> None:
        """Raises DefinitionError where another stream has the name, Unsupported for disorder."""
        name = definition.name
        if definition.disorder != "arrival":
            raise Unsupported(
                f"stream {name!r}: disorder = {definition.disorder!r} is not supported yet; expected 'arrival'"
            )
        if name in self.published:
            raise DefinitionError(f"stream {name!r}: a subscription publishes a stream of this name already")
        if self.streams.setdefault(name, definition) != definition:
            raise DefinitionError(f"stream {name!r} is declared already, with another definition")

    def stream(self, name: str) -> StreamDefinition:
        found = self.streams.get(name)
        if found is None:
            if name in self.published:
                raise UnknownStream(f"stream {name!r} is made of results; expected a declared stream to publish to")
            raise UnknownStream(f"unknown stream {name!r}{suggestion(name, list(self.streams))}")
        return found

    def schema_of(self, name: str) -> Schema | None:
        declared = self.streams.get(name)
        if declared is not None:
            return declared.schema
        published = self.published.get(name)
        return None if published is None else published.schema

    def _known(self) -> list[str]:
        return [*self.streams, *self.published]

    # --- from a definition to automata ----------------------------------------------------------------------------

    def parse(self, definition: SubscriptionDefinition) -> Parsed:
        """Raises QueryError, Unsupported or DefinitionError, each naming the subscription."""
        name = checked_subscription_name(definition.name)
        if definition.language != "cayuga":
            raise Unsupported(f"subscription {name!r}: language {definition.language!r} is not supported yet")
        if definition.forecast is not None:
            raise Unsupported(f"subscription {name!r}: forecasts are not supported yet")
        if definition.report is not None:
            raise DefinitionError(f"subscription {name!r}: report belongs to the language 'ptopss', not to 'cayuga'")
        shape = shape_of(definition.query)
        known = None if shape is None else self._syntaxes.get(shape.key)
        if known is not None:
            return Parsed(definition, known, shape)
        try:
            parsed = Parsed(definition, cayuga.parse(definition.query), shape)
        except QueryError as error:
            raise located(name, error) from None
        if shape is not None:
            if len(self._syntaxes) >= SHAPES_MAX:
                self._syntaxes.clear()
                self._templates.clear()
            self._syntaxes[shape.key] = parsed.syntax
        return parsed

    def compile(self, parsed: Parsed, since: int) -> tuple[Subscription, Compiled]:
        """The subscription and its automata, checked against everything known; changes nothing."""
        name = parsed.definition.name
        if name in self.subscriptions:
            raise DefinitionError(f"subscription {name!r} exists already")
        try:
            template = self._template(parsed)
            if template is not None and parsed.shape is not None:
                query, text = template.query, template.text(parsed.shape.literals)
                compiled = template.bound(parsed.shape.literals)
            else:
                syntax = cayuga.parse(parsed.definition.query)
                query, compiled = self._compiled(syntax, parsed.definition.query)
                text = print_query(syntax)
        except QueryError as error:
            raise located(name, error) from None
        except (LimitExceeded, DefinitionError) as error:
            raise type(error)(f"subscription {name!r}: {error}") from None
        self._check_published(name, query)
        return Subscription(parsed.definition, query, text, since), _moment(compiled, since)

    def _compiled(self, syntax: cayuga_syntax.Query, text: str) -> tuple[Query, Compiled]:
        query = lower(syntax, text, self.schema_of, self._known)
        return query, compile_query(query)

    def _template(self, parsed: Parsed) -> Template | None:
        """The template of the text's shape; None where there cannot be one. Raises what compiling raises."""
        shape = parsed.shape
        if shape is None or not shape.literals:
            return None
        schemas = tuple(self.schema_of(stream) for stream in parsed.reads())
        known = self._templates.get(shape.key)
        if known is not None and known[1] == schemas:
            return known[0]
        template: Template | None = None
        syntax = cayuga.parse(parsed.definition.query)
        with_marks = marked(syntax, shape)
        if with_marks is not None:
            # Marked literals are all different, so that a limit may be hit which the plain text does not hit.
            with suppress(LiteralUsed, LimitExceeded):
                query, compiled = self._compiled(with_marks, parsed.definition.query)
                template = template_of(query, compiled, syntax, shape)
        self._templates[shape.key] = (template, schemas)
        return template

    def check_publish(self, name: str, stream: str | None) -> None:
        """Raises DefinitionError where results would flow into a declared stream."""
        if stream in self.streams:
            raise DefinitionError(f"subscription {name!r}: cannot publish {stream!r}, a declared stream has this name")

    def _check_published(self, name: str, query: Query) -> None:
        stream = query.publish
        self.check_publish(name, stream)
        if stream is None:
            return
        if stream in self._upstream(sources(query.expression)):
            raise DefinitionError(f"subscription {name!r}: it would read its own results through the stream {stream!r}")
        other = self.published.get(stream)
        if other is not None and _columns(other.schema) != _columns(query.schema):
            raise DefinitionError(
                f"subscription {name!r}: the stream {stream!r} is published already with another schema:"
                f" expected ({_listed(other.schema)}), found ({_listed(query.schema)})"
            )

    def _upstream(self, streams: list[str]) -> set[str]:
        """These streams and all that go into them. O(subscriptions that publish)."""
        feeding: dict[str, list[str]] = {}
        for subscription in self.subscriptions.values():
            if subscription.query.publish is not None:
                feeding.setdefault(subscription.query.publish, []).extend(sources(subscription.query.expression))
        found: set[str] = set()
        waiting = list(streams)
        while waiting:
            stream = waiting.pop()
            if stream not in found:
                found.add(stream)
                waiting.extend(feeding.get(stream, ()))
        return found

    # --- what a subscription holds ----------------------------------------------------------------------------------

    def enter(self, subscription: Subscription) -> None:
        query = subscription.query
        for stream in sources(query.expression):
            if stream in self.published:
                self.published[stream].readers += 1
        if query.publish is not None:
            self.published.setdefault(query.publish, PublishedStream(query.schema)).publishers += 1
        self.subscriptions[subscription.definition.name] = subscription
        self.definitions[subscription.definition.name] = subscription.definition

    def check_leave(self, subscription: Subscription) -> None:
        """Raises DefinitionError where its going would silence other subscriptions."""
        stream = subscription.query.publish
        published = None if stream is None else self.published[stream]
        if published is not None and published.publishers == 1 and published.readers:
            readers = [n for n, s in self.subscriptions.items() if stream in sources(s.query.expression)]
            raise DefinitionError(
                f"subscription {subscription.definition.name!r}: {readers[0]!r} reads the stream {stream!r}, which only"
                f" this one publishes; unsubscribe that first"
            )

    def leave(self, subscription: Subscription) -> None:
        query = subscription.query
        del self.subscriptions[subscription.definition.name], self.definitions[subscription.definition.name]
        for stream in sources(query.expression):
            if stream in self.published:
                self.published[stream].readers -= 1
                self._forget(stream)
        if query.publish is not None:
            self.published[query.publish].publishers -= 1
            self._forget(query.publish)

    def _forget(self, stream: str) -> None:
        published = self.published[stream]
        if not published.publishers and not published.readers:
            del self.published[stream]

    def services(self) -> list[Service]:
        """All ends in use, in an order that only the subscriptions' order decides."""
        seen: set[str] = set()
        found: list[Service] = []
        for subscription in self.subscriptions.values():
            for name in subscription.internal:
                if name not in seen:
                    seen.add(name)
                    found.extend(self.internal[name].services)
            found.extend(subscription.services)
        return found


def located(name: str, error: QueryError) -> QueryError:
    return QueryError(f"subscription {name!r}: {error}", error.line, error.column, error.excerpt)


def _columns(schema: Schema) -> list[tuple[str, str]]:
    return [(a.name, a.type) for a in schema.attributes]


def _listed(schema: Schema) -> str:
    return ", ".join(f"{name} {type_}" for name, type_ in _columns(schema))


def _moment(compiled: Compiled, since: int) -> Compiled:
    """Internal streams are shared by subscriptions of one moment only: their events must not be older than a reader."""

    def named(stream: str) -> str:
        return f"{stream}@{since}" if stream.startswith(INTERNAL) else stream

    def automaton(a: Automaton) -> Automaton:
        return replace(a, states=tuple(replace(s, stream=named(s.stream)) for s in a.states))

    internal = tuple((named(name), tuple(map(automaton, automata))) for name, automata in compiled.internal)
    return Compiled(tuple(map(automaton, compiled.automata)), internal)


def in_order(parsed: list[Parsed]) -> list[Parsed]:
    """Publishers before their readers, else in the order given. Raises DefinitionError for a circle."""
    publishers: dict[str, int] = {}
    for p in parsed:
        if p.publish is not None:
            publishers[p.publish] = publishers.get(p.publish, 0) + 1
    ordered: list[Parsed] = []
    waiting = parsed
    while waiting:
        ready = [p for p in waiting if not any(publishers.get(stream) for stream in p.reads())]
        if not ready:
            names = ", ".join(repr(p.definition.name) for p in waiting[:5])
            raise DefinitionError(f"subscriptions read each other's results in a circle: {names}")
        done = {p.definition.name for p in ready}
        for p in ready:
            if p.publish is not None:
                publishers[p.publish] -= 1
        ordered.extend(ready)
        waiting = [p for p in waiting if p.definition.name not in done]
    return ordered
