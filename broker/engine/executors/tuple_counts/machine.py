"""The machine of a composite subscription: the partial matches of each partition by BY.

Here: which partition an event belongs to. Not here: how one partition's tuples are counted (partition), the form that
all executors have (contract).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from ...matches.completions import Audience, Completions
from ...matches.sources import Item, WaitingRun, waiting_run
from ..contract import ByPlace, EventExecutor, Input, Member, alike
from .partition import Partition
from .tables import CountingTables


@final
class TupleCounts(EventExecutor, ByPlace):
    """The partitions by BY: by stream the attributes at `positions`. Without BY there is one, of the key ()."""

    def __init__(self, tables: CountingTables, positions: tuple[tuple[int, ...], ...], inputs: list[Input]) -> None:
        super().__init__(tables.account, inputs)
        self.tables = tables
        self.partitioned: dict[Row, Partition] = {}
        self.positions = positions
        self.divided = len(positions) > 0

    def audience(self) -> Audience:
        return Audience(alike(self.member), not self.tables.tuples)

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        key: Row = ()
        if self.divided:
            if place == 0:
                return False
            position = place
            key = tuple([row[at] for at in self.positions[stream]])
        partition = self.partitioned.get(key)
        if partition is None:
            if mask & self.tables.beginners == 0:
                return False
            partition = self.partitioned[key] = Partition(self.tables)
        for completion in partition.step(mask, row, time, position, item):
            found.add(completion)
        if partition.lost > 0:
            self.lost += partition.lost
            partition.lost = 0
        return True

    def clear(self) -> None:
        self.partitioned = {}

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        for key in list(self.partitioned):
            own: i64 = places.get(key, 0) if self.divided else position
            if self.partitioned[key].empty(time, own + 1):
                del self.partitioned[key]
        return len(self.partitioned)

    def partitions(self) -> set[tuple[Any, ...]]:
        return set(self.partitioned)

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun]:
        """The tuples begun (Runner.partial)."""
        for key, partition in self.partitioned.items():
            for begun in partition.partial(places.get(key, 0) if self.divided else position):
                yield waiting_run(key, list(begun))

    def statistics(self) -> dict[str, int]:
        figures = {"machines": 1}
        for partition in self.partitioned.values():
            for name, count in partition.statistics().items():
                figures[name] = figures.get(name, 0) + count
        return figures

    def check_invariants(self) -> None:
        for partition in self.partitioned.values():
            partition.check_invariants()

    def dump(self) -> Any:
        return [[list(key), partition.dump()] for key, partition in self.partitioned.items()]

    def load(self, data: Any) -> None:
        for key, partition in data:
            self.partitioned[tuple(key)] = Partition(self.tables)
            self.partitioned[tuple(key)].load(partition)
