"""Next matches of two steps and more, of one key, or of events that are found by a text each, as in `a.name = 'X' AND
b.name = 'Y'`; something may be forbidden between the steps.

Members with any texts are one group, as there may be as many combinations as members. Starts wait with the text that
begins them, for all members that begin so; an event finds the members whose second condition it satisfies among those
with its text. Each moves with the starts of its first text that it dominates, from the last event on that has satisfied
its second condition (last_met): to a match, or as an item (moving_items) to the heap of its third text, and so on.
Where a step has no text, any event is like one with it; one key has no texts at all. Events that a negation forbids
between two steps lie with their texts, too: the newest of them that concerns a member has ended what had waited for it
before.

Nothing is stored for a run of two steps: for a member the number of its last such event, and the events that begin
something. An event costs the members whose condition it satisfies, whether or not one of their runs waits; where one
number decides that, only those that the last such event has not met, or that may have begun since. Over epochs an event
sees the runs that have begun before it has, and it ends these with its epoch. Otherwise every event is one.

Here: all texts of a group, or of a partition. Hot. Not here: its members (next_match_template), every combination
(any_match), matches that wait because something is forbidden behind them (late_pairs).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .beginnings import BEFORE, Beginning
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, filled_integers
from .last_met import LastMet
from .members import INFINITE, Members
from .moving_items import MovingItem, heaped, popped, pushed, restored
from .next_match_template import NextMatchTemplate
from .starts import Starts
from .text_members import ANY, Text

SWEEP_MIN: Final = 128
BOUNDED_MAX: Final = 256  # starts of a text up to which their greatest values are looked up


@final
class NextMatchCell(GroupCell):
    """The waiting runs of a group, which lie with the texts that begin them. `forbade`: the last event that may have
    ended something. `now`: over epochs the last one. Since when runs wait is then a time, and otherwise the number of
    an event."""

    def __init__(self, template: NextMatchTemplate, members: Members) -> None:
        super().__init__(members)
        self.template = template
        self.forbade: i64 = -1
        self.now: i64 = BEFORE
        self.logs = template.logs.apart() if template.parted else template.logs
        self._met = None if template.parted else LastMet()
        self._heaps: list[dict[Text, list[MovingItem]]] = [{} for _ in template.further]
        self._items: i64 = 0  # in all heaps
        self._kept: i64 = 0  # of these after the last sweep
        self._serial: i64 = 0
        # What the last event reached that satisfied a second condition, so all that ask for no more; and its number.
        self._level = -INFINITY
        self._since: i64 = -1
        for each in self.logs.each():
            each.clear()

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event. O(members with its text whose second condition it satisfies, their starts), and O(log
        items) for each item that moves."""
        template, logs = self.template, self.logs
        step: i64 = len(template.further) - 1
        while step >= 0:  # from the end, so that an item that moves now waits for the next event
            attribute = template.attributes[step + 2]
            heap = self._heaps[step].get(row[attribute] if attribute >= 0 else ANY)
            if heap is not None and len(heap) > 0:
                self._go_on(step, heap, row, time, event, out)
            step -= 1
        if self._met is not None and (time > self.now or not template.epochs):
            self.now = time
            self._met.epoch += 1
        beginning = logs.begins.only
        if beginning is not None:
            if beginning.waits(time):
                self._meet(self.members, beginning, row, time, event, out)
        else:
            text = row[template.second] if template.second >= 0 else ANY
            members = template.ends.get(text)
            if members is not None:  # all begin with their second text, or else not
                self._meet(members, logs.begins.by_text[text] if template.unlike == 0 else None, row, time, event, out)
            beginning = logs.begins.by_text.get(row[template.first] if template.first >= 0 else ANY)
        if beginning is not None and beginning.begin(row, time, event):
            self.noted = event
            logs.begins.note(beginning)
            if beginning.grown():
                if template.window >= 0:
                    beginning.drop(beginning.first_in_time(time))
                else:
                    beginning.retain(self._wanted(beginning.starts))
        if len(template.kills) > 0:
            self._forbid(row, time, event)

    def _forbid(self, row: Row, time: i64, event: i64) -> None:
        """Note what the event kills. O(negations)."""
        template = self.template
        for kill in range(len(template.kills)):
            attribute = template.attributes[template.steps + kill]
            killed = self.logs.killing[kill].by_text.get(row[attribute] if attribute >= 0 else ANY)
            if killed is not None and killed.begin(row, time, event):
                self.logs.killing[kill].note(killed)
                self.forbade = event
                if killed.grown():
                    killed.drop(self._needed(killed, time))

    def _meet(
        self, members: Members, beginning: Beginning | None, row: Row, time: i64, event: i64, out: MatchBlocks
    ) -> None:
        """Write the matches of the members whose second condition the event satisfies, and note that it does.
        `beginning`: with what they all begin, if it is one text."""
        template, x = self.template, self.template.x
        j: i64
        for j in range(template.d):
            x[j] = INFINITY
        end = template.end
        if not end.narrows(row, time, time, x, 0, x, 0) or not members.possible(x, 0):
            return
        first: i64 = 0
        upto: i64 = 0
        reached = x[0]
        if beginning is not None:
            starts = beginning.starts
            upto = self._begun_before(starts)
            first = beginning.passed(time)
            if template.single and reached <= self._level:
                first = starts.since_event(self._since, first, upto)
            if first >= upto:
                return
            if template.window >= 0:
                x[template.window] = float(starts.times[upto - 1] - time)
            if upto - first <= BOUNDED_MAX:
                beginning.lower(x, template.top, first, upto)
            if not members.possible(x, 0):
                return
        if not end.admits(row):
            return
        goes_on = len(template.further) > 0
        if goes_on:
            out = template.moved
            out.clear()
        if beginning is not None and template.single:
            found = self._found(beginning, reached, first, upto, event, out)
        else:
            found = members.find(x, 0, INFINITE, out)
        if found > 0:
            longest = members.root[template.window] if template.window >= 0 else -INFINITY
            self._match(out.members_upto - found, longest, upto, time, event, out)
        if self._items > 2 * self._kept + SWEEP_MIN:
            self._sweep(time)

    def _found(
        self, beginning: Beginning, reached: float, first: i64, upto: i64, event: i64, out: MatchBlocks
    ) -> i64:  # fmt: skip
        """Write the members whose second condition the event satisfies, as far as they may wait with the starts from
        `first` to `upto`; returns their number. A member whose condition the last such event satisfied, too, waits only
        with the starts since then."""
        template, members, x, level = self.template, self.members, self.template.x, self._level
        found: i64 = 0
        if reached > level:
            found = members.find(x, 0, INFINITE, out, level)
            first = beginning.starts.since_event(self._since, first, upto)
            x[0] = min(x[0], level)
            if first < upto:
                beginning.lower(x, template.top, first, upto)
        if first < upto:
            found += members.find(x, 0, INFINITE, out)
        self._level, self._since = reached, event
        return found

    def _begun_before(self, starts: Starts) -> i64:
        """How many starts the event sees. O(1), or O(log) over epochs."""
        upto = starts.count
        if self.template.epochs and upto > 0 and starts.times[upto - 1] >= self.began:
            return starts.since_time(self.began, 0.0, 0, upto)
        return upto

    def _match(self, begun: i64, longest: float, seen: i64, time: i64, event: i64, out: MatchBlocks) -> None:
        """Let the members from a place on, whose second condition an event satisfies, go on with their starts. `seen`:
        how many starts the event sees, if all have these; `longest`: their least coordinate of WITHIN."""
        template, logs, met = self.template, self.logs, self._met
        known, only, d, window = logs.begins, logs.begins.only, template.d, template.window
        numbers, times, goes_on, timed = known.numbers, known.times, len(template.further) > 0, template.epochs
        points, sinces, between = template.known.points, template.known.since, logs.forbidding[1]
        turn = self.began if timed else event
        place: i64
        j: i64
        for place in range(begun, out.members_upto):
            handle = out.members[place]
            at = handle * d
            beginning = only
            if beginning is None:
                ago = float(times[numbers[handle]] - time)
                if ago < longest or ago < points[at + window]:
                    continue  # nothing has waited for it, and what begins later does not ask what came before
                beginning = known.of(handle)
            since = sinces[handle] if met is None else met.meets(handle, turn)
            starts = beginning.starts
            upto = starts.count if only is None else seen
            if upto == 0 or (starts.times[upto - 1] if timed else starts.events[upto - 1]) < since:
                continue
            first = starts.begun_since(points, at, since, timed, starts.head, upto)
            if first == upto:
                continue
            if len(between) > 0:
                since = starts.events[first]
                for killers in between:
                    since = killers.of(handle).starts.newest_for(points, at, since, False)
                first = starts.since_event(since, first, upto)
            path = out.paths_upto
            count = starts.walk(points, at, sinces[handle], first, upto, time, out)
            if count == 0:
                continue
            if not goes_on:
                out.close_one(place, path, count, 1)
                continue
            pairs = filled_integers(2 * count, event)
            for j in range(count):
                pairs[2 * j] = out.paths[path + j]
            begun_at = starts.times_of(out.paths, path, count)
            item = MovingItem(handle, points[at + window], template.level(0, handle), self._serial, pairs, begun_at)
            self._serial += 1
            self._put(0, item)
            self.noted = event

    # --- behind the second step ---------------------------------------------------------------------------------

    def _put(self, step: i64, item: MovingItem) -> None:
        """Let an item wait for its text of a step. O(log items)."""
        text = self.template.text(step + 2, item.handle)
        heap = self._heaps[step].get(text)
        if heap is None:
            heap = self._heaps[step][text] = []
        pushed(heap, item)
        self._items += 1

    def _go_on(self, step: i64, heap: list[MovingItem], row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Move the items that the event reaches."""
        template = self.template
        reached, forbids = template.reached(step, row, time), len(self.logs.forbidding[step + 2]) > 0
        while len(heap) > 0 and heap[0].level <= reached:
            item = popped(heap)
            self._items -= 1
            if forbids and template.forbidden(self.logs, step + 2, item.handle, item.newest(), False):
                continue
            item.expire(time)
            if item.count == 0:
                continue
            if step + 1 < len(template.further):
                item.take(event)
                item.level = template.level(step + 1, item.handle)
                self._put(step + 1, item)
                self.noted = event
            else:
                item.tell(out)

    def _retain(self, time: i64, but: int) -> None:
        """Drop items that are out of their windows, and those of a member. O(items)."""
        self._items = 0
        for heaps in self._heaps:
            for text, heap in list(heaps.items()):
                kept = [item for item in heap if item.handle != but and not item.outlived(time)]
                self._items += len(kept)
                if kept:
                    heaps[text] = heaped(kept)
                else:
                    del heaps[text]

    def _sweep(self, time: i64) -> None:
        """Drop items that are out of their windows, when they have doubled."""
        self._retain(time, -1)
        self._kept = self._items

    def _each(self) -> list[tuple[int, MovingItem]]:
        """All items with their steps."""
        return [
            (step, item) for step, heaps in enumerate(self._heaps) for heap in heaps.values() for item in heap
        ]  # fmt: skip

    # --- keeping ------------------------------------------------------------------------------------------------

    def _wanted(self, starts: Starts) -> list[bool]:
        """Which starts a member may still wait with, as far as the least corner of those says that have met nothing
        since. O(starts + members log)."""
        d, low, count = starts.d, starts.low, starts.count
        waiting = [(self._first(starts, handle, since, False), point) for handle, point, since in self.members.each()]
        waiting.sort(key=_by_start)
        corner = [INFINITY] * int(self.template.d)
        wanted: list[bool] = []
        upto = 0
        for at in range(count):
            while upto < len(waiting) and waiting[upto][0] <= at:
                corner = list(map(min, corner, waiting[upto][1]))
                upto += 1
            wanted.append(all(corner[low + j] <= starts.values[at * d + j] for j in range(d)))
        return wanted

    def _needed(self, killed: Beginning, time: i64) -> i64:
        """The first of some events that kill which may still do so. O(log)."""
        if self.template.window >= 0:
            return killed.first_in_time(time)
        oldest = self.logs.begins.oldest(self.forbade)
        return killed.starts.since_event(oldest, 0, killed.starts.count)

    def _first(self, starts: Starts, handle: int, since: int, ended: bool) -> i64:
        """The first start that a member may wait with, from the event `since` on. `ended`: whether the current epoch
        has ended what it has met. O(log), and blocks of what kills."""
        template, count = self.template, starts.count
        first = starts.since_event(since, 0, count)
        met: i64 = BEFORE if self._met is None else self._met.since(handle, ended)
        if met > BEFORE:
            timed = template.epochs
            first = starts.since_time(met, 0.0, first, count) if timed else starts.since_event(met, first, count)
        if first < count:
            killed = starts.events[first]
            for killers in self.logs.forbidding[1]:
                killed = killers.of(handle).starts.newest_for(template.known.points, handle * template.d, killed, False)
            first = starts.since_event(killed, first, count)
        return first

    def close_epoch(self) -> None:
        self.now = BEFORE

    def forget(self, handle: int) -> None:
        """O(items)."""
        if self._met is not None:
            self._met.forget(handle)
        if self._items > 0:
            self._retain(BEFORE, handle)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        if self._items > 0:
            self._sweep(time)
        return self._items == 0 and not self.logs.begins.waits(time)

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        template, starts = self.template, self.logs.begins.of(handle).starts
        first = self._first(starts, handle, since, True)
        found = starts.waiting(point, since, first, starts.count, time)
        for step, item in self._each():
            if item.handle == handle:
                if not template.forbidden(self.logs, step + 2, handle, item.newest(), False):
                    found += item.live(time)
        return found

    def oldest(self, event: i64) -> i64:
        event = self.logs.begins.oldest(event)
        for _, item in self._each():
            event = item.oldest(event)
        return event

    def used(self, events: set[int]) -> None:
        self.logs.begins.used(events)
        for _, item in self._each():
            item.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        items = [[step, *item.dump()] for step, item in self._each()]
        met = None if self._met is None else self._met.dump()
        return {
            "met": met, "logs": [log.dump() for log in self.logs.each()], "items": items, "serial": int(self._serial),
            "now": int(self.now), "level": self._level, "since": int(self._since),
        }  # fmt: skip

    def load(self, dumped: dict[str, Any]) -> None:
        self.now, self._level, self._since = dumped["now"], dumped["level"], dumped["since"]
        if self._met is not None:
            self._met.load(list(dumped["met"]))
        for log, saved in zip(self.logs.each(), dumped["logs"]):
            log.load(saved)
        self._serial = dumped["serial"]
        for step, *item in dumped["items"]:
            self._put(step, restored(item))

    def check_invariants(self) -> None:
        template = self.template
        assert len(self._each()) == self._items
        assert template.whole or sum(int(each.count) for each in template.ends.values()) == self.members.count
        for members in template.ends.values():
            members.check_invariants()
        for log in self.logs.each():
            log.check_invariants(self.members)


def _by_start(waiting: tuple[i64, list[float]]) -> i64:
    return waiting[0]
