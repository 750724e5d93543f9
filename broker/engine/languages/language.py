"""What a row of the table of languages is, and what it is given to compile a query.

Here: the contract between a language and the rest. Not here: any language (a file each beside this one), which there
are (table).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, final

from ...events.schema import Schema
from ...language.shapes import QueryShape
from ...language.subscription import SubscriptionDefinition
from ..options import Options
from ..subscriber import Form

Sources: TypeAlias = tuple[tuple[str, Schema | None], ...]
"""The streams that a query reads, in the order of its text, with their schemas; None where there is no such stream."""

_Part = TypeVar("_Part")


class Syntax(Protocol):
    """A query as it was written. Each language has nodes of its own, which only the language itself looks into."""

    @property
    def publish(self) -> str | None:
        """The stream that its results are."""


@final
class Surroundings:
    """What a query is compiled against: the engine's options, its streams, and the parts that its queries share.

    `schema_of` gives a stream's schema, `key_of` the key that it declares, None where there is none; `known` lists the
    streams for a suggestion.
    """

    def __init__(
        self,
        options: Options,
        schema_of: Callable[[str], Schema | None],
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
        """The first part that was equal to this one; equal guards and structures are one object. O(hashing it)."""
        if len(self._parts) >= self._parts_max:
            self._parts.clear()
        found: _Part = self._parts.setdefault(part, part)
        return found


@final
@dataclass(frozen=True, slots=True)
class CompileRequest:
    """A query to compile: `since` is the newest time that was processed when it came."""

    definition: SubscriptionDefinition
    syntax: Any
    sources: Sources
    since: int
    surroundings: Surroundings

    @property
    def text(self) -> str:
        return self.definition.query


@final
@dataclass(frozen=True, slots=True)
class Language:
    """A row of the table.

    `parse` raises QueryError with a place; `print` writes the canonical text, which ids are made of; `reads` lists the
    streams in the order of the text, one as often as it is named. `compile` makes the form that the engine runs, and
    raises QueryError, LimitExceeded or DefinitionError; it may do all work again for each text, since forms are kept.
    `compile_shape` makes one form for all texts of a shape, which differ in their literals only, or None where they
    need one each; a language without it has one form a text.

    `lineage`: whether results carry theirs by default. `reports`: what the option `report` may be, its default first.
    `forecasts`: whether its subscriptions may be predictive, `forecast_parts` whether forecasts may be put together
    from those of a subscription's parts.
    """

    name: str
    parse: Callable[[str], Syntax]
    print: Callable[[Any], str]
    reads: Callable[[Any], list[str]]
    compile: Callable[[CompileRequest], Form]
    compile_shape: Callable[[CompileRequest, QueryShape], Form | None] | None = None
    lineage: bool = True
    reports: tuple[str, ...] = ()
    forecasts: bool = False
    forecast_parts: bool = False
