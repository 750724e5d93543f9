"""The runs of a group of repetitions for one key and one text, with the values of their first events.

A match is asked once whose it is. Its values are those of its first event, and those that the end of an operand and the
last event show. A few members each look for theirs among all matches of the event.

Here: runs, and writing their matches. Hot. Not here: runs without members (kleene, through common_runs), members
(repeating_members), the texts of an event (repeating).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from ...matches.sources import Assigned, Item
from .beginnings import BEFORE
from .blocks import MatchBlocks
from .columns import INFINITY, Floats, filled, floats, floats_from, put
from .coordinates import narrowed, number_of
from .repeating_members import EndText, RunText
from .repeating_template import RepeatingTemplate
from .starts import Starts

SWEEP_MIN: Final = 128


@final
class TextRuns:
    """`starts` has the values of each first event. `first`: the number of the first one there.

    `_trusted`: the number of the first start since the members last changed.
    """

    def __init__(self, template: RepeatingTemplate, text: RunText) -> None:
        self.template = template
        self.text = text
        self.runs = template.pattern.runs()
        self.starts = Starts(template.d)
        self.first: i64 = 0
        self._trusted: i64 = 0
        self._version = template.version
        self._kept: i64 = 0
        self._registers: Floats = floats()
        self._x: Floats = filled(template.d, INFINITY)

    def take(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item, event: i64) -> None:
        """Process an event which may be that in a match, but for the constants of a first event."""
        template, starts, runs = self.template, self.starts, self.runs
        self._renew()
        if mask & template.pattern.begins != 0 and not self._begins(row, time):
            mask &= ~template.pattern.begins
        runs.take(mask, row, time, position, place, item)
        if runs.begun:
            starts.keep(time, event)
        if starts.count > 2 * self._kept + SWEEP_MIN:
            self._sweep()

    def _renew(self) -> None:
        if self._version != self.template.version:
            self._version, self._trusted = self.template.version, self.first + self.starts.count

    def end_all(self, ending: EndText, time: i64, out: MatchBlocks) -> bool:
        """Let an event that is not of the text, but may be the last one for these members, end all runs, if it ends
        them whatever it is."""
        if ending.members is not None or self.template.measured or not self.runs.end(time):
            return False
        self._renew()
        block, total = out.upto, out.total
        self._complete_each(ending, True, out)
        self._close(block, total, out)
        return True

    def _begins(self, row: Row, time: i64) -> bool:
        """Whether an event may be the first one for some member, with its values as those of the next start."""
        starts, bounds, least = self.starts, self.template.begin.bounds, self.text.least
        at = starts.open()
        values = starts.values
        if len(bounds) > 0 and not narrowed(bounds, row, time, time, values, at, values, at):
            return False
        d = self.template.d
        j: i64 = 0
        while j < d and least[j] <= values[at + j]:
            j += 1
        return j == d

    def complete(self, ending: EndText, row: Row, time: i64, out: MatchBlocks) -> None:
        """Find the members with a text that have the matches which the event completes."""
        template, runs = self.template, self.runs
        block, total = out.upto, out.total
        if ending.members is None and not runs.rows and (template.single or not template.measured):
            self._complete_each(ending, False, out)
        else:
            self._complete_all(ending, row, time, out)
        self._close(block, total, out)

    def _close(self, block: i64, total: i64, out: MatchBlocks) -> None:
        """Give the blocks from `block` on, before which there are so many matches, their page."""
        if out.upto > block:
            out.part(self.runs.matches, self.runs.upto, block, total)

    def _complete_all(self, ending: EndText, row: Row, time: i64, out: MatchBlocks) -> None:
        """For each match find its members."""
        template, starts, runs = self.template, self.starts, self.runs
        d, x, reached = template.d, self._x, template.reached
        i: i64
        j: i64
        for i in range(runs.count):
            start = runs.starts[i] - self.first
            for j in range(d):
                x[j] = min(starts.values[start * d + j], reached[j])
            if not template.plain and not self._narrowed(i, row, time):
                continue
            path = out.paths_upto
            begun = out.members_upto
            if ending.find(x, starts.events[start], out) > 0:
                out.add_number(runs.ended[i])
                out.close(begun, path, 1)

    def _complete_each(self, ending: EndText, whole: bool, out: MatchBlocks) -> None:
        """The same for a few members whose constants bound first and last events only. For an only one the runs have
        reported what its constants allow, but for where they began. `whole`: the event has ended all runs."""
        template, starts, runs = self.template, self.starts, self.runs
        d, reached, axes = template.d, template.reached, template.begin_axes
        values, points, count, low, begun = starts.values, ending.points, runs.count, runs.low, runs.starts
        if count == 0:
            return
        oldest = low if whole else begun[0]
        several: i64 = len(axes)
        asks = several > 0 and not (template.single and oldest >= self._trusted)
        axis: i64 = axes[0] if several == 1 else 0
        shift = self.first
        member: i64
        i: i64
        j: i64
        for member in range(ending.count):
            at = member * d
            j = 0
            while j < d and points[at + j] <= reached[j]:
                j += 1
            if j < d:
                continue
            since = ending.sinces[member]
            young = starts.events[oldest - shift] < since
            path = out.paths_upto
            paths = out.room_for_paths(count)
            place = path
            level = points[at + axis]
            run = low
            i = 0
            while i < count:
                if not whole:
                    run = begun[i]
                i += 1
                base = (run - shift) * d
                if (
                    not (asks and not level <= values[base + axis])
                    and not (asks and several > 1 and not self._begun(points, at, base))
                    and not (young and starts.events[run - shift] < since)
                ):
                    paths[place] = run
                    place += 1
                run += 1
            if place > path:
                out.paths_upto = place
                handle = out.members_upto
                out.add_member(ending.handles[member])
                out.close_one(handle, path, place - path, 1)

    def _begun(self, points: Floats, at: i64, base: i64) -> bool:
        """Whether a first event satisfies the constants of a member."""
        axes, values = self.template.begin_axes, self.starts.values
        count: i64 = len(axes)
        j: i64 = 0
        while j < count and points[at + axes[j]] <= values[base + axes[j]]:
            j += 1
        return j == count

    def newest(self) -> i64:
        """The time of the last start."""
        starts = self.starts
        return starts.times[starts.count - 1] if starts.count > 0 else BEFORE

    def _narrowed(self, i: i64, row: Row, time: i64) -> bool:
        """Lower the values to those of a whole match."""
        template, runs, x = self.template, self.runs, self._x
        if not runs.rows:
            width: i64 = len(template.whole)
            return width == 0 or narrowed(template.whole, row, time, time, runs.registers, i * width, x, 0)
        compared = runs.values[i]
        at: i64
        for at in range(len(compared)):
            self._registers = put(self._registers, at, number_of(compared[at]))
        return narrowed(template.compared, compared, time, time, self._registers, 0, x, 0)

    def _sweep(self) -> None:
        """Drop the starts whose runs are over, when they have doubled."""
        starts = self.starts
        first = self.runs.oldest()
        head = first - self.first
        starts.retain([at >= head for at in range(starts.count)])
        self.first, self._kept = first, starts.count

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def assigned(self, point: list[float], since: int, time: i64) -> list[Assigned]:
        """The runs of a member with that point."""
        starts, d = self.starts, self.template.d
        found: list[Assigned] = []
        for number, events, compared in self.runs.live(time):
            at = number - int(self.first)
            x = floats_from([starts.values[at * d + j] for j in range(d)])
            registers = floats_from([number_of(value) for value in compared])
            for bound, operand in zip(self.template.compared, self.template.asked):
                if operand <= events[-1][0] and not narrowed([bound], compared, time, time, registers, 0, x, 0):
                    break
            else:
                if starts.events[at] >= since and all(point[j] <= x[j] for j in range(d)):
                    found.append(events)
        return found

    def dump(self) -> dict[str, Any]:
        return {"first": int(self.first), "starts": self.starts.dump(), "runs": self.runs.dump()}

    def load(self, dumped: dict[str, Any]) -> None:
        self.first = dumped["first"]
        starts = self.starts
        starts.load(dumped["starts"])
        self._trusted = self.first + starts.count
        self._kept = starts.count
        self.runs.load(dumped["runs"])

    def check_invariants(self) -> None:
        self.starts.check_invariants()
        self.runs.check_invariants()
