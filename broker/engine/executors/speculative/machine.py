"""The machine of a register automaton over events that come in order: each result is final when it is found.

Here: the contract of executors around the runs of one automaton. Not here: runs and their repair (speculation), events
in any order (reviser).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.normal_form import ALWAYS
from ....automaton.automaton import Automaton
from ....events.instant import FOREVER
from ....events.schema import Row
from ...program.account import MATCH_UNITS, Account
from ..completions import Completions
from ..contract import Executor, Input
from ..matches import Item
from .found import Contributions, LifetimeMatches
from .saving import dump, load
from .speculation import Speculation

CLEAN_MIN: Final = 64  # events between two drops of events that nothing needs any more


@final
class RegisterMachine(Executor):
    """The runs of one automaton. `seen`: the time of the newest event."""

    def __init__(self, automaton: Automaton, account: Account, runs_max: int) -> None:
        super().__init__(account, inputs_of(automaton))
        self.automaton = automaton
        self.runs_max = runs_max
        self.endless = automaton.within is None
        self.speculation = Speculation(automaton, runs_max)
        self.contributions = Contributions(automaton.within)
        self.seen: i64 = -FOREVER
        self._until_clean: i64 = CLEAN_MIN

    @property
    def method(self) -> str:
        return "in blocks beside the newest event of each key"

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, part: Row, item: Item, found: Completions
    ) -> bool:
        stream: i64 = int(mask).bit_length() - 1
        speculation = self.speculation
        number = self.contributions.take(time, item)
        before = speculation.work()
        self.taken = True
        self.seen = time
        speculation.take(stream, time, position, number, row)
        self.account.spend(1 + speculation.work() - before)
        changes = list(speculation.settle())
        if len(changes) > 0:
            self.account.spend(MATCH_UNITS * len(changes))
            ids = [self.contributions.of(change.node) for change in changes]
            found.add(LifetimeMatches(changes, ids, self.endless))
        self._until_clean -= 1
        if self._until_clean < 0:
            self._clean(time)
        return True

    def _clean(self, time: i64) -> None:
        """Forget what only late events would need. O(keys with events), at most once in as many events."""
        self.speculation.punctuate(int(time))
        self.contributions.clean(int(time))
        self._until_clean = CLEAN_MIN + len(self.speculation.timelines)

    def write(self, automaton: Automaton, begin: int, end: int) -> None:
        """Replace the arcs, which differ for the events of [begin, end), all of them still to come."""
        self.automaton = automaton
        self.speculation.write(automaton.arcs, begin, end)

    def clear(self) -> None:
        self.speculation = Speculation(self.automaton, self.runs_max)
        self.contributions = Contributions(self.automaton.within)

    def empty(self, time: i64, position: i64, places: dict[Any, int]) -> bool:
        self._clean(time)
        return len(self.speculation.timelines) == 0

    def keys(self) -> int:
        return len(self.speculation.timelines)

    def partitions(self) -> set[tuple[Any, ...]]:
        return set()  # their events are not counted

    def statistics(self) -> dict[str, int]:
        return {"speculative": 1, **self.speculation.statistics()}

    def check_invariants(self) -> None:
        self.speculation.check_invariants()

    def dump(self) -> Any:
        return [dump(self.speculation), int(self.seen), self.contributions.dump(), int(self._until_clean)]

    def load(self, data: Any) -> None:
        runs, self.seen, known, self._until_clean = data
        load(self.speculation, runs)
        self.speculation.settle()  # what is found again was told
        self.contributions.load(known)


def inputs_of(automaton: Automaton) -> list[Input]:
    """Every event of its sources, each of which has a bit of its own."""
    return [Input(source.stream, ALWAYS) for source in automaton.sources]
