"""Repetitions: patterns of SASE+ in which an operand takes one event after another, with runs that members share.

No constant of a member changes what a run does: it only decides whose matches the run has. So the runs are those of one
pattern without these constants (common_runs), once for each text that members want of them. An event is taken by the
runs of its text, and ends those of other texts that some member wants with this one as the last.

Here: which runs an event concerns. Hot. Not here: the runs of one text (repeating_runs), the constants of a line
(broker.automaton.analyses.kleene_template).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from ...matches.sources import Assigned
from .beginnings import BEFORE
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Integers, integers, put_integer
from .members import Members
from .repeating_members import EndText, EndTexts, RunText
from .repeating_runs import TextRuns
from .repeating_template import RepeatingTemplate


@final
class RepeatingCell(GroupCell):
    """The runs of a key, by the number of their text. `_newest`: the time of their last starts."""

    def __init__(self, template: RepeatingTemplate, members: Members) -> None:
        super().__init__(members)
        self.template = template
        template.refresh(members)
        self._texts: list[TextRuns | None] = []
        self._newest: Integers = integers()

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. As the runs do, and for each match O(log members) or one lookup; O(1) for each
        other text that members want before that of the event."""
        template = self.template
        template.refresh(self.members)
        only = template.only
        if only is not None:
            self._take_own(only.run, only, template.mask(row, time), row, time, event, out)
            return
        own = template.runs.get(template.run_text(row))
        text = template.end_text(row)
        others = template.ends.get(text)
        if own is None and others is None:
            return
        mask = template.mask(row, time)
        if own is not None:
            self._take_own(own, own.endings.get(text), mask, row, time, event, out)
        if others is not None and mask & template.pattern.ends != 0:
            self._end_others(own, others, mask & template.pattern.ends, row, time, event, out)

    def _take_own(
        self, own: RunText, ending: EndText | None, mask: i64, row: Row, time: i64, event: i64, out: MatchBlocks
    ) -> None:
        """Pass an event to the runs of its text. `ending`: the members that have this text at both ends."""
        template = self.template
        runs = self._runs_of(own)
        if ending is None or (len(template.last) > 0 and not ending.possible(template.reached)):
            mask &= ~template.pattern.ends
        runs.take(mask, row, time, self.position, self.place, self.item, event)
        if runs.runs.begun:
            self._newest[own.number] = time
        if runs.runs.count > 0 and ending is not None:
            runs.complete(ending, row, time, out)
        self._count_lost(runs)

    def _end_others(
        self, own: RunText | None, others: EndTexts, mask: i64, row: Row, time: i64, event: i64, out: MatchBlocks
    ) -> None:
        """Let the event end runs of other texts than its own. O(texts, and runs that it may end)."""
        template, texts, newest = self.template, self._texts, self._newest
        levels, numbers, known = others.levels, others.numbers, len(newest)
        oldest = time - template.pattern.window
        axis, reached = template.end_axis, template.reached
        level = reached[axis] if axis >= 0 else INFINITY
        several = len(template.last) > 1
        but: i64 = -1 if own is None else own.number
        place: i64
        for place in range(len(others.endings)):
            if not levels[place] <= level:
                continue
            number = numbers[place]
            if number == but or number >= known or newest[number] < oldest:
                continue
            ending, runs = others.endings[place], texts[number]
            if runs is None or (several and not ending.possible(reached)):
                continue
            if not runs.end_all(ending, time, out):
                runs.take(mask, row, time, self.position, self.place, self.item, event)
                if runs.runs.count > 0:
                    runs.complete(ending, row, time, out)
            self._count_lost(runs)

    def _count_lost(self, runs: TextRuns) -> None:
        if runs.runs.lost > 0:
            self.lost += runs.runs.lost
            runs.runs.lost = 0

    def _runs_of(self, run: RunText) -> TextRuns:
        """The runs of a text, none so far if it is new."""
        texts, number = self._texts, run.number
        while len(texts) <= number:
            self._newest = put_integer(self._newest, len(texts), BEFORE)
            texts.append(None)
        runs = texts[number]
        if runs is None:
            runs = texts[number] = TextRuns(self.template, run)
        return runs

    def forget(self, handle: int) -> None:
        gone = self.template.gone
        if 0 <= gone < len(self._texts):
            self._texts[gone] = None
            self._newest[gone] = BEFORE

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def _each(self) -> list[TextRuns]:
        return [runs for runs in self._texts if runs is not None]

    def quiet(self, time: i64) -> bool:
        return all(each.runs.settle(time, self.position) == 0 for each in self._each())

    def assigned(self, handle: int, point: list[float], since: int, time: i64) -> list[Assigned] | None:
        run = self.template.ending(handle).run
        runs = self._texts[run.number] if run.number < len(self._texts) else None
        return [] if runs is None else runs.assigned(point, since, time)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {"texts": [[each.text.text, each.dump()] for each in self._each()]}

    def load(self, dumped: dict[str, Any]) -> None:
        template = self.template
        template.refresh(self.members)
        for text, runs in dumped["texts"]:
            run = template.runs.get(text) or next(iter(template.runs.values()))
            own = self._runs_of(run)
            own.load(runs)
            self._newest[run.number] = own.newest()

    def check_invariants(self) -> None:
        self.members.check_invariants()
        self.template.check_invariants(self.members)
        for number, each in enumerate(self._texts):
            if each is not None:
                assert each.text.number == number
                assert self.template.runs[each.text.text] is each.text
                assert self._newest[number] >= each.newest()
                each.check_invariants()
