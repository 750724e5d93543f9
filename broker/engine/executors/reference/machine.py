"""The reference behind the contract of executors, for any automaton.

It asks for every event of its streams, and tests all conditions itself. Here: the contract, and runs as plain data. Not
here: the effect of an event on a run (interpreter).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.normal_form import ALWAYS
from ....automaton.automaton import Automaton, Kind, Report, TimeModel
from ....events.instant import FOREVER
from ....events.schema import Row
from ...matches.completions import Audience, Completions
from ...matches.match_graph import Found, MatchGraph
from ...matches.sources import Assigned, Expansion, Item, Lineage, Matched, PartialMatch, WaitingRun, ids
from ...program.account import MATCH_UNITS, Account, Full
from ..contract import NOTHING_DUE, ByPlace, EventExecutor, Input, Member, OverEpochs, alike
from ..trace import mixed
from .interpreter import Interpreter
from .run import CompletedRun, Consumed, Path, ReferenceRun, SeenEvent

LINK_BYTES: Final = 8  # of a run, for each event that it has
TESTED_HERE: Final = ALWAYS  # the conditions that an index tests for the reference: none


class Reference(EventExecutor, ByPlace):
    """The runs of one automaton behind the contract."""

    def __init__(self, automaton: Automaton, account: Account) -> None:
        super().__init__(account, inputs_of(automaton))
        self.automaton = automaton
        self.epochs = automaton.time is TimeModel.EPOCHS
        self.interpreter = Interpreter(automaton, not self.epochs)
        self._timed = {arc.source for arc in automaton.arcs if arc.kind is Kind.TIMEOUT}

    def audience(self) -> Audience:
        one_for_all = self.automaton.report in (Report.COMPLETIONS, Report.COMPRESSED)
        return Audience(alike(self.member), one_for_all)

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        name = self.inputs[int(mask).bit_length() - 1].stream
        self.account.spend(len(self.interpreter.runs) + 1)
        start = found.start_of(found.event) if self.epochs else int(time)
        matches = self.interpreter.feed(name, start, int(time), row, item)
        self._tell(matches, found)
        self.account.spend(len(self.interpreter.runs))
        self.account.held = LINK_BYTES * sum([len(run.taken) for run in self.interpreter.runs])
        if self.account.held > self.account.room:
            raise Full
        return len(matches) > 0 or len(self.interpreter.runs) > 0 or len(self.interpreter.log) > 0

    def advance(self, time: i64, found: Completions) -> None:
        self._tell(self.interpreter.advance(int(time)), found)

    def _wait(self) -> None:
        """Set the alarm for the oldest run that waits for time."""
        within = self.automaton.within or 0
        waiting = [run.first().end + within for run in self.interpreter.runs if run.state in self._timed]
        self.alarm = min(waiting, default=NOTHING_DUE)

    def _tell(self, matches: list[CompletedRun], found: Completions) -> None:
        self._wait()
        if not matches:
            return
        self.account.spend(MATCH_UNITS * len(matches))
        self._report(matches, found)

    def _report(self, matches: list[CompletedRun], found: Completions) -> None:
        if self.automaton.report is not Report.COMPLETIONS:
            found.add(CompletedRuns(matches, False))
            return
        alike: dict[Row, list[CompletedRun]] = {}
        for match in matches:
            alike.setdefault(match.values, []).append(match)
        for each in alike.values():
            found.add(CompletedRuns(each, True))

    def clear(self) -> None:
        self.interpreter = Interpreter(self.automaton, not self.epochs)
        self.alarm = NOTHING_DUE

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        if self.alarm >= time:  # otherwise a match waits to be reported
            self.interpreter.advance(int(time))
        self.interpreter.forget(int(time))
        return len(self.interpreter.runs) + len(self.interpreter.log)

    # --- inspection --------------------------------------------------------------------------------------------

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        return self._waiting(int(time))

    def _waiting(self, time: int) -> Iterator[WaitingRun]:
        for run in self.interpreter.runs:
            if self.interpreter.inside(run, time):
                first = run.first()
                yield WaitingRun(first.partition or (), run.state, first.start, assigned(run.taken))

    def partitions(self) -> set[tuple[Any, ...]]:
        runs = [run.first().partition for run in self.interpreter.runs]
        logged = [event.partition for event in self.interpreter.log]
        return {partition for partition in [*runs, *logged] if partition is not None}

    def statistics(self) -> dict[str, int]:
        """`reference_waiting`: runs that wait for time; `reference_log`: events that an arc may still refer to."""
        runs = self.interpreter.runs
        waiting = len([run for run in runs if run.state in self._timed])
        return {
            "references": 1,
            "reference_keys": len(self.partitions()),
            "reference_runs": len(runs),
            "reference_waiting": waiting,
            "reference_log": len(self.interpreter.log),
        }

    def check_invariants(self) -> None:
        number = self.interpreter.number
        for run in self.interpreter.runs:
            assert 0 < run.state < self.automaton.final
            assert run.first().partition is not None
            assert all(event.partition == run.first().partition for _, event in run.taken)
            assert all(one.event.number < other.event.number for one, other in zip(run.taken, run.taken[1:]))
            assert run.last().number < number
            assert run.ended == FOREVER or self.epochs
        assert all(one.number < other.number for one, other in zip(self.interpreter.log, self.interpreter.log[1:]))

    # --- snapshots ---------------------------------------------------------------------------------------------

    def dump(self) -> list[Any]:
        """Events of runs and the log, each once; the log as event numbers; runs as arcs and event numbers.

        Over epochs also the starts of events, and the epoch in which a run ends.
        """
        interpreter = self.interpreter
        events = {event.number: event for event in interpreter.log}
        for run in interpreter.runs:
            events |= {event.number: event for _, event in run.taken}
        arcs = {id(arc): number for number, arc in enumerate(self.automaton.arcs)}
        return [
            interpreter.number,
            [
                [e.number, e.stream, e.end, list(e.row), e.item, *([e.start] if self.epochs else ())]
                for e in events.values()
            ],
            [event.number for event in interpreter.log],
            [
                [
                    run.state,
                    list(run.slots),
                    [[arcs[id(arc)], event.number] for arc, event in run.taken],
                    *([run.ended] if self.epochs else ()),
                ]
                for run in interpreter.runs
            ],
            [[list(partition), number] for partition, number in interpreter.ends.items()],
        ]

    def load(self, data: Any) -> None:
        """Restore the result of `dump`, also after it was written and read."""
        interpreter = self.interpreter
        interpreter.number, events, log, runs, ends = data
        known = {
            number: SeenEvent(
                number,
                stream,
                start[0] if start else time,
                time,
                tuple(row),
                frozen(item),
                interpreter.partition(stream, tuple(row)),
            )
            for number, stream, time, row, item, *start in events
        }
        interpreter.log = [known[number] for number in log]
        interpreter.ends = {tuple(partition): number for partition, number in ends}
        interpreter.runs = []
        for state, slots, taken, *ended in runs:
            path = tuple([Consumed(self.automaton.arcs[arc], known[number]) for arc, number in taken])
            run = ReferenceRun(state, tuple([frozen(slot) for slot in slots]), path)
            if ended:
                run.ended = ended[0]
            interpreter.runs.append(run)
        self._wait()


@final
class ReferenceOverEpochs(Reference, OverEpochs):
    """The runs of an automaton over epochs."""

    def _report(self, matches: list[CompletedRun], found: Completions) -> None:
        assert self.member is not None
        target = self.member.target
        for match in matches:
            run = before_last(match)
            if target.first is not None:
                found.targets.append(target)
                found.complete(found.event, run)
            if target.feeds is not None and found.feeding:
                row, start, end, item, link = found.event_at(int(found.event))
                found.publish(run, target, row, start, end, item, link)

    def close_epoch(self) -> None:
        self.interpreter.runs = [run for run in self.interpreter.runs if run.ended == FOREVER]


def inputs_of(automaton: Automaton) -> list[Input]:
    """Every event of its streams."""
    return [Input(stream, TESTED_HERE) for stream in automaton.streams()]


def frozen(value: Any) -> Any:
    """Rows and items restored from lists."""
    return tuple([frozen(part) for part in value]) if isinstance(value, list | tuple) else value


def assigned(taken: Path) -> Assigned:
    """The events of a match, in the order of the operands, and within an operand of the stream."""
    return sorted([(arc.operand, event.item, event.end) for arc, event in taken], key=operand_of)


def operand_of(each: tuple[int, Item, int]) -> int:
    return each[0]


def before_last(match: CompletedRun) -> PartialMatch | None:
    """The run that the last event of a match over epochs completed; None if that is the only event."""
    if len(match.taken) == 1:
        return None
    first = match.taken[0].event
    trace: i64 = 0
    lineage: Lineage = None
    for arc, event in match.taken[:-1]:
        number: i64 = event.item if isinstance(event.item, int) else event.item[0]
        trace = mixed(trace, number, arc.target)
        for contributed in ids(event.item):
            lineage = (lineage, contributed)
    return PartialMatch(match.taken[-2].event.row, match.slots, first.start, first.end, trace, lineage)


@final
@mypyc_attr(acyclic=True)
class CompletedRuns(Found):
    """Completed runs as matches. `alike`: they have equal values, so that one stands for all."""

    def __init__(self, matches: list[CompletedRun], alike: bool) -> None:
        self.matches = matches
        self.alike = alike

    def amount(self) -> int:
        return len(self.matches)

    def all(self) -> Iterator[Matched]:
        for taken, values, _ in self.matches:
            yield Matched(assigned(taken), taken[0].event.end, taken[-1].event.end, values)

    def arbitrary(self) -> bool:
        return self.alike

    def expansion(self, names: tuple[str, ...]) -> Expansion | None:
        return None if self.alike else MatchGraph(self, names)
