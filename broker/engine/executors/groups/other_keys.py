"""Other keys at other steps: next matches of events that are found by a text each, `a.name = 'X' AND b.name = 'Y'`.

Members with any texts are one group, as there may be as many combinations as members. Starts wait with the text that
begins them, for all members that begin so; an event finds the members whose second condition it satisfies among those
with its text. Each moves with the starts of its first text that it dominates, from the last event on that has satisfied
its second condition (last_met): to a match, or as an item (moving_items) to the heap of its third text, and so on.
Where a step has no text, any event is like one with it. Events that a negation forbids between two steps lie with their
texts, too: the newest of them that concerns a member has ended what had waited for it before. All may have one text,
where more is forbidden than the cells of one key know of. Every event is an epoch.

Here: all texts of a group. Hot. Not here: its members (other_keys_template), one key (next_match, items), every
combination (any_texts), pairs that wait because something is forbidden behind them (late_texts).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .beginnings import ANY, BEFORE, Beginning, Text
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, floats_from
from .last_met import LastMet
from .members import INFINITE, Members
from .moving_items import MovingItem, heaped, popped, pushed, restored
from .other_keys_template import OtherKeysTemplate

SWEEP_MIN: Final = 128
BOUNDED_MAX: Final = 256  # starts of a text up to which their greatest values are looked up


@final
class OtherKeysCell(GroupCell):
    """The waiting runs of a group, which lie with the texts that begin them. `forbade`: the last event that may have
    ended something."""

    def __init__(self, template: OtherKeysTemplate, members: Members) -> None:
        super().__init__(members)
        self.template = template
        self.forbade: i64 = -1
        self._met = LastMet()
        self._heaps: list[dict[Text, list[MovingItem]]] = [{} for _ in template.further]
        self._items: i64 = 0  # in all heaps
        self._kept: i64 = 0  # of these after the last sweep
        self._serial: i64 = 0
        for each in template.each():
            each.clear()
        template.beginnings.refresh()

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event. O(members with its text whose second condition it satisfies, their starts), and O(log
        items) for each item that moves."""
        template = self.template
        step: i64 = len(template.further) - 1
        while step >= 0:  # from the end, so that an item that moves now waits for the next event
            attribute = template.attributes[step + 2]
            heap = self._heaps[step].get(row[attribute] if attribute >= 0 else ANY)
            if heap is not None and len(heap) > 0:
                self._go_on(step, heap, row, time, event, out)
            step -= 1
        text = row[template.second] if template.second >= 0 else ANY
        members = template.ends.get(text)
        if members is not None:
            self._meet(members, text, row, time, event, out)
        beginning = template.begins.get(row[template.first] if template.first >= 0 else ANY)
        if beginning is not None and beginning.begin(template.begin, row, time, event):
            self.noted = event
            template.beginnings.note(beginning)
            if beginning.grown():
                beginning.drop(beginning.first_in_time(time))
        if len(template.kills) > 0:
            self._forbid(row, time, event)

    def _forbid(self, row: Row, time: i64, event: i64) -> None:
        """Note what the event kills. O(negations)."""
        template = self.template
        for kill, clause in enumerate(template.kills):
            attribute = template.attributes[len(template.further) + 2 + kill]
            killed = template.killing[kill].get(row[attribute] if attribute >= 0 else ANY)
            if killed is not None and killed.begin(clause, row, time, event):
                self.forbade = event
                if killed.grown():
                    killed.drop(killed.first_in_time(time))

    def _meet(self, members: Members, text: Text, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Write the matches of the members whose second condition the event satisfies, and note that it does."""
        template, x, met = self.template, self.template.x, self._met
        d = template.d
        j: i64
        for j in range(d):
            x[j] = INFINITY
        end = template.end
        if not end.narrows(row, time, time, x, 0, x, 0) or not members.possible(x, 0) or not end.admits(row):
            return
        if template.unlike == 0 and template.begins[text].starts.count <= BOUNDED_MAX:  # all these begin with the text
            template.begins[text].lower(x, template.top, time)
        goes_on = len(template.further) > 0
        if goes_on:
            out = template.moved
            out.clear()
        found = members.find(x, 0, INFINITE, out)
        begun = out.members_upto - found
        met.epoch += 1
        known, longest = template.beginnings, members.root[template.window]
        numbers, times = known.numbers, known.times
        points, sinces, between = template.known.points, template.known.since, template.forbidding[1]
        place: i64
        for place in range(begun, begun + found):
            handle = out.members[place]
            ago = float(times[numbers[handle]] - time)
            at = handle * d
            if ago < longest or ago < points[at + template.window]:
                continue  # nothing has waited for it, and what begins later does not ask what came before
            beginning = known.of(handle)
            since = met.meets(handle, event)
            if beginning.newest < since:
                continue
            starts = beginning.starts
            first = starts.begun_since(points, at, since, False, 0, starts.count)
            if first == starts.count:
                continue
            if len(between) > 0:
                since = starts.events[first]
                for killers in between:
                    since = killers.of(handle).starts.newest_for(points, at, since, False)
                first = starts.since_event(since, first, starts.count)
            path = out.paths_upto
            count = starts.walk(points, at, sinces[handle], first, starts.count, time, out)
            if count == 0:
                continue
            if not goes_on:
                out.close_one(place, path, count, 1)
                continue
            point = [0.0] * d
            for j in range(d):
                point[j] = points[at + j]
            item = MovingItem(handle, point, point[template.window], 0, template.level(0, point), self._serial)
            self._serial += 1
            item.begin(out, path, count, event, starts)
            self._put(0, item)
            self.noted = event
        if self._items > 2 * self._kept + SWEEP_MIN:
            self._sweep(time)

    # --- behind the second step ---------------------------------------------------------------------------------

    def _put(self, step: i64, item: MovingItem) -> None:
        """Let an item wait for its text of a step. O(log items)."""
        text = self.template.texts[item.handle][step + 2]
        heap = self._heaps[step].get(text)
        if heap is None:
            heap = self._heaps[step][text] = []
        pushed(heap, item)
        self._items += 1

    def _go_on(self, step: i64, heap: list[MovingItem], row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Move the items that the event reaches."""
        template = self.template
        reached, forbids = template.reached(step, row, time), len(template.forbidding[step + 2]) > 0
        while len(heap) > 0 and heap[0].level <= reached:
            item = popped(heap)
            self._items -= 1
            if forbids and template.forbidden(step + 2, item.handle, item.newest(), False):
                continue
            item.take(event, time)
            if item.count == 0:
                continue
            if step + 1 < len(template.further):
                item.level = template.level(step + 1, item.point)
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

    def forget(self, handle: int) -> None:
        """O(items)."""
        self._met.forget(handle)
        if self._items > 0:
            self._retain(BEFORE, handle)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        if self._items > 0:
            self._sweep(time)
        begins = self.template.begins.values()
        return self._items == 0 and all(each.first_in_time(time) == each.starts.count for each in begins)

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        starts, met = self.template.beginnings.of(handle).starts, self._met.since(handle, True)
        for killers in self.template.forbidding[1]:
            met = killers.of(handle).starts.newest_for(floats_from(point), 0, met, False)
        first = starts.since_event(met, 0, starts.count)
        found = starts.waiting(point, since, first, starts.count, time)
        for step, item in self._each():
            if item.handle == handle and not self.template.forbidden(step + 2, handle, item.newest(), False):
                found += item.live(time)
        return found

    def oldest(self, event: i64) -> i64:
        for each in self.template.begins.values():
            event = each.starts.oldest(event)
        for _, item in self._each():
            event = item.oldest(event)
        return event

    def used(self, events: set[int]) -> None:
        for each in self.template.begins.values():
            each.starts.used(events)
        for _, item in self._each():
            item.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        logs = [[text, each.starts.dump()] for text, each in self.template.begins.items() if each.starts.count > 0]
        items = [[step, *item.dump()] for step, item in self._each()]
        kills: list[list[Any]] = []
        for killing in self.template.killing:
            kills.append([[text, each.starts.dump()] for text, each in killing.items() if each.starts.count > 0])
        return {"met": self._met.dump(), "starts": logs, "items": items, "serial": int(self._serial), "kills": kills}

    def load(self, dumped: dict[str, Any]) -> None:
        self._met.load(list(dumped["met"]))
        for text, starts in dumped["starts"]:
            self.template.begins[text].load(starts)
        for killing, saved in zip(self.template.killing, dumped["kills"]):
            for text, starts in saved:
                killing[text].load(starts)
        self.template.beginnings.refresh()
        self._serial = dumped["serial"]
        for step, *saved in dumped["items"]:
            self._put(step, restored(saved, 0))

    def statistics(self) -> dict[str, int]:
        waiting = sum(int(each.starts.count) for each in self.template.begins.values())
        return {**self.members.statistics(), "starts": waiting, "items": int(self._items)}

    def check_invariants(self) -> None:
        template = self.template
        assert len(self._each()) == self._items
        assert sum(int(each.count) for each in template.ends.values()) == self.members.count
        assert sum(int(each.members) for each in template.begins.values()) == self.members.count
        for beginning in template.begins.values():
            assert template.beginnings.times[beginning.number] == beginning.newest_time
        for members in template.ends.values():
            members.check_invariants()
        for each in template.each():
            each.starts.check_invariants()
            for j in range(int(template.d)):
                assert all(each.root[j] <= point[j] for point in self._points(each))

    def _points(self, beginning: Beginning) -> list[list[float]]:
        found = [member for members in self.template.ends.values() for member in members.each()]
        return [point for handle, point, _ in found if self._uses(handle, beginning)]

    def _uses(self, handle: int, known: Beginning) -> bool:
        template = self.template
        forbidding = (killers for each in template.forbidding for killers in each)
        return any(each.of(handle) is known for each in (template.beginnings, *forbidding))
