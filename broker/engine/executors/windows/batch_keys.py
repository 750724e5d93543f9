"""The keys of a batch's events, and which numbers partitions have, as a machine of all partitions asks for them.

A text in a column is a number of a dictionary: where its partition is, has to be looked up once for a text, as long as
no partition is forgotten. Here: that. Hot. Not here: partitions (pane_table).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import Batch, Column
from ....events.schema import Row
from ....events.text_codes import text_column
from ..packed import Integers, integers, roomy
from .tables import WindowTables

UNKNOWN: Final = -1
NO_COLUMN: Final = Column()
NO_ROWS: Final[list[Row]] = []
"""Those of columns, and of keys that are no single attribute; it stays empty."""


@final
class BatchKeys:
    """`rows`: those of the batch, if the value at `single` is the key of each; else `key` makes it. `coded`: keys are
    texts in a column, and `slot` may know where their partitions are."""

    def __init__(self, tables: WindowTables) -> None:
        self.tables = tables
        self.single: i64 = tables.single
        self.batch: Batch | None = None
        self.rows: list[Row] = NO_ROWS
        self.coded = False
        self._column: Column = NO_COLUMN
        self._codes: Integers = integers()
        self._texts: list[str] = []
        self._known: Integers = integers()  # by text two numbers: of how many forgotten partitions it was, the slot

    def read(self, batch: Batch) -> None:
        """Give the keys of this batch from now on. O(texts of its column), once."""
        if self.batch is batch:
            return
        self.batch = batch
        self.coded = False
        self.rows = NO_ROWS
        self._column = NO_COLUMN
        if self.single < 0:
            return
        if len(batch.columns) == 0:
            self.rows = batch.rows()
            return
        column = text_column(batch, int(self.single))
        self._column = batch.columns[self.single]
        if column is None:
            return
        self.coded = True
        self._codes = column.codes
        self._texts = column.texts
        count: i64 = 2 * len(column.texts)
        if len(self._known) < count:
            self._known = roomy(self._known, count)
        known = self._known
        at: i64
        for at in range(0, count, 2):
            known[at] = UNKNOWN

    def key(self, at: i64) -> Any:
        """The key of an event; None if it is in no partition. O(1)."""
        if self.coded:
            code = self._codes[at]
            return self._texts[code] if code >= 0 else None
        if self._column is not NO_COLUMN:
            return self._column.value(at)
        batch = self.batch
        assert batch is not None
        return self.tables.partition(batch.row(at))

    def slot(self, at: i64, forgotten: i64) -> i64:
        """The number of an event's partition, if it was found when as many were forgotten; else UNKNOWN. O(1)."""
        code = self._codes[at]
        if code < 0 or self._known[2 * code] != forgotten:
            return UNKNOWN
        return self._known[2 * code + 1]

    def found(self, at: i64, forgotten: i64, slot: i64) -> None:
        """Note the number of the partition of an event, whose key is not None."""
        code = self._codes[at]
        self._known[2 * code] = forgotten
        self._known[2 * code + 1] = slot

    def close(self) -> None:
        """Refer to no batch any more."""
        self.batch = None
        self.rows = NO_ROWS
        self._column = NO_COLUMN
        self._texts = []
