"""The form of a row in the table of languages, and of a request to compile a query.

Here: the contract between a language and the rest. Not here: any language (a file each beside this one), the list of
languages (table).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, TypeVar, final

from ...events.schema import Schema
from ...language.marked_literals import LiteralFields
from ...language.shapes import QueryShape, shape_of
from ...language.subscription import SubscriptionDefinition
from ...language.syntax import Number, String
from ...language.wording import Wording
from ..options import Options
from ..subscribing.subscriber import CompiledQuery

SchemaOf: TypeAlias = Callable[[str], Schema | None]
Sources: TypeAlias = tuple[tuple[str, Schema | None], ...]
"""The streams that a query reads, in the order of its text, with their schemas; None for an unknown stream."""

_Part = TypeVar("_Part")


class Syntax(Protocol):
    """A parsed query. Each language has its own nodes, which no other code inspects."""

    @property
    def publish(self) -> str | None:
        """The stream to which its results are published."""


@final
class Surroundings:
    """The context of compiling a query: the engine's options, its streams, and the parts that its queries share.

    `schema_of` gives a stream's schema, `key_of` the key that it declares, None if there is none; `known` lists the
    streams for a suggestion.
    """

    def __init__(
        self,
        options: Options,
        schema_of: SchemaOf,
        known: Callable[[], list[str]],
        key_of: Callable[[str], str | None],
        parts_max: int,
    ) -> None:
        self.options = options
        self.schema_of = schema_of
        self.known = known
        self.key_of = key_of
        self._parts: dict[Any, Any] = {}
        self._parts_max = parts_max

    def shared(self, part: _Part) -> _Part:
        """The first part equal to this one, so that equal guards and structures are one object. O(hashing it)."""
        if len(self._parts) >= self._parts_max:
            self._parts.clear()
        found: _Part = self._parts.setdefault(part, part)
        return found


EXPRESSION_LITERALS: Final[LiteralFields] = {Number: ("value", "at"), String: ("value", "at")}


@final
@dataclass(frozen=True, slots=True)
class CompileRequest:
    """A query to compile. `since`: the newest processed time at its arrival.

    `written` and `canonical`: its two texts around the literals. With a `shape` some literals of the syntax are marked,
    and the form serves all texts of that shape that share the other literals; without a `shape` the form serves only
    this text, at this moment.
    """

    definition: SubscriptionDefinition
    syntax: Any
    sources: Sources
    since: int
    surroundings: Surroundings
    written: Wording
    canonical: Wording
    shape: QueryShape | None = None

    @property
    def text(self) -> str:
        return self.definition.query


@final
@dataclass(frozen=True, slots=True)
class CopyingQuery:
    """A query that has a result for every event of its streams, which comes and goes with the event.

    The first value is the number of the stream; `columns` has, by stream and attribute, the number of the value that is
    the attribute's, -1 for an attribute that no query can read.
    """

    query: str
    columns: tuple[tuple[int, ...], ...]


@final
@dataclass(frozen=True, slots=True)
class Language:
    """A row of the table.

    `parse` raises QueryError with a position; `print` writes the canonical text, from which ids are made; `reads` lists
    the streams in the order of the text, each as often as it is named. `shape` finds the literals of a text without
    parsing, and may return some that are none; `literals` says where the syntax has them, `durations` which nodes have
    a duration, which has a limit of its own. `unites`: literals that are equal in a text are one, and a form serves the
    texts with the same ones equal.

    `compile` makes a form, and raises QueryError, LimitExceeded or DefinitionError, or LiteralUsed if a marked literal
    affects compilation. It may repeat all work for each text, because forms are stored. None: a shape has no form.

    `lineage`: whether results carry theirs by default. `reports`: the values of the option `report`, its default first.
    `forecasts`: whether its subscriptions may be predictive, `forecast_parts` whether forecasts may be combined from
    those of a subscription's parts. `doubts`: warnings on a text that only its automaton shows, each with its place; it
    may raise what `compile` raises. `followers`: the operators that take the next event of a stream, each with its
    place, its name and the streams. `copying`: makes a query that copies the events of streams with these schemas, if
    the language has one.
    """

    name: str
    parse: Callable[[str], Syntax]
    print: Callable[[Any], str]
    reads: Callable[[Any], list[str]]
    compile: Callable[[CompileRequest], CompiledQuery | None]
    shape: Callable[[str], QueryShape | None] = shape_of
    literals: LiteralFields = field(default_factory=lambda: EXPRESSION_LITERALS)
    durations: frozenset[type] = frozenset()
    unites: bool = False
    lineage: bool = True
    reports: tuple[str, ...] = ()
    forecasts: bool = False
    forecast_parts: bool = False
    copying: Callable[[Sequence[tuple[str, Schema]]], CopyingQuery] | None = None
    doubts: Callable[[Any, str, SchemaOf], Iterator[tuple[int, str]]] = lambda syntax, text, schema_of: iter(())
    followers: Callable[[Any], Iterator[tuple[int, str, list[str]]]] = lambda syntax: iter(())
