"""The machine of register automata over events in any order: results come, and go again (AFA, 4.2).

Here: the contract of revising machines around the runs of automata that begin alike. Not here: whose runs these are
(together), runs and their repair (speculation), events in order (machine).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from mypy_extensions import i64

from ....automaton.arc_updates import ChangedArcs
from ....automaton.automaton import Automaton
from ....events.instant import FOREVER
from ....events.schema import Row
from ...matches.sources import Item, WaitingRun
from ...program.account import MATCH_UNITS, Account
from ...program.target import Outcome, Target
from ..revising import Reviser, Revision
from .constants import text_of
from .found import LifetimeMatches
from .together import RegistersTogether


@final
class SpeculativeReviser(Reviser):
    """The runs of its members."""

    def __init__(
        self, outcome: Outcome, within: int | None, work_max: int, work_earned: int, runs_max: int, room: int
    ) -> None:
        self.account = Account(work_max, work_earned, room)
        self.target = Target(outcome, None)
        self.together = RegistersTogether(self.account, within, work_max, work_earned, runs_max)

    @property
    def method(self) -> str:
        kept = "in blocks beside the events of each key, which late events and withdrawals repair"
        return self.together.described(kept)

    # --- members ------------------------------------------------------------------------------------------------

    def join(self, automaton: Automaton, number: int) -> int:
        return self.together.join(self.target, text_of(automaton), number).number

    def leave(self, number: int) -> None:
        self.together.leave(self.together.members[number])

    def begun(self) -> bool:
        return self.together.begun

    # --- events -------------------------------------------------------------------------------------------------

    def take(self, stream: i64, time: i64, number: i64, item: Item, row: Row) -> None:
        self.account.earn()
        self.together.take(stream, time, number, item, row)

    def retract(self, stream: i64, time: i64, number: i64, row: Row) -> None:
        self.account.earn()
        self.together.retract(stream, time, number, row)

    def punctuate(self, time: int) -> None:
        self.together.punctuate(time)

    def punctuate_key(self, key: Row, time: int) -> None:
        self.together.punctuate_key(key, time)

    def write(self, number: int, changed: ChangedArcs) -> None:
        before = self.together.work()
        self.together.write(self.together.members[number], changed)
        self.account.spend(1 + max(0, self.together.work() - before))  # runs that move to another group are not made

    def settled(self, number: int, time: int) -> Any:
        runs = self.together.settled(self.together.members[number], time)
        return None if runs is None else [runs, time - 1, self.together.contributions.dump(), 0]

    def settle(self) -> list[tuple[int, Revision]]:
        found: list[tuple[int, Revision]] = []
        for group in self.together.groups:
            if group.speculation.changes.count > 0:
                page, own = group.settle(self.together.contributions.known)
                for member, at in own:
                    revision: Revision = (page.changes.inserted(at), LifetimeMatches(page.of(member), [at]))
                    found.append((member.number, revision))
        self.account.spend(MATCH_UNITS * len(found))
        return found

    def keys(self) -> int:
        return self.together.keys()

    # --- inspection ---------------------------------------------------------------------------------------------

    def waiting_runs(self, number: int) -> Iterator[WaitingRun] | None:
        return self.together.waiting_runs(self.together.members[number], -FOREVER)

    def statistics(self) -> dict[str, int]:
        return {"speculative": 1, **self.together.statistics()}

    def check_invariants(self) -> None:
        self.together.check_invariants()

    def dump(self) -> Any:
        return [self.together.dump(), int(self.account.left), self.together.contributions.dump()]

    def load(self, data: Any) -> None:
        runs, self.account.left, known = data
        self.together.load(runs)
        self.together.contributions.load(known)
