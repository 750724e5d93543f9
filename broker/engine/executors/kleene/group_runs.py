"""The runs that all members of a group have in common: numbered runs if the pattern has measures, else single ones.

The group's constants are not in the automaton. Of those that bound a measure, numbered runs know the least, so that the
group is asked only about matches that some member may have.

Here: runs for a group. Not here: members (executors.groups), the runs themselves (numbered_runs, runs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, cast, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....algebra.predicate import condition, holds
from ....automaton.analyses.kleene_template import measures_with
from ....automaton.analyses.measures import monotone
from ....automaton.analyses.template import CommonLine
from ....events.schema import Row, Value
from ...matches.completions import Completions
from ...matches.match_graph import Found
from ...matches.sources import Assigned, Item
from ...options import Options
from ...program.account import Account
from ..common_runs import CommonMatches, CommonPattern, CommonRuns
from ..packed import Floats, Integers, integers, put_integer
from .columns import RunColumns
from .event_log import EventLog
from .kleene_plan import KleenePlan, compile_kleene
from .machine_plan import bounds_of
from .measure_columns import MeasureReader, MeasureReaders
from .numbered_matches import RUNS, NumberedMatches
from .numbered_runs import NumberedRuns
from .pending import Pending, ends
from .run import CompleteRuns, KleeneRun, Restored, RunsArchive, TakenEvents, unrolled
from .runs import Runs
from .stacks import Stacks
from .tables import BEFORE, FOREVER, RunBounds, Tables

WIDE: Final = 1 << 40  # units of work from which on a limit is not multiplied, as an account has 64 bits


def common_pattern(line: CommonLine, coordinates: Sequence[int], account: Account, options: Options) -> CommonPattern:
    """The runs of a template for a group. O(size of the automaton squared)."""
    return CommonKleene(line, coordinates, bounds_of(options), account)


@final
class CommonKleene(CommonPattern):
    """`guards`: the condition of each input. The first event's input is its own, and a last single one's: the group may
    deny an event these."""

    def __init__(self, line: CommonLine, coordinates: Sequence[int], bounds: RunBounds, account: Account) -> None:
        super().__init__()
        plan = _apart(compile_kleene(line.automaton, keyed=False))
        self.tables = Tables(plan, bounds, account)
        self.tables.shown = line.outputs
        self.line = line
        self.guards = [condition(given.guard) for given in plan.inputs]
        tables, edges = self.tables, self.tables.edges[-1]
        self.begins, self.window = tables.begins, tables.window
        self.ends = 0 if edges.kleene or len(tables.edges) == 1 else edges.begin
        self._texts = 1  # that the account is for
        self.measures: MeasureReaders | None = None
        self.stacked = False
        self.registers = [-1] * len(coordinates)
        self._bounded: list[tuple[MeasureReader, int, bool]] = []
        own = line.measures
        measures = None if own is None else measures_with(line.automaton, own)
        if own is None or measures is None:
            return
        readers = self.measures = MeasureReaders(measures, len(plan.steps[0].begun))
        self.stacked = monotone(line.automaton, measures)
        if self.stacked:
            readers.take[0].ordered = True
        asked = [(number, measure) for number, measure in enumerate(own) if measure is not None]
        begin = [each for each in asked if not each[1].ends]
        end = [each for each in asked if each[1].ends]
        found = [*readers.begin[len(readers.begin) - len(begin) :], *readers.end[len(readers.end) - len(end) :]]
        for at, ((number, measure), reader) in enumerate(zip([*begin, *end], found)):
            self.registers[number] = at
            self._bounded.append((reader, coordinates[number], not measure.ends))

    def bound(self, least: Floats, single: bool) -> None:
        if self.measures is None:
            return
        for reader, at, factor in self._bounded:
            reader.bound(least[at], least[at + 1] if factor else 0.0, factor, not single)
        self.measures.version += 1

    def mask(self, row: Row) -> i64:
        mask: i64 = 0
        bit: i64 = 1
        for guard in self.guards:
            if guard is None or holds(guard, row, (), (), 0, 0):
                mask |= bit
            bit += bit
        return mask

    def afford(self, texts: int) -> None:
        more, bounds = texts - self._texts, self.tables.bounds
        if bounds.work < WIDE:
            self.tables.account.widen(more * bounds.work, more * bounds.earned)
        self._texts = texts

    def runs(self) -> CommonRuns:
        return CommonKleeneRuns(self)


def _apart(plan: KleenePlan) -> KleenePlan:
    """The plan with inputs of their own for the first event and for a last single one."""
    inputs, steps = list(plan.inputs), list(plan.steps)
    for at in {0, len(steps) - 1}:
        if at == 0 or steps[at].take < 0:
            inputs.append(inputs[steps[at].begin])
            steps[at] = replace(steps[at], begin=len(inputs) - 1)
    return replace(plan, inputs=tuple(inputs), steps=tuple(steps))


@final
class CommonKleeneRuns(CommonRuns):
    """The runs of a key. `_numbers`: by the position of a single run's first event the number of its start."""

    def __init__(self, pattern: CommonKleene) -> None:
        super().__init__()
        self._pattern = pattern
        self._numbered: NumberedRuns | None = None
        self._single: Runs | None = None
        self._numbers: dict[int, int] = {}
        self._count = 0  # of starts
        self._position: i64 = 0  # single runs that were numbered: the next position
        self._own = False
        self._found = Completions()
        measures = pattern.measures
        if measures is None:
            self._to_single(TakenEvents(0), [])
        else:
            tables = pattern.tables
            self._numbered = Stacks(tables, measures) if pattern.stacked else RunColumns(tables, measures)
            self._numbered.share()

    def _to_single(self, events: TakenEvents, runs: list[KleeneRun]) -> None:
        tables = self._pattern.tables
        self._single = Runs(tables, [], Pending(tables))
        self._single.enter(events, runs)
        self.rows = True

    def take(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item) -> None:
        self.count = 0
        self.begun = False
        self._take(mask, row, time, position, place, item)
        account, cell = self._pattern.tables.account, self._cell()
        cell.weigh(account)
        if account.held > account.room:
            self.settle(time, position)
            if account.held > account.room:
                self.lost += 1
                cell.clear()
                cell.weigh(account)

    def _cell(self) -> Runs | NumberedRuns:
        """The runs in the form in which they are now."""
        if self._single is not None:
            return self._single
        assert self._numbered is not None
        return self._numbered

    def _take(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item) -> None:
        numbered = self._numbered
        if numbered is not None:
            before = numbered.begun
            numbered.reported = 0
            if numbered.step(mask, row, time, position, place, item, self._found):
                self.begun = numbered.begun > before
                self.lost += numbered.lost
                numbered.lost = 0
                self._report(numbered)
                return
            self._leave_numbers(numbered)
        self._step(mask, row, time, position, place, item)

    def _report(self, numbered: NumberedRuns) -> None:
        """Pass on what ended among numbered runs."""
        if self.begun:
            self._count += 1
        self.count = numbered.reported
        if self.count == 0:
            return
        self.ended = self.starts = numbered.ended
        self.registers = numbered.registers
        self._found_in(numbered.log, numbered.end)

    def _found_in(self, log: EventLog, upto: i64) -> None:
        """Note where the matches of the event are."""
        self.upto = upto
        matches = self.matches
        if not isinstance(matches, CommonNumbers) or matches.log is not log:
            self.matches = CommonNumbers(self._pattern.tables, log)

    def end(self, time: i64) -> bool:
        numbered = self._numbered
        if numbered is None or not numbered.end_all(time):
            return False
        self.begun = False
        self.low, self.count = numbered.oldest, numbered.begun - numbered.oldest
        self._found_in(numbered.log, numbered.log.end())
        return True

    def _leave_numbers(self, numbered: NumberedRuns) -> None:
        """Continue with single runs: the event has a number that columns do not hold."""
        self._pattern.tables.account.held -= numbered.held
        self._numbers = {int(numbered.log.begins(run)): run for run in range(int(numbered.oldest), int(numbered.begun))}
        self.ended, self.starts = integers(), integers()
        self._own = True
        self._position = numbered.log.end()
        self._numbered = None
        self._to_single(*numbered.log.alone(self._pattern.tables, numbered.numbers(), self._position, 0))

    def _step(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item) -> None:
        """Process an event with single runs."""
        runs, tables = self._single, self._pattern.tables
        assert runs is not None
        if self._own:  # no such run asks for adjacent events
            position = self._position
            self._position += 1
        if mask & tables.begins:
            self.begun = True
            self._numbers[int(position)] = self._count
            self._count += 1
        runs.step(mask, row, time, position, place, item, self._found)
        self.lost += runs.lost
        runs.lost = 0
        founds = self._found.drain()
        if len(founds) == 0:
            return
        done = cast(CompleteRuns, founds[0])
        self.matches = CommonSingles(done, tables)
        self.values = done.values
        self.count = len(done.trails)
        at: i64
        for at in range(self.count):
            self.ended = put_integer(self.ended, at, at)
            self.starts = put_integer(self.starts, at, self._numbers[ends(*done.trails[at])[0]])

    # --- upkeep -------------------------------------------------------------------------------------------------

    def live(self, time: i64) -> Iterator[tuple[int, Assigned, Row]]:
        window = self._pattern.tables.window
        oldest = time - window if window < FOREVER else BEFORE
        numbered, single = self._numbered, self._single
        if numbered is not None:
            numbered.expire(oldest)
            for start, assigned in zip(range(int(numbered.oldest), int(numbered.begun)), numbered.partial(BEFORE)):
                yield start, assigned, ()
        elif single is not None:
            for _, _, run in single.runs():
                if run.start >= oldest:
                    events = unrolled(single.events, run.trail)
                    start = self._numbers[ends(single.events, run.trail)[0]]
                    yield start, events, self._compared(run.slots, events[-1][0])

    def _compared(self, slots: Slots, reached: int) -> Row:
        """The values that a run which has reached that operand has been compared by; None in the place of others."""
        line, outputs = self._pattern.line, self._pattern.tables.outputs
        found: list[Value] = [None] * len(outputs)
        for pair, operand in zip(line.compared, line.asked):
            for at in pair:
                if at >= 0 and operand <= reached:
                    found[at] = outputs[at].value((), (), slots, 0, 0)
        return tuple(found)

    def settle(self, time: i64, position: i64) -> i64:
        account, cell = self._pattern.tables.account, self._cell()
        left = cell.settle(time, position)
        if left > 0:
            cell.weigh(account)
        else:  # the key may be dropped
            account.held -= cell.held
            cell.held = 0
        return left

    def oldest(self) -> int:
        if self._numbered is not None:
            return int(self._numbered.oldest)
        single = self._single
        used = set() if single is None else {ends(single.events, run.trail)[0] for _, _, run in single.runs()}
        self._numbers = {position: number for position, number in self._numbers.items() if position in used}
        return min(self._numbers.values(), default=self._count)

    def dump(self) -> Any:
        archive = RunsArchive()
        cell = self._cell()
        first = self._count if self._numbered is None else int(self._numbered.oldest)
        return [
            self._single is not None, cell.dump(archive), archive.data(), sorted(self._numbers.items()), first,
            self._count, int(self._position), self._own,
        ]  # fmt: skip

    def load(self, data: Any) -> None:
        single, content, trails, numbers, first, count, self._position, self._own = data
        if single and self._single is None:
            self._numbered = None
            self._to_single(TakenEvents(0), [])
        if self._single is not None:
            self._single.load(content, Restored(trails))
        elif self._numbered is not None:
            self._numbered.start_with(first)
            self._numbered.load(content, Restored(trails))
        self._numbers = dict(numbers)
        self._count = count
        self._cell().weigh(self._pattern.tables.account)

    def check_invariants(self) -> None:
        cell = self._cell()
        cell.check_invariants()
        assert self._numbered is None or self._numbered.begun == self._count


@final
class CommonNumbers(CommonMatches):
    """Matches of numbered runs that have their events in one log."""

    def __init__(self, tables: Tables, log: EventLog) -> None:
        self.tables = tables
        self.log = log

    def of(self, numbers: Integers, upto: i64, row: Row, time: i64, item: Item) -> Found:
        last = row if self.tables.last > 0 else None
        return NumberedMatches(self.tables, self.log, RUNS, numbers, upto, last, time, item)


@final
class CommonSingles(CommonMatches):
    """Matches of single runs that one event completes."""

    def __init__(self, done: CompleteRuns, tables: Tables) -> None:
        self.done = done
        self.tables = tables

    def of(self, numbers: Integers, upto: i64, row: Row, time: i64, item: Item) -> Found:
        """They are without the values that constants are compared with."""
        trails, values, shown = self.done.trails, self.done.values, self.tables.shown
        return CompleteRuns([trails[at] for at in numbers], [values[at][:shown] for at in numbers])
