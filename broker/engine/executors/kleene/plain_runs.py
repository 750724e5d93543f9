"""Single runs that replace numbered ones in one key value; for a family, separate runs of each member.

Not here: when numbers are not enough (measure_columns).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from ..completions import Completions
from ..matches import Assigned, Item
from .cell import RunCell
from .family import FactorFamily, FamilyMember, Own
from .pending import Pending
from .run import KleeneRun, Restored, RunsArchive
from .runs import Runs
from .tables import Tables


@final
class PlainRuns(RunCell):
    """`parts`: the runs; for a family those of each of `owners`."""

    __slots__ = ("family", "owners", "parts")

    def __init__(self, tables: Tables, family: FactorFamily | None, pending: Pending, runs: list[KleeneRun]) -> None:
        super().__init__([])
        self.family = family
        self.owners: list[FamilyMember] = [] if family is None else list(family.members)
        each = [Tables(member.plan, tables.bounds, tables.account) for member in self.owners]
        self.parts = [Runs(own, [], pending) for own in (each if family is not None else [tables])]
        for part in self.parts:
            part.enter(runs)

    def step(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item, found: Completions) -> bool:
        for at, part in enumerate(self.parts):
            own = found if self.family is None else Completions()
            part.step(mask, row, time, position, place, item, own)
            if self.family is not None:
                for each in own.founds:
                    found.add(Own(self.owners[at].target, each))
            self.lost += part.lost
            part.lost = 0
        return True

    def settle(self, time: i64, position: i64) -> i64:
        return sum([part.settle(time, position) for part in self.parts])

    def size(self) -> int:
        return sum([part.size() for part in self.parts])

    def partial(self, oldest: i64) -> Iterator[Assigned]:
        return self.parts[0].partial(oldest)

    def check_invariants(self) -> None:
        for part in self.parts:
            part.check_invariants()

    def dump(self, archive: RunsArchive) -> list[Any]:
        current = self.owners if self.family is None else self.family.members
        kept = [part for at, part in enumerate(self.parts) if not current or self.owners[at] in current]
        return [True, [part.dump(archive) for part in kept]]

    def load(self, data: Any, restored: Restored) -> None:
        for part, content in zip(self.parts, data[1], strict=True):
            part.load(content, restored)
