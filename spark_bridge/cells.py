"""One cell of a plan, from its events to a task's record batches: the same function in a worker and in a test.

Here: the engine of a cell, the order of its events, the results that it owns. Not here: Spark (execution), tasks
(training, backtesting, evaluation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import le, lt
from typing import Any, Final, Protocol, final

import pyarrow as pa

from broker.engine import Engine, Match, Options
from broker.engine.results import expanded
from broker.events import DefinitionError, LimitExceeded, Row
from broker.forecast.model_file import Model, read_model

from .history.form import Run
from .plan.cell import Cell
from .subscriptions import Subscriptions

ORDER: Final = "expected events in the order (time, id)"


class Task(Protocol):
    """What is computed for each cell. Picklable; no state outlives a cell."""

    @property
    def schema(self) -> pa.Schema:
        """The exact types and order of the columns that `part` yields."""
        ...

    def part(self, work: Work) -> Iterator[pa.RecordBatch]:
        """The rows of one cell. Deterministic, because Spark may repeat a cell."""
        ...


@final
class Work:
    """A cell at work: `engine` has the cell's subscriptions and the model, and has seen no event yet.


    A task either reads `answers`, or publishes `runs` itself and then calls `finish`.
    """

    def __init__(
        self,
        cell: Cell,
        subscriptions: Subscriptions,
        engine: Engine,
        runs: Iterable[Run],
    ) -> None:
        self.cell = cell
        self.subscriptions = subscriptions
        self.engine = engine
        self._runs = runs
        self._overlap: set[int] = set()  # ids of events that are read and not owned
        self._bare = {name for name in engine.subscriptions if not subscriptions.wants_lineage(name)}

    def runs(self) -> Iterator[tuple[str, list[int], Sequence[Row], list[int], list[int] | None]]:
        """The cell's events in order, cut where the stream changes; without starts where these are the times, since
        only such batches go by columns. Raises DefinitionError if they are not in order."""
        cell, last = self.cell, None
        for stream, times, rows, ids, starts in self._runs:
            first = times[0], ids[0]
            if (last is not None and first <= last) or not _in_order(times, ids):
                raise DefinitionError(f"{ORDER}, each once, found {first} in stream {stream!r} out of it")
            last = times[-1], ids[-1]
            if cell.sliced and last >= cell.until:
                self._overlap.update([point[1] for point in zip(times, ids) if point >= cell.until])
            yield stream, times, rows, ids, None if starts is times else starts

    def answers(self) -> Iterator[list[Match]]:
        """The results that the cell owns, for each batch of events, and for the end of the events."""
        for stream, times, rows, ids, starts in self.runs():
            yield self.owned(expanded(self.engine.publish(stream, times, rows, ids, starts)))
        yield self.owned(self.finish())

    def finish(self) -> Iterable[Match]:
        """End the cell's events as if they were the end of all events; the last results."""
        return expanded(self.engine.finish())

    def owned(self, results: Iterable[Match]) -> list[Match]:
        """Those of the engine's results that this cell reports, as the subscription wants them."""
        if not self.cell.sliced:
            return list(results)
        found: list[Match] = []
        for match in results:
            if match.limit is not None or match.incomplete:
                raise LimitExceeded(
                    f"subscription {match.subscription!r}: a limit of the engine was hit in a part of the history,"
                    " where its effect differs from that in the whole; divide it by subscription (shards)"
                )
            assert match.lineage is not None
            if self._overlap.issuperset(match.lineage):
                continue
            if match.subscription in self._bare:
                match = match._replace(lineage=None, bindings=None)
            found.append(match)
        return found


def _in_order(times: Sequence[int], ids: Sequence[int]) -> bool:
    """Whether (time, id) increases from each event to the next. O(events)."""
    if all(map(lt, ids, islice(ids, 1, None))) and all(map(le, times, islice(times, 1, None))):
        return True
    points = list(zip(times, ids))
    return all(map(lt, points, islice(points, 1, None)))


def run_cell(
    cell: Cell,
    subscriptions: Subscriptions,
    runs: Iterable[Run],
    task: Task,
    *,
    model: str | None = None,
    options: Options | None = None,
) -> Iterator[pa.RecordBatch]:
    """Run a task on a cell. `runs`: the cell's events, owned and overlap, in order; `model`: the text of a model file
    to begin with. Raises ForetellError."""
    only: Any = cell.subscriptions
    engine = subscriptions.engine(options, only if only is None else frozenset(only), lineage=cell.sliced)
    if model is not None:
        known: Model = read_model(model, "model")
        engine.load_model(known)
    yield from task.part(Work(cell, subscriptions, engine, runs))
