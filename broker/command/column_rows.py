"""Rows of which the columns are known: made only where somebody reads them, as `--with-events` does, or a complaint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final, overload

from ..events import CodedTexts, Row


@final
class ColumnRows(Sequence[Row]):
    """Rows of columns by name, each a list, a buffer or coded texts; a missing one is null. `names`: the attributes."""

    __slots__ = ("_count", "_made", "_names", "columns")

    def __init__(self, columns: Mapping[str, Any], names: Sequence[str], count: int) -> None:
        self.columns = columns
        self._names = names
        self._count = count
        self._made: list[Row] | None = None

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        """Consecutive rows are columns again; for a row all are made, once. O(values)."""
        if not isinstance(index, slice):
            return self._rows()[index]
        parts = {name: _part(column, index) for name, column in self.columns.items()}
        return ColumnRows(parts, self._names, len(range(self._count)[index]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._rows() == list(other)

    __hash__ = None  # type: ignore[assignment]  # it is a sequence

    def taken(self, at: Sequence[int]) -> ColumnRows:
        """The rows with these indexes."""
        columns = {name: _listed(column) for name, column in self.columns.items()}
        parts = {name: [values[index] for index in at] for name, values in columns.items()}
        return ColumnRows(parts, self._names, len(at))

    def _rows(self) -> list[Row]:
        if self._made is None:
            nothing = [None] * self._count
            columns = self.columns
            lists = [_listed(columns[name]) if name in columns else nothing for name in self._names]
            self._made = list(zip(*lists, strict=True)) if lists else [()] * self._count
        return self._made


def _part(column: Any, part: slice) -> Any:
    return CodedTexts(column.codes[part], column.texts) if isinstance(column, CodedTexts) else column[part]


def _listed(column: Any) -> list[Any]:
    if isinstance(column, CodedTexts):
        return [None if code < 0 else column.texts[code] for code in column.codes]
    return list(column)
