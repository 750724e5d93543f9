"""The machine of a pattern: its runs by key, its negated events, and the matches that wait for time to pass.

Here: keys, and the state of each. Not here: the effect of an event on the runs of one key (runs), finding the machines
of an event (lanes).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64

from ....automaton.analyses.measures import measures_of, monotone
from ....automaton.analyses.pasts import shares_pasts
from ....events.schema import Row
from ...matches.completions import Audience, Completions
from ...matches.sources import Item, WaitingRun, waiting_run
from ...program.account import UNLIMITED, Account
from ..contract import NOTHING_DUE, ByPlace, EventExecutor, Input, Member, alike
from .cell import RunCell
from .columns import RunColumns
from .kleene_plan import KleenePlan
from .measure_columns import MeasureReaders
from .negation_index import NegationIndex
from .numbered_matches import RunsAudience
from .numbered_runs import NumberedRuns
from .pending import Pending
from .run import KleeneRun, Restored, RunsArchive, TakenEvents, complete
from .runs import Runs
from .shared_pasts import Recalls, SharedPasts
from .stacks import Stacks
from .tables import BEFORE, FOREVER, RunBounds, Tables

Key: TypeAlias = Any  # a value, or a tuple of values

FEW: Final = 64  # keys up to which useless ones are not searched


def inputs_of(plan: KleenePlan) -> list[Input]:
    """The events that a machine of the plan needs."""
    return [Input(given.stream, given.guard) for given in plan.inputs]


@final
class KleeneMachine(EventExecutor, ByPlace):
    """The runs of one subscription; `account`: the one that it shares with others. `columns`: runs are rows of numbers,
    or share their pasts, where their conditions allow it; otherwise each is an object."""

    def __init__(
        self,
        plan: KleenePlan,
        bounds: RunBounds | None = None,
        columns: bool = True,
        account: Account | None = None,
    ) -> None:
        self.tables = Tables(plan, bounds or RunBounds(), account)
        super().__init__(self.tables.account, inputs_of(plan))
        self.plan = plan
        self.measures: MeasureReaders | None = None
        self.stacked = False
        measures = measures_of(plan.automaton) if columns else None
        if measures is not None:
            self.measures = MeasureReaders(measures, len(plan.steps[0].begun))
            self.stacked = monotone(plan.automaton, measures)
            if self.stacked:
                self.measures.take[0].ordered = True
        shares = self.measures is None and columns and shares_pasts(plan.automaton)
        self.recalls: Recalls | None = Recalls(plan) if shares else None
        self.cells: dict[Key, RunCell] = {}
        self.negated: list[dict[Key, NegationIndex]] = [{} for _ in plan.negations]
        self.pending = Pending(self.tables)
        self.settled: i64 = 0
        self.again: i64 = BEFORE  # when all keys may be searched for room again

    def audience(self) -> Audience:
        """The subscribers."""
        return RunsAudience(self.tables, alike(self.member), self.tables.compressed)

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        """`place` is 0 if no component asks for contiguity in its partition."""
        tables = self.tables
        moving = mask & tables.moving
        if moving and tables.uniform >= 0:
            key = self._key(tables.uniform, row)
            if key is not None:
                self._step(key, moving, row, time, position, place, item, found)
        elif moving:
            self._scatter(moving, row, time, position, place, item, found)
        if mask & tables.denying:
            self._deny(mask, row, time, position)
        self.alarm = self.pending.next
        return True

    def _scatter(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item, found: Completions
    ) -> None:
        """Process an event that may have different keys as different inputs."""
        masks: dict[Key, int] = {}
        number: i64
        bit: i64 = 1  # doubled, not shifted: a compiled shift of a literal has only 32 bits
        for number in range(self.tables.inputs):
            if mask & bit:
                key = self._key(number, row)
                if key is not None:
                    masks[key] = masks.get(key, 0) | int(bit)
            bit += bit
        for key, own in masks.items():
            self._step(key, own, row, time, position, place, item, found)

    def _key(self, number: i64, row: Row) -> Key:
        """The key of an event as that input; None if a value is null."""
        single = self.tables.single[number]
        if single >= 0:
            return row[single]
        key = tuple([row[position] for position in self.tables.keys[number]])
        return None if None in key else key

    def _step(
        self, key: Key, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item, found: Completions
    ) -> None:
        """Pass the event to the runs of its key."""
        cell = self.cells.get(key)
        if cell is None:
            if mask & self.tables.edges[0].begin == 0:
                return
            if len(self.cells) > 2 * self.settled + FEW:
                self.settle(time, position)
            cell = self.cells[key] = self._cell(key)
        if not cell.step(mask, row, time, position, place, item, found):
            assert isinstance(cell, NumberedRuns)
            self.account.held -= cell.held
            cell = self.cells[key] = self._plain(*cell.log.alone(self.tables, cell.numbers(), position, place))
            cell.step(mask, row, time, position, place, item, found)
        if cell.lost > 0:
            self.lost += cell.lost
            cell.lost = 0
        cell.weigh(self.account)
        if self.account.held > self.account.room:
            self._make_room(key, cell, time, position)

    def _make_room(self, key: Key, cell: RunCell, time: i64, position: i64) -> None:
        """Forget runs that no event can continue, or else those of the key in work: there is too much of them."""
        if time >= self.again:
            self.again = time + (self.tables.window >> 4) + 1
            self.settle(time, position)
            if self.account.held <= self.account.room:
                return
        self.lost += 1
        if cell.owed > 0:  # its matches that wait are too many, perhaps
            lost = self.lost
            self.clear()
            self.lost = lost
        elif key in self.cells:
            self._forget(key)

    def _forget(self, key: Key) -> None:
        """Drop a key."""
        cell = self.cells.pop(key)
        self.account.held -= cell.held
        for index in cell.negated:
            index.users -= 1

    def _cell(self, key: Key) -> RunCell:
        if self.measures is not None:
            if self.stacked:
                return Stacks(self.tables, self.measures)
            return RunColumns(self.tables, self.measures)
        negated = self._indexes_of(key)
        if self.recalls is not None:
            return SharedPasts(self.tables, self.recalls, negated)
        return Runs(self.tables, negated, self.pending)

    def _plain(self, events: TakenEvents, runs: list[KleeneRun]) -> RunCell:
        """The single runs that replace numbered ones."""
        plain = Runs(self.tables, [], self.pending)
        plain.enter(events, runs)
        return plain

    @property
    def method(self) -> str:
        """How it stores runs, for users."""
        if self.measures is None:
            return "groups that share their pasts" if self.recalls is not None else "runs one by one"
        return "stacks of equal runs" if self.stacked else "columns of numbers"

    def clear(self) -> None:
        """Drop all state."""
        for key in list(self.cells):
            self._forget(key)
        self.negated = [{} for _ in self.plan.negations]
        self.pending = Pending(self.tables)
        self.alarm = NOTHING_DUE
        self.settled = self.lost = 0

    def advance(self, time: i64, found: Completions) -> None:
        """All events before `time` have come: complete the matches that waited for it, unless they were taken back."""
        done = self.pending.take(time)
        self.alarm = self.pending.next
        if done:
            found.add(complete(done, self.tables))

    # --- negations ----------------------------------------------------------------------------------------------

    def _indexes_of(self, key: Key) -> list[NegationIndex]:
        values: Any = (key,) if len(self.plan.key) == 1 else key
        return [self._index(at, values) for at in range(len(self.negated))]

    def _index(self, at: i64, values: tuple[Any, ...]) -> NegationIndex:
        denial = self.tables.denials[at]
        key = tuple([values[part] for part in denial.parts])
        index = self.negated[at].get(key)
        if index is None:
            index = self.negated[at][key] = NegationIndex(denial)
        return index

    def _deny(self, mask: i64, row: Row, time: i64, position: i64) -> None:
        tables = self.tables
        for denial in tables.denials:
            if mask & denial.input == 0:
                continue
            key = tuple([row[at] for at in tables.keys[denial.bit]])
            if None in key:
                continue
            negated = self.negated[denial.number]
            index = negated.get(key)
            if index is None:
                if denial.place > 0:
                    continue  # it can take back no match
                index = negated[key] = NegationIndex(denial)
            oldest = BEFORE if tables.window == FOREVER else time - tables.window
            if index.take(row, time, position, oldest, tables.logged_max):
                self.lost += 1

    # --- upkeep -------------------------------------------------------------------------------------------------

    def settle(self, time: i64, position: i64) -> None:
        """Drop keys without runs, and negated events that lie in no possible match. O(runs and keys)."""
        for key in list(self.cells):
            cell = self.cells[key]
            if cell.settle(time, position) == 0 and cell.owed == 0:
                self._forget(key)
            else:
                cell.weigh(self.account)
        for negated in self.negated:
            for key in list(negated):
                index = negated[key]
                if index.users == 0 and (index.denial.place > 0 or index.time < time - self.tables.window):
                    del negated[key]
        self.settled = len(self.cells)

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        self.settle(time, position)
        return len(self.cells) + sum(map(len, self.negated))

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun]:
        """Runs that contiguity rules out may still be among them."""
        oldest = time - self.tables.window if self.tables.window < FOREVER else BEFORE
        for key, cell in self.cells.items():
            whole: Any = (key,) if len(self.plan.key) == 1 else key
            for assigned in cell.partial(oldest):
                yield waiting_run(whole, assigned)

    def partitions(self) -> set[tuple[Any, ...]]:
        """The partitions with runs or negated events. O(keys)."""
        parts = len(self.plan.automaton.partition)
        found: set[tuple[Any, ...]] = set()
        for key in self.cells:
            whole: Any = (key,) if len(self.plan.key) == 1 else key
            found.add(whole[:parts])
        return found

    def statistics(self) -> dict[str, int]:
        """Machines, key values with runs, runs, matches that wait for time to pass, marks of negated events."""
        return {
            "patterns": 1,
            "pattern_keys": len(self.cells),
            "pattern_runs": sum(cell.size() for cell in self.cells.values()),
            "pattern_waiting": len(self.pending.waiting),
            "pattern_negated": sum(map(len, self.negated)),
        }

    def check_invariants(self) -> None:
        assert self.alarm == self.pending.next
        users: dict[int, int] = {}
        owed: dict[int, int] = {}
        assert self.account.held >= sum(cell.held for cell in self.cells.values()), "bytes that no key holds"
        for cell in self.cells.values():
            cell.check_invariants()
            for index in cell.negated:
                users[id(index)] = users.get(id(index), 0) + 1
        for negated in self.negated:
            for index in negated.values():
                assert index.users == users.get(id(index), 0)
        for _, _, cell in self.pending.waiting.values():
            owed[id(cell)] = owed.get(id(cell), 0) + 1
        assert owed == {id(cell): cell.owed for cell in self.cells.values() if cell.owed}
        assert len(self.pending.due) == len(self.pending.waiting)

    def dump(self) -> list[Any]:
        """The state as lists, numbers, strings and booleans."""
        archive = RunsArchive()
        keys = [list(key) if isinstance(key, tuple) else key for key in self.cells]
        cells = [[cell.dump(archive), int(cell.upto)] for cell in self.cells.values()]
        numbers = {id(cell): at for at, cell in enumerate(self.cells.values())}
        negated = [[[list(key), index.dump()] for key, index in known.items()] for known in self.negated]
        return [negated, keys, cells, self.pending.dump(archive, numbers), archive.data()]

    def load(self, data: Any) -> None:
        """Restore a dump. The account is full first, because replaying costs no units."""
        account = self.tables.account
        account.left = UNLIMITED
        self._load(data)
        account.left = account.most

    def _load(self, data: Any) -> None:
        negated, keys, cells, pending, trails = data
        for at, known in enumerate(negated):
            for key, content in known:
                index = self.negated[at][tuple(key)] = NegationIndex(self.tables.denials[at])
                index.load(content)
        restored = Restored(trails)
        for key, (content, upto) in zip(keys, cells):
            whole = tuple(key) if isinstance(key, list) else key
            cell = self._cell(whole)
            if self.measures is not None and content[0]:
                cell = self._plain(TakenEvents(0), [])
            self.cells[whole] = cell
            cell.upto = upto
            cell.load(content, restored)
        self.pending.load(pending, list(self.cells.values()), restored)
        for cell in self.cells.values():
            cell.weigh(self.account)
        self.alarm = self.pending.next
