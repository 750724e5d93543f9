"""Results as columns: one for each field and each selected attribute, each made when it is read.

A column has the form in which `Engine.publish_columns` takes columns: numbers without nulls in an array, repeated texts
as CodedTexts, all else in a list, with None for null. Results of all kinds are rows of one table.

Here: names and types of the columns. Not here: gathering them (result_rows), Arrow (events.arrow_output).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, final

from ...events.arrow_output import arrow_table
from ...events.errors import UnknownSubscription, shown
from ...events.nearest import suggestion
from ...events.schema import Schema
from .result_rows import ResultRows

if TYPE_CHECKING:
    from ..program.recipient import Recipient

FIELDS: Final[dict[str, str]] = {
    "kind": "string",
    "subscription": "string",
    "id": "string",
    "start": "int",
    "end": "int",
    "lineage": "ids",
    "details": "object",
}
"""The columns that every table has, with their types."""
MIXED: Final = "mixed"  # an attribute of several types
_NAMES: Final = "subscriptions: expected a name or a sequence of names"


@final
class ResultTable(Mapping[str, Any]):
    """The results of a call as columns by name, each made at the first access and then kept.

    `kind`, `subscription`, `id`, `start` and `end` as in a Match; `lineage`, null without it; `details`, what else the
    line of a result has, null for most; then the attributes, null in results of subscriptions without them. One that is
    called like a field is `data.NAME`. `types`: by column `int`, `float`, `string`, `bool`, `ids`, `object`, or `mixed`
    where subscriptions differ.
    """

    def __init__(self, rows: ResultRows, schemas: Iterable[Schema]) -> None:
        self.count = rows.count
        self.types: dict[str, str] = dict(FIELDS)
        self._rows = rows
        self._names: dict[str, str] = {}
        self._made: dict[str, Any] = {}
        for schema in schemas:
            for attribute in schema.attributes:
                column = f"data.{attribute.name}" if attribute.name in FIELDS else attribute.name
                known = self.types.setdefault(column, attribute.type)
                self._names[column] = attribute.name
                if known != attribute.type:
                    self.types[column] = MIXED

    def __getitem__(self, name: str) -> Any:
        """A column. O(results) at the first access. Raises KeyError."""
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = self._make(name)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self.types)

    def __len__(self) -> int:
        """The number of columns; `count` is that of results."""
        return len(self.types)

    def to_arrow(self) -> Any:
        """All columns as a pyarrow.Table: `details` as JSON, a `mixed` attribute as float64 or as JSON. O(values).
        Raises Unsupported where pyarrow is not installed."""
        return arrow_table([(name, kind, self[name]) for name, kind in self.types.items()])

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """The same for whoever reads streams of Arrow, such as polars and DuckDB."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _make(self, name: str) -> Any:
        rows = self._rows
        match name:
            case "kind":
                return rows.kinds()
            case "subscription":
                return rows.names()
            case "id":
                return rows.ids()
            case "start":
                return rows.starts()
            case "end":
                return rows.ends()
            case "lineage":
                return rows.lineages()
            case "details":
                return rows.details()
        return rows.attribute(self._names[name], self.types[name])


def table_of(rows: ResultRows, names: Sequence[str], known: Mapping[str, Recipient] | None) -> ResultTable:
    """The table of rows of these subscriptions, or of those that have some. `known`: those of the engine.

    Raises UnknownSubscription.
    """
    found = rows.known
    schemas: list[Schema] = []
    for name in names:
        subscriber = None if known is None else known.get(name)
        if subscriber is not None:
            schemas.append(subscriber.told.schema)
        elif name not in found and known is not None:
            raise UnknownSubscription(f"unknown subscription {name!r}{suggestion(name, list(known))}")
    return ResultTable(rows, [*schemas, *found.values()])


def names_of(subscriptions: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several, as given. Raises UnknownSubscription for anything else."""
    if isinstance(subscriptions, str):
        return (subscriptions,)
    given: object = subscriptions
    if not isinstance(given, Sequence):
        raise UnknownSubscription(f"{_NAMES}, found {shown(given)}")
    for name in given:
        if not isinstance(name, str):
            raise UnknownSubscription(f"{_NAMES}, found {shown(name)} in it")
    return tuple(given)
