"""The results of machines whose matches lie in columns: no object is made for a result, but for those of other kinds.

Here: these rows. Hot. Not here: columns of matches (executors.matches), results of runs (run_rows), names and types of
columns (result_table).
"""

from __future__ import annotations

from array import array
from typing import Any, final

from ..events.batch import ObjectColumn
from ..events.coded_texts import CodedTexts
from ..events.schema import Schema
from .executors.matches import MatchColumns, MatchSource
from .match import Match
from .program.target import Target
from .result_table import TableRows, coded, column_form, details_of
from .subscribing.subscriber import CompiledQuery, ResultIds, Subscriber


@final
class PlacedRows(TableRows):
    """The results for these subscriptions, in their order; none named: for all. `made`: those that are objects, by row.
    """

    def __init__(self, wanted: frozenset[str], result_ids: ResultIds) -> None:
        super().__init__()
        self.wanted = wanted
        self.result_ids = result_ids
        self.columns: list[MatchColumns | None] = []
        self.places: list[int] = []
        self.subscribers: list[Subscriber | None] = []
        self.withdrawn: set[int] = set()
        self.made: dict[int, Match] = {}
        self.known: dict[str, Schema] = {}  # the attributes of those that have results

    def add(self, subscriber: Subscriber, source: MatchSource, withdrawn: bool) -> bool:
        """Add matches, or withdrawals of such, if they lie in columns. O(their number)."""
        placed = source.placed()
        if placed is None or len(subscriber.form.operands) > 0:
            return False
        if self.wanted and subscriber.name not in self.wanted:
            return True
        columns, places = placed
        if len(self.subscribers) == 0 or self.subscribers[-1] is not subscriber:
            self.known[subscriber.name] = subscriber.form.schema
        for place in places:
            if withdrawn:
                self.withdrawn.add(self.count)
            self.columns.append(columns)
            self.places.append(place)
            self.subscribers.append(subscriber)
            self.count += 1
        return True

    def report(self, match: Match, schema: Schema | None) -> None:
        """Add a result that is an object."""
        if self.wanted and match.subscription not in self.wanted:
            return
        if schema is not None:
            self.known[match.subscription] = schema
        self.made[self.count] = match
        self.columns.append(None)
        self.places.append(-1)
        self.subscribers.append(None)
        self.count += 1

    # --- columns ----------------------------------------------------------------------------------------------------

    def schemas(self) -> dict[str, Schema]:
        return self.known

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
                found.append(self.result_ids.of(subscriber).id("", columns.number(self.places[row]), 0))
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
                found.append(columns.events(self.places[row]) if subscriber.shows_lineage() else None)
        return found

    def details(self) -> list[Any]:
        found: list[Any] = []
        for row, columns in enumerate(self.columns):
            if columns is None:
                found.append(details_of(self.made[row]))
            else:
                found.append({"lifetime": columns.lifetime(self.places[row])})
        return found

    def attribute(self, name: str, kind: str) -> Any:
        found: list[Any] = []
        form: CompiledQuery | None = None
        position = -1
        for row, subscriber in enumerate(self.subscribers):
            columns = self.columns[row]
            if columns is None or subscriber is None:
                found.append(self.made[row].data.get(name))
                continue
            if subscriber.form is not form:
                form = subscriber.form
                position = form.schema.names.index(name) if name in form.schema.names else -1
            found.append(None if position < 0 else columns.value(self.places[row], position))
        return column_form(kind, ObjectColumn(found))


def placed_rows(
    found: list[tuple[Target, MatchSource]] | None, wanted: frozenset[str], result_ids: ResultIds
) -> PlacedRows | None:
    """The matches of these targets for each of their subscribers, if all lie in columns. O(results)."""
    if found is None:
        return None
    rows = PlacedRows(wanted, result_ids)
    for target, source in found:
        for subscriber in target.subscribers():
            if not rows.add(subscriber, source, False):
                return None
    return rows
