"""The machine of register automata over events that come in order: each result is final when it is found.

Here: the contract of executors around the runs of automata that begin alike. Not here: whose runs these are (together),
runs and their repair (speculation), events in any order (reviser).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast, final

from mypy_extensions import i64

from ....algebra.normal_form import ALWAYS
from ....automaton.arc_updates import ChangedArcs
from ....automaton.automaton import Automaton
from ....events.instant import FOREVER
from ....events.schema import Row
from ...matches.completions import HEADER, Audience, Completions
from ...matches.sources import Item, WaitingRun
from ...program.account import MATCH_UNITS, Account
from ...program.target import Target
from ..contract import EventExecutor, Input, Member
from .constants import RegisterText
from .found import LifetimeMatches, RegistersAudience
from .owners import RegisterMember
from .together import RegistersTogether

CLEAN_MIN: Final = 64  # events between two drops of events that nothing needs any more


@final
class RegisterMachine(EventExecutor):
    """The runs of automata that begin alike. `seen`: the time of the newest event."""

    def __init__(self, automaton: Automaton, work_max: int, work_earned: int, runs_max: int, room: int) -> None:
        super().__init__(Account(work_max, work_earned, room), inputs_of(automaton))
        self.together = RegistersTogether(self.account, automaton.within, work_max, work_earned, runs_max)
        self.seen: i64 = -FOREVER
        self._until_clean: i64 = CLEAN_MIN

    @property
    def method(self) -> str:
        return self.together.described("in blocks beside the newest event of each key")

    # --- members ------------------------------------------------------------------------------------------------

    def join(self, target: Target, text: RegisterText, number: int) -> RegisterMember:
        """Add a subscription; `number`: -1 for the next one."""
        return self.together.join(target, text, number)

    def leave(self, member: RegisterMember) -> None:
        self.together.leave(member)

    def audience(self) -> RegistersAudience:
        return RegistersAudience(dict(self.together.members))

    # --- events -------------------------------------------------------------------------------------------------

    def take(
        self, mask: i64, row: Row, time: i64, position: i64, place: i64, stream: i64, item: Item, found: Completions
    ) -> bool:
        source: i64 = int(mask).bit_length() - 1
        self.seen = time
        self.together.take(source, time, position, item, row)
        if self.together.found() > 0:
            self._report(found)
        self._until_clean -= 1
        if self._until_clean < 0:
            self._clean(time)
        return True

    def _report(self, found: Completions) -> None:
        """Report the results of an event to those whose they are, as places in columns."""
        groups = self.together.groups
        known = self.together.contributions.known
        if len(groups) == 1:
            group = groups[0]
            page, first, upto = group.show(known)
            amount = group.amount(page, first, upto)
            self.account.spend(MATCH_UNITS * amount)
            if amount > 0:
                numbers = found.room(2)
                at = found.upto + HEADER
                numbers[at], numbers[at + 1] = first, upto
                found.close(page, 0, 0, 2, amount)
            return
        parts: list[tuple[RegisterMember, LifetimeMatches]] = []
        for group in groups:
            page, first, upto = group.show(known)
            parts += page.parts(first, upto, self.together.members, group.gone)
        self.account.spend(MATCH_UNITS * sum([len(own.places) for _, own in parts]))
        for member, own in sorted(parts, key=_number):
            found.serve(Audience([member.target], False))
            found.add(own)

    def _clean(self, time: i64) -> None:
        """Forget what only late events would need. O(keys with events), at most once in as many events."""
        self.together.punctuate(int(time))
        self._until_clean = CLEAN_MIN + self.together.keys()

    def write(self, member: RegisterMember, changed: ChangedArcs) -> None:
        """Replace the arcs of a member; they differ for events that are still to come."""
        self.together.write(member, changed)

    def clear(self) -> None:
        self.together.clear()

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        self._clean(time)
        return self.together.keys()

    def waiting_runs(
        self, member: Member, time: i64, position: i64, places: dict[Any, int]
    ) -> Iterator[WaitingRun] | None:
        return self.together.waiting_runs(cast(RegisterMember, member), time)

    def statistics(self) -> dict[str, int]:
        return {"speculative": 1, **self.together.statistics()}

    def check_invariants(self) -> None:
        self.together.check_invariants()

    def dump(self) -> Any:
        return [self.together.dump(), int(self.seen), self.together.contributions.dump(), int(self._until_clean)]

    def load(self, data: Any) -> None:
        runs, self.seen, known, self._until_clean = data
        self.together.load(runs)
        self.together.contributions.load(known)


def inputs_of(automaton: Automaton) -> list[Input]:
    """Every event of its sources, each of which has a bit of its own."""
    return [Input(source.stream, ALWAYS) for source in automaton.sources]


def _number(part: tuple[RegisterMember, LifetimeMatches]) -> int:
    return part[0].number
