"""The machine of a register automaton over events in any order: results come, and go again (AFA, 4.2).

Here: the contract of revising machines around the runs of one automaton. Not here: runs and their repair (speculation),
events in order (machine).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....automaton.automaton import Automaton
from ....events.schema import Row
from ...program.account import MATCH_UNITS, Account
from ..matches import Item
from ..revising import Reviser, Revision
from .found import Contributions, LifetimeMatches
from .saving import dump, load
from .speculation import Speculation


@final
class SpeculativeReviser(Reviser):
    """The runs of one automaton."""

    def __init__(self, automaton: Automaton, account: Account, runs_max: int) -> None:
        self.account = account
        self.endless = automaton.within is None
        self.speculation = Speculation(automaton, runs_max)
        self.contributions = Contributions(automaton.within)

    @property
    def method(self) -> str:
        return "in blocks beside the events of each key, which late events and withdrawals repair"

    def take(self, stream: i64, time: i64, number: i64, item: Item, row: Row) -> None:
        speculation = self.speculation
        self.contributions.take(time, item)
        before = speculation.work()
        self.account.earn()
        speculation.take(stream, time, number, number, row)
        self.account.spend(1 + speculation.work() - before)

    def retract(self, stream: i64, time: i64, number: i64, row: Row) -> None:
        before = self.speculation.work()
        self.account.earn()
        self.speculation.retract(stream, time, number, row)
        self.account.spend(1 + self.speculation.work() - before)

    def punctuate(self, time: int) -> None:
        self.speculation.punctuate(time)
        self.contributions.clean(time)

    def punctuate_key(self, key: Row, time: int) -> None:
        self.speculation.punctuate_key(key, time)

    def write(self, automaton: Automaton, begin: int, end: int) -> None:
        before = self.speculation.work()
        self.speculation.write(automaton.arcs, begin, end)
        self.account.spend(1 + self.speculation.work() - before)

    def settle(self) -> list[Revision]:
        changes = list(self.speculation.settle())
        if len(changes) == 0:
            return []
        self.account.spend(MATCH_UNITS * len(changes))
        contributions, endless = self.contributions, self.endless
        revisions: list[Revision] = []
        for change in changes:
            source = LifetimeMatches([change], [contributions.of(change.node)], endless)
            revisions.append((change.inserted, source))
        return revisions

    def keys(self) -> int:
        return len(self.speculation.timelines)

    def statistics(self) -> dict[str, int]:
        return {"speculative": 1, **self.speculation.statistics()}

    def check_invariants(self) -> None:
        self.speculation.check_invariants()

    def dump(self) -> Any:
        return [dump(self.speculation), int(self.account.left), self.contributions.dump()]

    def load(self, data: Any) -> None:
        runs, self.account.left, known = data
        load(self.speculation, runs)
        self.speculation.settle()  # what is found again was told
        self.contributions.load(known)
