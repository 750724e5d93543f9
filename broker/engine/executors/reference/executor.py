"""The reference behind the form that the host knows: any automaton over events in order of arrival.

It asks for every event of its streams and tests all by itself. Here: that form, and runs as plain data. Not here: what
an event does to a run (interpreter).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.normal_form import ALWAYS
from ....automaton.automaton import Automaton, Kind, Report, TimeModel
from ....events.schema import Row
from ...account import MATCH_UNITS, Account
from ..completions import Completions
from ..contract import NOTHING_DUE, Executor, Input
from ..expansion import Found, MatchGraph
from ..matches import Assigned, Expansion, Item, Matched
from .interpreter import Interpreter
from .run import CompletedRun, Consumed, Path, ReferenceRun, SeenEvent

TESTED_HERE: Final = ALWAYS  # what an index is to answer for the reference: nothing


@final
class Reference(Executor):
    """The runs of one automaton, as a host knows them."""

    def __init__(self, automaton: Automaton, account: Account) -> None:
        assert automaton.time is TimeModel.ARRIVAL, "epochs are not behind the executors' contract"
        one_for_all = automaton.report in (Report.COMPLETIONS, Report.COMPRESSED)
        super().__init__(account, inputs_of(automaton), one_for_all)
        self.automaton = automaton
        self.interpreter = Interpreter(automaton)
        self._timed = {arc.source for arc in automaton.arcs if arc.kind is Kind.TIMEOUT}

    @property
    def method(self) -> str:
        return "runs one by one, each tested with every event"

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, part: Row, item: Item, found: Completions
    ) -> bool:
        stream = self.inputs[int(mask).bit_length() - 1].stream
        self.account.spend(len(self.interpreter.runs) + 1)
        self._tell(self.interpreter.feed(stream, int(time), int(time), row, item), found)
        self.account.spend(len(self.interpreter.runs))
        if self.interpreter.runs or self.interpreter.log:
            self.taken = True
        return self.taken

    def advance(self, time: i64, found: Completions) -> None:
        self._tell(self.interpreter.advance(int(time)), found)

    def _wait(self) -> None:
        """Set the alarm for the run that waits for time and began first."""
        within = self.automaton.within or 0
        waiting = [run.first().end + within for run in self.interpreter.runs if run.state in self._timed]
        self.alarm = min(waiting, default=NOTHING_DUE)

    def _tell(self, matches: list[CompletedRun], found: Completions) -> None:
        self._wait()
        if not matches:
            return
        self.account.spend(MATCH_UNITS * len(matches))
        self.taken = True
        if self.automaton.report is not Report.COMPLETIONS:
            found.add(CompletedRuns(matches, False))
            return
        alike: dict[Row, list[CompletedRun]] = {}
        for match in matches:
            alike.setdefault(match.values, []).append(match)
        for each in alike.values():
            found.add(CompletedRuns(each, True))

    def clear(self) -> None:
        self.interpreter = Interpreter(self.automaton)
        self.alarm = NOTHING_DUE

    def empty(self, time: i64, position: i64, places: dict[Any, int]) -> bool:
        if self.alarm >= time:  # else a match waits to be told
            self.interpreter.advance(int(time))
        self.interpreter.forget(int(time))
        return not (self.interpreter.runs or self.interpreter.log)

    # --- inspection --------------------------------------------------------------------------------------------

    def partial(self, time: i64, position: i64, places: dict[Any, int]) -> Iterator[Assigned] | None:
        return self._partial(int(time))

    def _partial(self, time: int) -> Iterator[Assigned]:
        for run in self.interpreter.runs:
            if self.interpreter.inside(run, time):
                yield assigned(run.taken)

    def keys(self) -> int:
        return len(self.partitions())

    def partitions(self) -> set[tuple[Any, ...]]:
        runs = [run.first().partition for run in self.interpreter.runs]
        logged = [event.partition for event in self.interpreter.log]
        return {partition for partition in [*runs, *logged] if partition is not None}

    def statistics(self) -> dict[str, int]:
        """`reference_waiting`: runs that wait for time; `reference_log`: events that may be asked for."""
        runs = self.interpreter.runs
        waiting = len([run for run in runs if run.state in self._timed])
        return {
            "references": 1,
            "reference_keys": self.keys(),
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
        assert all(one.number < other.number for one, other in zip(self.interpreter.log, self.interpreter.log[1:]))

    # --- snapshots ---------------------------------------------------------------------------------------------

    def dump(self) -> list[Any]:
        """Events that runs or the log have, each once; the log by their numbers; runs by arcs and numbers of events."""
        interpreter = self.interpreter
        events = {event.number: event for event in interpreter.log}
        for run in interpreter.runs:
            events |= {event.number: event for _, event in run.taken}
        arcs = {id(arc): number for number, arc in enumerate(self.automaton.arcs)}
        return [
            interpreter.number,
            [[e.number, e.stream, e.end, list(e.row), e.item] for e in events.values()],
            [event.number for event in interpreter.log],
            [[r.state, list(r.slots), [[arcs[id(a)], e.number] for a, e in r.taken]] for r in interpreter.runs],
            [[list(partition), number] for partition, number in interpreter.ends.items()],
        ]

    def load(self, data: Any) -> None:
        """What `dump` made, also when it was written and read in between."""
        interpreter = self.interpreter
        interpreter.number, events, log, runs, ends = data
        known = {
            number: SeenEvent(
                number, stream, time, time, tuple(row), frozen(item), interpreter.partition(stream, tuple(row))
            )
            for number, stream, time, row, item in events
        }
        interpreter.log = [known[number] for number in log]
        interpreter.ends = {tuple(partition): number for partition, number in ends}
        interpreter.runs = [
            ReferenceRun(
                state,
                tuple([frozen(slot) for slot in slots]),
                tuple([Consumed(self.automaton.arcs[arc], known[number]) for arc, number in taken]),
            )
            for state, slots, taken in runs
        ]
        self._wait()


def inputs_of(automaton: Automaton) -> list[Input]:
    """Every event of its streams."""
    return [Input(source.stream, TESTED_HERE) for source in automaton.sources]


def frozen(value: Any) -> Any:
    """Rows and items as they were before they became lists."""
    return tuple([frozen(part) for part in value]) if isinstance(value, list | tuple) else value


def assigned(taken: Path) -> Assigned:
    """The events of a match, in the order of the operands and, of one, of the stream."""
    return sorted([(arc.operand, event.item, event.end) for arc, event in taken], key=operand_of)


def operand_of(each: tuple[int, Item, int]) -> int:
    return each[0]


@final
@mypyc_attr(acyclic=True)
class CompletedRuns(Found):
    """`alike`: one stands for all, since they have equal values."""

    def __init__(self, matches: list[CompletedRun], alike: bool) -> None:
        self.matches = matches
        self.alike = alike

    def amount(self) -> int:
        return len(self.matches)

    def all(self) -> Iterator[Matched]:
        for taken, values in self.matches:
            yield Matched(assigned(taken), taken[0].event.end, taken[-1].event.end, values)

    def arbitrary(self) -> bool:
        return self.alike

    def expansion(self, names: tuple[str, ...]) -> Expansion | None:
        return None if self.alike else MatchGraph(self, names)
