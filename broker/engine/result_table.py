"""Results as columns: one for each field and each selected attribute, each made when it is read.

A column has the form in which `Engine.publish_columns` takes columns: numbers without nulls in an array, repeated texts
as CodedTexts, all else in a list, with None for null. Results of all kinds are rows of one table.

Here: names and types of the columns; results that were made one by one. Not here: results of runs (run_rows), of
machines with columns (placed_rows), Arrow (events.arrow_output).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, final

from ..events.arrow_output import arrow_table
from ..events.batch import Batch, Column, FloatColumn, IntegerColumn, Integers, ObjectColumn, TextColumn
from ..events.coded_texts import CodedTexts
from ..events.errors import UnknownSubscription, shown
from ..events.nearest import suggestion
from ..events.schema import Schema
from ..events.text_codes import text_column
from .match import Match

if TYPE_CHECKING:
    from .subscribing.subscriber import Subscriber

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
_NO_DETAILS: Final = ("kind", "subscription", "id", "start", "end", "lineage", "data")


class TableRows:
    """Results in a form that gives columns. `count`: how many."""

    def __init__(self) -> None:
        self.count = 0

    def schemas(self) -> dict[str, Schema]:
        """The attributes of the subscriptions that have results."""
        raise AssertionError

    def kinds(self) -> Any:
        raise AssertionError

    def names(self) -> Any:
        raise AssertionError

    def ids(self) -> Any:
        raise AssertionError

    def starts(self) -> Any:
        raise AssertionError

    def ends(self) -> Any:
        raise AssertionError

    def lineages(self) -> list[Any]:
        raise AssertionError

    def details(self) -> list[Any]:
        raise AssertionError

    def attribute(self, name: str, kind: str) -> Any:
        """The values of an attribute of this type; null where a result has none of this name."""
        raise AssertionError


@final
class MatchRows(TableRows):
    """Results that were made one by one."""

    def __init__(self, matches: Sequence[Match], schemas: dict[str, Schema]) -> None:
        super().__init__()
        self.count = len(matches)
        self.matches = matches
        occurring = {match.subscription for match in matches}
        self._schemas = {name: schema for name, schema in schemas.items() if name in occurring}

    def schemas(self) -> dict[str, Schema]:
        return self._schemas

    def kinds(self) -> Any:
        return coded([match.kind for match in self.matches], "b")

    def names(self) -> Any:
        return coded([match.subscription for match in self.matches], "i")

    def ids(self) -> Any:
        return [match.id for match in self.matches]

    def starts(self) -> Any:
        return array("q", [match.start for match in self.matches])

    def ends(self) -> Any:
        return array("q", [match.end for match in self.matches])

    def lineages(self) -> list[Any]:
        return [match.lineage for match in self.matches]

    def details(self) -> list[Any]:
        return [details_of(match) for match in self.matches]

    def attribute(self, name: str, kind: str) -> Any:
        return column_form(kind, ObjectColumn([match.data.get(name) for match in self.matches]))


@final
class ResultTable(Mapping[str, Any]):
    """The results of a call as columns by name, each made at the first access and then kept.

    `kind`, `subscription`, `id`, `start` and `end` as in a Match; `lineage`, null without it; `details`, what else the
    line of a result has, null for most; then the attributes, null in results of subscriptions without them. One that is
    called like a field is `data.NAME`. `types`: by column `int`, `float`, `string`, `bool`, `ids`, `object`, or `mixed`
    where subscriptions differ.
    """

    def __init__(self, rows: TableRows, schemas: Iterable[Schema]) -> None:
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


def table_of(rows: TableRows, names: Sequence[str], known: Mapping[str, Subscriber] | None) -> ResultTable:
    """The table of rows of these subscriptions, or of those that have some. `known`: those of the engine.

    Raises UnknownSubscription.
    """
    found = rows.schemas()
    schemas: list[Schema] = []
    for name in names:
        subscriber = None if known is None else known.get(name)
        if subscriber is not None:
            schemas.append(subscriber.form.schema)
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


def chosen(matches: Iterable[Match], names: frozenset[str]) -> list[Match]:
    """The results of these subscriptions, of all if none is named."""
    return [match for match in matches if not names or match.subscription in names]


def column_of(batch: Batch, position: int, events: Integers) -> Column:
    """The values of an attribute in these events. O(events)."""
    made = batch.made
    if made is None:
        column = text_column(batch, position) or batch.columns[position]
        return column.take(events)
    return ObjectColumn([made[event][position] for event in events])


def column_form(kind: str, column: Column) -> Any:
    """A column in the form in which it is given out."""
    if isinstance(column, IntegerColumn):
        return array("q", list(column.numbers))
    if isinstance(column, FloatColumn) and not column.nulls:
        return array("d", list(column.numbers))
    if isinstance(column, TextColumn):
        return CodedTexts(array("q", list(column.codes)), column.texts)
    values: list[Any] = column.values()
    if kind == "int" and all(type(value) is int for value in values):
        return array("q", values)
    if kind == "float" and all(type(value) is float for value in values):
        return array("d", values)
    return values


def coded(texts: list[str], codes: str) -> CodedTexts:
    """Texts of which many are equal; `codes`: the type of their numbers."""
    numbers: dict[str, int] = {}
    return CodedTexts(array(codes, [numbers.setdefault(text, len(numbers)) for text in texts]), [*numbers])


def details_of(match: Match) -> dict[str, Any] | None:
    """What the line of a result has beside the other columns."""
    line = match.line()
    if match.kind in ("match", "retraction"):
        for name in _NO_DETAILS:
            line.pop(name, None)
    else:
        for name in ("kind", "subscription", "id"):
            del line[name]
    return line or None
