"""Counts by the name of a stream or subscription, for as many names as a limit allows; the others are counted together.

For operators only: no match depends on them, and they begin at 0 with the broker.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final, final

OTHER: Final = "other"
"""Stands for all names beyond the limit, in statistics and metrics."""


@final
class NamedCounts:
    """Rows of counts, one for each name in the order in which they came; `columns` name the counts.

    `most`: how many names have a row of their own; it may be replaced, and a smaller one holds for new names.
    """

    __slots__ = ("_columns", "_rest", "_rows", "most")

    def __init__(self, columns: tuple[str, ...], most: int) -> None:
        self._columns = columns
        self._rows: dict[str, list[int]] = {}
        self._rest: list[int] | None = None
        self.most = most

    def row(self, name: str) -> list[int]:
        """The counts of a name, to be added to; those of all others if there are too many names. O(1)."""
        row = self._rows.get(name)
        if row is not None:
            return row
        if len(self._rows) < self.most:
            row = self._rows[name] = [0] * len(self._columns)
            return row
        if self._rest is None:
            self._rest = [0] * len(self._columns)
        return self._rest

    def known(self, name: str) -> list[int] | None:
        """The counts of a name, to be read; None if it has none of its own."""
        return self._rows.get(name)

    @property
    def room(self) -> bool:
        """Whether a name without a row has no counts; otherwise they may be among those of all others."""
        return len(self._rows) < self.most and self._rest is None

    def prune(self, known: Container[str]) -> None:
        """Drop the rows of names that are not known any more, if a further name needs room. O(most)."""
        if len(self._rows) >= self.most:
            self._rows = {name: row for name, row in self._rows.items() if name in known}

    def named(self, name: str) -> str:
        """The name itself if it has a row, otherwise OTHER."""
        return name if name in self._rows else OTHER

    def statistics(self, known: Container[str]) -> dict[str, dict[str, int]]:
        """The counts by name and column, of the names that are known, and of all others. O(most)."""
        rows = {name: row for name, row in self._rows.items() if name in known}
        found = {name: dict(zip(self._columns, row)) for name, row in rows.items()}
        if self._rest is not None:
            beside = found.get(OTHER, {})  # one of that name
            found[OTHER] = {
                column: count + beside.get(column, 0) for column, count in zip(self._columns, self._rest)
            }
        return found
