"""CONTRIBUTING's recipe "add an executor", followed by a toy: every pair of an event of one operand with a later one of
another. Its only place outside its folder is a row of the planner's table; it has no statistics to name."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from typing import Any, Final, final

import pytest
from doubles import executor_checks
from mypy_extensions import i64

from broker.automaton.automaton import Automaton
from broker.engine import Engine, Options, planner
from broker.engine.executors.composite_plan import CompositePlan
from broker.engine.executors.contract import EventExecutor, Executor, Input, Member
from broker.engine.matches.completions import Completions
from broker.engine.matches.sources import Item, MadeMatches, WaitingRun, matched_of, waiting_run
from broker.engine.planner import ExecutorRow, Wanted
from broker.engine.program import program
from broker.engine.program.account import Account
from broker.events.schema import Row

QUERY: Final = "FROM S a: p > {0} b: v = 2 MATCH a; b"

# --- its folder, machine.py -----------------------------------------------------------------------------------------


@final
class Pairs(EventExecutor):
    """The events that may come first, each with its time."""

    def __init__(self, inputs: list[Input], account: Account) -> None:
        super().__init__(account, inputs)
        self.firsts: list[tuple[Item, int]] = []

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        self.account.spend(1 + len(self.firsts))
        if mask & 2 and self.firsts:
            last = (1, item, int(time))
            found.add(MadeMatches([matched_of([(0, first, begun), last], ()) for first, begun in self.firsts]))
        if mask & 1:
            self.firsts.append((item, int(time)))
        return len(self.firsts) > 0

    def clear(self) -> None:
        self.firsts = []

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        return len(self.firsts)

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        return iter([waiting_run((), [(0, first, begun)]) for first, begun in self.firsts])

    def statistics(self) -> dict[str, int]:
        return {}

    def check_invariants(self) -> None:
        assert all(one[1] <= other[1] for one, other in zip(self.firsts, self.firsts[1:]))

    def dump(self) -> Any:
        return [[first, begun] for first, begun in self.firsts]

    def load(self, data: Any) -> None:
        self.firsts = [(first, begun) for first, begun in data]


# --- its folder, machine_plan.py ------------------------------------------------------------------------------------


class PairsPlan(CompositePlan):
    """A composite subscription of two operands, one after the other."""

    __slots__ = ()
    executor = "pairs"
    version = 1
    figures = ()

    def again(self, automaton: Automaton) -> CompositePlan:
        return PairsPlan(automaton)

    def alike(self, options: Options) -> Hashable:
        return self.automaton

    def make(self, options: Options) -> Executor:
        return Pairs(self.inputs(), Account(options.work_max, options.work_earned))


# --- the planner's row ----------------------------------------------------------------------------------------------


def pairs_plan(wanted: Wanted) -> PairsPlan | str:
    tree = wanted.automaton.machines
    return PairsPlan(wanted.automaton) if tree is not None and len(tree.primitives) == 2 else "it has no two operands"


@pytest.fixture(autouse=True)
def _row(monkeypatch: pytest.MonkeyPatch) -> None:
    table = (ExecutorRow(PairsPlan, pairs_plan), *planner.TABLE)
    monkeypatch.setattr(planner, "TABLE", table)
    executors = tuple([row.plan for row in table if not row.plan.merged])
    monkeypatch.setattr(program, "EXECUTORS", executors)


@pytest.mark.parametrize("seed", range(3))
def test_the_toy_keeps_the_contract(seed: int) -> None:
    for _, law in executor_checks.check_executor("pairs", "ptopss", QUERY):
        law(random.Random(seed))


def test_it_finds_what_the_executor_behind_it_finds() -> None:
    history = executor_checks.events(random.Random(1))
    found = []
    for off in ((), ("pairs",)):
        engine = Engine(Options(executors_off=off))
        engine.add_stream("S", executor_checks.SCHEMA)
        engine.subscribe("q", "ptopss", QUERY.format(1))
        results = engine.publish("S", [time for time, _ in history], [row for _, row in history])
        found.append(sorted([(match.start, match.end) for match in results]))
        assert (engine.program.machines.registrations["q"].plan.executor == "pairs") == (not off)
    assert found[0] == found[1] != []
