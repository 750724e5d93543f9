"""What a row of the table of languages is, and what it is given to compile a query.

Here: the contract between a language and the rest. Not here: any language (a file each beside this one), which there
are (table).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, TypeVar, final

from ...events.schema import Schema
from ...language.shapes import QueryShape, shape_of
from ...language.subscription import SubscriptionDefinition
from ...language.syntax import Number, String
from ..literals import LiteralFields
from ..options import Options
from ..subscriber import Form
from ..wording import Wording

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


EXPRESSION_LITERALS: Final[LiteralFields] = {Number: ("value", "at"), String: ("value", "at")}


@final
@dataclass(frozen=True, slots=True)
class CompileRequest:
    """A query to compile: `since` is the newest time that was processed when it came. `written` and `canonical`: its
    two texts around the literals. With a `shape` some literals of the syntax are marked, and the form serves all texts
    of that shape which have the others in common; without, it is of this text and moment alone."""

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
class Language:
    """A row of the table.

    `parse` raises QueryError with a place; `print` writes the canonical text, which ids are made of; `reads` lists the
    streams in the order of the text, one as often as it is named. `shape` finds the literals of a text without parsing,
    and may take for one what is none; `literals` says where the syntax has them, `durations` which nodes have a
    duration, which has a limit of its own, and `fixes` those whose literals all texts of a form must have in common.

    `compile` makes a form, and raises QueryError, LimitExceeded or DefinitionError, or LiteralUsed where a marked
    literal decides something; it may do all work again for each text, since forms are kept. None: there is no form for
    a shape.

    `lineage`: whether results carry theirs by default. `reports`: what the option `report` may be, its default first.
    `forecasts`: whether its subscriptions may be predictive, `forecast_parts` whether forecasts may be put together
    from those of a subscription's parts.
    """

    name: str
    parse: Callable[[str], Syntax]
    print: Callable[[Any], str]
    reads: Callable[[Any], list[str]]
    compile: Callable[[CompileRequest], Form | None]
    shape: Callable[[str], QueryShape | None] = shape_of
    literals: LiteralFields = field(default_factory=lambda: EXPRESSION_LITERALS)
    durations: frozenset[type] = frozenset()
    fixes: Callable[[Any], frozenset[type]] = lambda syntax: frozenset()
    lineage: bool = True
    reports: tuple[str, ...] = ()
    forecasts: bool = False
    forecast_parts: bool = False
