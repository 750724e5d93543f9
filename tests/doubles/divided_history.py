"""A history in memory that a plan divides: what the embedded engine gives for it, and what the cells of a plan give.

Here: events as a table, both ways of running them, and what is compared. Not here: which plans there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from broker.engine.results import expanded
from broker.events import Row, StreamDefinition
from broker.forecast.model_file import Model, write_model
from spark_bridge.backtesting import Backtest
from spark_bridge.cells import run_cell
from spark_bridge.history.form import arrow_schema, batches, columns_of
from spark_bridge.plan.cell import Cell, Point
from spark_bridge.reading import runs_of
from spark_bridge.results import row_of
from spark_bridge.subscriptions import Subscriptions
from spark_bridge.training import Training, model_from

Happened = tuple[str, int, int, int, Row]
"""stream, time, id, start, row"""

LAST_ID: Final = 2**63 - 1


class DividedHistory:
    """Events in the order (time, id), read in batches of `size`."""

    def __init__(self, streams: Mapping[str, StreamDefinition], happened: Sequence[Happened], size: int = 5) -> None:
        self.streams = dict(streams)
        self.happened = sorted(happened, key=lambda one: (one[1], one[2]))
        self.size = size
        self.columns = columns_of(self.streams)

    def table(self) -> pa.Table:
        """All of it, in the form of a history."""
        schema = arrow_schema(self.streams)
        found: dict[str, list[Any]] = {name: [] for name in schema.names}
        for stream, time, number, start, row in self.happened:
            own = dict(zip(self.columns[stream], row, strict=True))
            own |= {"time": time, "id": number, "start": start, "stream": stream}
            for name, column in found.items():
                column.append(own.get(name))
        return pa.table(found, schema)

    def between(self, first: Point | None = None, last: Point | None = None) -> Iterator[pa.RecordBatch]:
        places = [
            place
            for place, (_, time, number, _, _) in enumerate(self.happened)
            if (first is None or (time, number) >= first) and (last is None or (time, number) <= last)
        ]
        if places:
            table = self.table().slice(places[0], len(places)).combine_chunks()
            yield from table.to_batches(self.size)

    # --- whole ----------------------------------------------------------------------------------------------------

    def embedded(self, subscriptions: Subscriptions, model: Model | None = None) -> tuple[Counter[Any], str]:
        """The embedded engine's results, as rows, and its model's file. It gets rows, which cells get as columns."""
        engine = subscriptions.engine()
        if model is not None:
            engine.load_model(model)
        rows: list[Any] = []
        for batch in self.between():
            for stream, times, values, ids, starts in batches(batch, self.streams):
                rows += [row_of(match) for match in expanded(engine.publish(stream, times, list(values), ids, starts))]
        rows += [row_of(match) for match in expanded(engine.finish())]
        return counted(rows), write_model(engine.model())

    # --- in cells -------------------------------------------------------------------------------------------------

    def results(self, subscriptions: Subscriptions, cells: Sequence[Cell], model: Model | None = None) -> Counter[Any]:
        """The rows of all cells, each done by itself."""
        text = None if model is None else write_model(model)
        rows: list[Any] = []
        for cell in cells:
            for batch in run_cell(cell, subscriptions, self._runs(subscriptions, cell), Backtest(), model=text):
                rows += zip(*(column.to_pylist() for column in batch.columns))
        return counted(rows)

    def model(self, subscriptions: Subscriptions, cells: Sequence[Cell], before: Model | None = None) -> str:
        """The file of what all cells have counted, and of what was counted before."""
        text = None if before is None else write_model(before)
        records: list[Any] = []
        for cell in cells:
            for batch in run_cell(cell, subscriptions, self._runs(subscriptions, cell), Training(), model=text):
                records += zip(*(column.to_pylist() for column in batch.columns))
        found = Model()
        if before is not None:
            found.merge(before)
        found.merge(model_from(records))
        return write_model(found)

    def _runs(self, subscriptions: Subscriptions, cell: Cell) -> Iterator[Any]:
        reads = list(self.streams) if cell.keys is None else [stream for stream, _ in cell.keys.attributes]
        return runs_of(cell, self, subscriptions.streams, reads, self.columns)


def counted(rows: Sequence[Any]) -> Counter[Any]:
    """Rows as a bag."""
    return Counter(tuple(tuple(value) if isinstance(value, list) else value for value in row) for row in rows)
