"""The machine of an automaton with several branches: a machine of runs for each, whose matches are one source.

The branches are the variants of a pattern whose elements may be absent. Each keeps its runs in the form that suits it,
and gets the events of its own inputs only. They share one account.

Here: handing events on, and the matches of all branches as one source. Not here: runs (machine), branches (broker.
automaton.analyses.branches).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....automaton.automaton import Report
from ....events.schema import Row
from ...matches.completions import Audience, Completions
from ...matches.match_graph import Found
from ...matches.sources import Assigned, Item, Matched, MatchSource, WaitingRun
from ...program.account import Account
from ..contract import NOTHING_DUE, ByPlace, EventExecutor, Input, Member, alike
from .kleene_plan import KleenePlan
from .machine import KleeneMachine
from .tables import RunBounds

MASKS_MAX: Final = 4096  # combinations of inputs whose translation is kept


@final
class BranchRuns:
    """A branch with its machine. `bits`: for each of its inputs, the number among all inputs."""

    def __init__(self, machine: KleeneMachine, operands: tuple[int, ...], bits: Sequence[int]) -> None:
        self.machine = machine
        self.operands = operands
        self.bits = list(bits)
        self.masks: dict[int, int] = {}
        self.found = Completions()
        self.found.serve(machine.audience())

    def mask(self, mask: i64) -> i64:
        """The inputs of this branch among those that an event satisfies."""
        whole = int(mask)
        own = self.masks.get(whole)
        if own is None:
            if len(self.masks) >= MASKS_MAX:
                self.masks.clear()
            own = self.masks[whole] = sum([1 << at for at, bit in enumerate(self.bits) if whole >> bit & 1])
        return own

    def read(self, row: Row, time: i64, item: Item) -> list[MatchSource]:
        """What the machine has completed since the last reading."""
        if self.found.upto == 0:
            return []
        done = self.found.since(0, row, int(time), item)
        self.found = Completions()
        self.found.serve(self.machine.audience())
        return done


@final
class BranchingMachine(EventExecutor, ByPlace):
    """The runs of one subscription."""

    def __init__(
        self,
        plans: Sequence[KleenePlan],
        operands: Sequence[tuple[int, ...]],
        inputs: list[Input],
        bits: Sequence[Sequence[int]],
        bounds: RunBounds,
        columns: bool,
    ) -> None:
        account = Account(bounds.work, bounds.earned)
        super().__init__(account, inputs)
        self.compressed = plans[0].automaton.report == Report.COMPRESSED
        self.branches = [
            BranchRuns(KleeneMachine(plan, bounds, columns, account), own, known)
            for plan, own, known in zip(plans, operands, bits)
        ]

    def audience(self) -> Audience:
        return Audience(alike(self.member), self.compressed)

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        done: list[tuple[MatchSource, tuple[int, ...]]] = []
        for branch in self.branches:
            own = branch.mask(mask)
            if own:
                branch.machine.take(own, row, time, position, place, stream, item, branch.found)
                done += [(source, branch.operands) for source in branch.read(row, time, item)]
        self._settle(done, found)
        return True

    def advance(self, time: i64, found: Completions) -> None:
        done: list[tuple[MatchSource, tuple[int, ...]]] = []
        for branch in self.branches:
            if branch.machine.alarm < time:
                branch.machine.advance(time, branch.found)
                done += [(source, branch.operands) for source in branch.read((), time, None)]
        self._settle(done, found)

    def _settle(self, done: list[tuple[MatchSource, tuple[int, ...]]], found: Completions) -> None:
        """Report the complete matches, and set the alarm."""
        if done:
            found.add(BranchMatches(done))
        alarm: i64 = NOTHING_DUE
        for branch in self.branches:
            machine = branch.machine
            alarm = min(alarm, machine.alarm)
            self.lost += machine.lost
            machine.lost = 0
        self.alarm = alarm

    @property
    def method(self) -> str:
        """How the machines store runs, for users."""
        return ", or ".join(dict.fromkeys(branch.machine.method for branch in self.branches))

    def clear(self) -> None:
        """Drop all state."""
        for branch in self.branches:
            branch.machine.clear()
            branch.read((), 0, None)
        self.alarm = NOTHING_DUE
        self.lost = 0

    # --- inspection -------------------------------------------------------------------------------------------------

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        return sum([branch.machine.forget(time, position, places) for branch in self.branches])

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun]:
        for branch in self.branches:
            for run in branch.machine.waiting_runs(member, time, position, places):
                yield run._replace(assigned=numbered(run.assigned, branch.operands))

    def partitions(self) -> set[tuple[Any, ...]]:
        found: set[tuple[Any, ...]] = set()
        for branch in self.branches:
            found |= branch.machine.partitions()
        return found

    def statistics(self) -> dict[str, int]:
        """Those of all branches together, as one pattern."""
        found: dict[str, int] = {}
        for branch in self.branches:
            for name, number in branch.machine.statistics().items():
                found[name] = found.get(name, 0) + number
        return found | {"patterns": 1}

    def check_invariants(self) -> None:
        for branch in self.branches:
            branch.machine.check_invariants()
            assert branch.machine.account is self.account
            assert branch.found.upto == 0, "matches that were not reported"
        assert self.alarm == min([branch.machine.alarm for branch in self.branches])

    # --- snapshots --------------------------------------------------------------------------------------------------

    def dump(self) -> list[Any]:
        return [branch.machine.dump() for branch in self.branches]

    def load(self, data: Any) -> None:
        for branch, saved in zip(self.branches, data, strict=True):
            branch.machine.load(saved)
        self.alarm = min([branch.machine.alarm for branch in self.branches])


@final
@mypyc_attr(acyclic=True)
class BranchMatches(Found):
    """Matches of several branches, each source with the numbers of its operands."""

    def __init__(self, parts: list[tuple[MatchSource, tuple[int, ...]]]) -> None:
        self.parts = parts

    def amount(self) -> int | None:
        total = 0
        for source, _ in self.parts:
            amount = source.amount()
            if amount is None:
                return None
            total += amount
        return total

    def all(self) -> Iterator[Matched]:
        for source, operands in self.parts:
            for each in source.all():
                yield Matched(numbered(each.assigned, operands), each.start, each.end, each.values)

    def arbitrary(self) -> bool:
        return any(source.arbitrary() for source, _ in self.parts)

    def doubtful(self) -> bool:
        return any(source.doubtful() for source, _ in self.parts)


def numbered(assigned: Assigned, operands: tuple[int, ...]) -> Assigned:
    """The events of a branch with the operands' numbers in the whole automaton."""
    return [(operands[component], item, time) for component, item, time in assigned]
