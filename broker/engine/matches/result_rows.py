"""Results as rows of numbers, of which columns and lines are gathered: where matches lie in columns, no object is made.

A row is a place in columns of matches and a subscriber, or a result that is an object. Here: these rows, and lines for
those who send results and read no more of them. Hot. Not here: columns of matches (sources, parts),
names and types of columns (result_table).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, Final, final

from ...events.batch import Column, FloatColumn, IntegerColumn, ObjectColumn, TextColumn
from ...events.coded_texts import CodedTexts
from ...events.schema import Row, Schema
from ..match import Match
from ..ordinals import Ordinals
from ..program.recipient import Recipient
from ..program.target import Outcome
from ..subscribing.subscriber import ResultIds
from .parts import ResultParts, plain
from .sources import MatchColumns, MatchSource

_NO_DETAILS: Final = ("kind", "subscription", "id", "start", "end", "lineage", "data")


@final
class ResultRows:
    """The results for these subscriptions, in their order; none named: for all. `made`: those that are objects, by row.
    """

    def __init__(self, wanted: frozenset[str], result_ids: ResultIds) -> None:
        self.count = 0
        self.wanted = wanted
        self.result_ids = result_ids
        self.columns: list[MatchColumns | None] = []
        self.places: list[int] = []
        self.subscribers: list[Recipient | None] = []
        self.ordinals: dict[int, int] = {}  # by row the number among equal results of a moment, if it is not 0
        self.withdrawn: set[int] = set()
        self.made: dict[int, Match] = {}
        self.parts: ResultParts | None = None  # of all rows that are matches of runs
        self.runs = 0  # so many such rows
        self.known: dict[str, Schema] = {}  # the attributes of those that have results
        self._values: dict[int, Row] = {}  # by row, where some are computed
        self._outcome: Outcome | None = None  # of the last match of a run
        self._plain = True  # none of its values can raise

    def wants(self, subscriber: Recipient) -> bool:
        """Whether its results are asked for."""
        return not self.wanted or subscriber.name in self.wanted

    def _put(self, columns: MatchColumns, place: int, subscriber: Recipient) -> None:
        if self.count == 0 or self.subscribers[-1] is not subscriber:
            self.known[subscriber.name] = subscriber.told.schema
        self.columns.append(columns)
        self.places.append(place)
        self.subscribers.append(subscriber)
        self.count += 1

    def add(self, subscriber: Recipient, source: MatchSource, withdrawn: bool) -> bool:
        """Add matches, or withdrawals of such, if they lie in columns. O(their number)."""
        placed = source.placed()
        if placed is None or len(subscriber.told.operands) > 0:
            return False
        if self.wants(subscriber):
            columns, places = placed
            for place in places:
                if withdrawn:
                    self.withdrawn.add(self.count)
                self._put(columns, place, subscriber)
        return True

    def report(self, match: Match, subscriber: Recipient) -> None:
        """Add a result that is an object."""
        if self.wants(subscriber):
            self.known[subscriber.name] = subscriber.told.schema
            self.made[self.count] = match
            self.columns.append(None)
            self.places.append(-1)
            self.subscribers.append(None)
            self.count += 1

    def enter(self, parts: ResultParts, at: int, subscriber: Recipient, ordinals: Ordinals) -> None:
        """Add a match of a run. Raises what its values do."""
        if not self.wants(subscriber):
            return
        ordinal = ordinals.next(parts.end(at), subscriber.name, subscriber.branch, parts.trace(at))
        outcome = parts.targets[at].outcome
        if outcome is not self._outcome:
            self._outcome, self._plain = outcome, plain(outcome)
        if not self._plain:
            self._values[self.count] = parts.values(at)
        if ordinal > 0:
            self.ordinals[self.count] = ordinal
        self.parts = parts
        self.runs += 1
        self._put(parts, at, subscriber)

    # --- lines ------------------------------------------------------------------------------------------------------

    def each(self) -> list[ResultLine]:
        """The results one by one, for those who send them; all of them are of runs. O(results)."""
        found: list[ResultLine] = []
        for row, subscriber in enumerate(self.subscribers):
            assert subscriber is not None
            found.append(ResultLine(self, row, subscriber.name))
        return found

    def line(self, row: int) -> dict[str, Any]:
        """What `Match.line` makes of a result of a run."""
        subscriber, parts, at = self.subscribers[row], self.parts, self.places[row]
        assert subscriber is not None
        assert parts is not None
        line: dict[str, Any] = {
            "kind": "match",
            "subscription": subscriber.name,
            "id": self.result_ids.of(subscriber).id("", parts.number(at), self.ordinals.get(row, 0)),
            "start": int(parts.start(at)),
            "end": int(parts.end(at)),
        }
        if subscriber.lineage:
            line["lineage"] = parts.contributed(at)
        values = self._values.get(row)
        line["data"] = parts.targets[at].outcome.named(parts.values(at) if values is None else values)
        return line

    # --- columns ----------------------------------------------------------------------------------------------------

    def kinds(self) -> Any:
        if len(self.made) + len(self.withdrawn) == 0:
            return CodedTexts(array("b", bytes(self.count)), ["match"])
        return coded([self._kind(row) for row in range(self.count)], "b")

    def _kind(self, row: int) -> str:
        made = self.made.get(row)
        if made is not None:
            return made.kind
        return "retraction" if row in self.withdrawn else "match"

    def names(self) -> Any:
        found: list[str] = []
        for row, subscriber in enumerate(self.subscribers):
            found.append(self.made[row].subscription if subscriber is None else subscriber.name)
        return coded(found, "i")

    def ids(self) -> Any:
        found: list[str] = []
        for row, subscriber in enumerate(self.subscribers):
            columns = self.columns[row]
            if columns is None or subscriber is None:
                found.append(self.made[row].id)
            else:
                number = columns.number(self.places[row])
                found.append(self.result_ids.of(subscriber).id("", number, self.ordinals.get(row, 0)))
        return found

    def starts(self) -> Any:
        found: list[int] = []
        for row, columns in enumerate(self.columns):
            found.append(self.made[row].start if columns is None else int(columns.start(self.places[row])))
        return array("q", found)

    def ends(self) -> Any:
        found: list[int] = []
        for row, columns in enumerate(self.columns):
            found.append(self.made[row].end if columns is None else int(columns.end(self.places[row])))
        return array("q", found)

    def lineages(self) -> list[Any]:
        found: list[Any] = []
        for row, subscriber in enumerate(self.subscribers):
            columns = self.columns[row]
            if columns is None or subscriber is None:
                found.append(self.made[row].lineage)
            else:
                shown = subscriber.lineage if columns is self.parts else subscriber.shows_lineage()
                found.append(columns.contributed(self.places[row]) if shown else None)
        return found

    def details(self) -> list[Any]:
        found: list[Any] = []
        for row, columns in enumerate(self.columns):
            found.append(details_of(self.made[row]) if columns is None else columns.details(self.places[row]))
        return found

    def attribute(self, name: str, kind: str) -> Any:
        """The values of an attribute of this type; null where a result has none of this name."""
        positions = self._positions(name)
        column: Column | None = None
        if self.parts is not None and self.runs == self.count and not self._values:
            column = self.parts.column(self.places, positions)
        if column is None:
            column = ObjectColumn([self._value(row, name, position) for row, position in enumerate(positions)])
        return column_form(kind, column)

    def _positions(self, name: str) -> list[int]:
        """By row, which value the attribute is; -1 if it has none of this name."""
        found: list[int] = []
        parts = self.parts
        known: object = None
        position = -1
        for row, subscriber in enumerate(self.subscribers):
            if subscriber is None:
                position, known = -1, None
            elif parts is not None and self.columns[row] is parts:
                outcome: Outcome = parts.targets[self.places[row]].outcome
                if outcome is not known:
                    known, position = outcome, _place(name, outcome.names)
            elif subscriber.told is not known:
                known, position = subscriber.told, _place(name, subscriber.told.schema.names)
            found.append(position)
        return found

    def _value(self, row: int, name: str, position: int) -> Any:
        columns, values = self.columns[row], self._values.get(row)
        if columns is None:
            return self.made[row].data.get(name)
        if position < 0:
            return None
        return columns.value(self.places[row], position) if values is None else values[position]


@final
class ResultLine:
    """A result of which nobody reads more than its line."""

    __slots__ = ("_row", "_rows", "subscription", "withdrawn")

    def __init__(self, rows: ResultRows, row: int, subscription: str) -> None:
        self._rows = rows
        self._row = row
        self.subscription = subscription
        self.withdrawn = False

    def line(self) -> dict[str, Any]:
        return self._rows.line(self._row)


def light(results: Iterable[Any]) -> Iterable[Any]:
    """The same results in the same order, of which nobody reads more: of most batches no match is made. O(results)."""
    lines = getattr(results, "lines", None)
    found = None if lines is None else lines()
    return results if found is None else found


def _place(name: str, names: tuple[str, ...]) -> int:
    return names.index(name) if name in names else -1


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
