"""Any match of events that are found by a text each, `a: name = 'X' AND price > 110, b: name = 'Y' AND price < 108`.

Members with any texts are one group, as there may be as many combinations as members. Each step that a match may go on
behind has a log for each text. An event that may be the last finds the members among those with its text, and each of
them its own logs. Where any event may be the last, the members lie with the text of another step, and only the texts
of which the window has an event are searched. What a negation forbids before the last step has such logs, too: the
newest event that concerns a member bars those before it from being the last but one. Every event is an epoch.

Here: all texts of a group. Not here: one key (any_match), the matches of a member (tuples).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from ..matches import Assigned
from .any_template import AnyTemplate, LastStep
from .beginnings import ANY, Beginning, Text, texts_by_step
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, filled
from .kept_events import KeptEvents
from .member_points import MemberPoints
from .members import INFINITE, Members
from .starts import NONE, Starts
from .steps import StepClause
from .tuples import tell_tuples


@final
class AnyTextsTemplate:
    """The steps but for their texts, which the `attributes` have, -1 for none, and the members of one group. `kills`:
    what no event between the last two may be; their texts are behind those of the steps.

    `logs`: the events of each text that may be a step, by log of the steps, and behind these those that are forbidden;
    `logged`: what they are asked. `anchors`: for each last step the step by
    whose text its members are found: itself, or one before it. `found_by`: by anchor the members of each text.
    """

    def __init__(self, steps: AnyTemplate, attributes: list[int], kills: list[StepClause] | None = None) -> None:
        self.steps = steps
        self.logged = [*steps.logged, *(kills or [])]
        self.kills: i64 = len(steps.logged)  # the first log of what is forbidden
        self.attributes = attributes
        self.x: Floats = filled(steps.d, INFINITY)  # scratch for one event
        self.within: Floats = filled(steps.d, INFINITY)
        self.top: Floats = filled(steps.d, INFINITY)
        self.unlike: i64 = 0  # members whose texts are not all the same
        self.step_of: list[int] = [*steps.log_of, *range(len(steps.steps), len(attributes))]  # by log
        self.logs: list[dict[Text, Beginning]] = [{} for _ in self.logged]
        self.anchors = [self._anchor(last) for last in steps.lasts]
        self.found_by: dict[int, dict[Text, Members]] = {anchor: {} for anchor in self.anchors}
        self.texts: list[tuple[Text, ...]] = []  # by handle those of the steps
        self.own: list[list[Starts]] = []  # the logs
        self.known = MemberPoints(steps.d)

    def _anchor(self, last: LastStep) -> int:
        known = [last.step, *(self.step_of[log] for log in last.others)]
        return next((step for step in known if self.attributes[step] >= 0), last.step)

    def joined(self, handle: int, point: list[float], since: int, known: tuple[Text, ...]) -> None:
        """A member has joined the group. `known`: the texts of the steps that have one. O(steps x (pages + page))."""
        steps, texts = self.steps, texts_by_step(known, self.attributes)
        own: list[Starts] = []
        for log, step in zip(self.logs, self.step_of):
            beginning = log.get(texts[step])
            if beginning is None:
                beginning = log[texts[step]] = Beginning(texts[step], steps.d, steps.window)
            beginning.joined(point)
            own.append(beginning.starts)
        self.unlike += 0 if _all_equal(texts) else 1
        while len(self.texts) <= handle:
            self.texts.append(texts)
            self.own.append(own)
        self.texts[handle], self.own[handle] = texts, own
        self.known.put(handle, point, since)
        for anchor, found in self.found_by.items():
            members = found.get(texts[anchor])
            if members is None:
                members = found[texts[anchor]] = Members(steps.d)
            members.put(handle, point, since)

    def left(self, handle: int, point: list[float]) -> None:
        """A member has left the group. O(steps x (pages + page))."""
        texts = self.texts[handle]
        self.unlike -= 0 if _all_equal(texts) else 1
        for log, step in zip(self.logs, self.step_of):
            beginning = log[texts[step]]
            beginning.members -= 1
            if beginning.members == 0:
                del log[texts[step]]
        for anchor, found in self.found_by.items():
            members = found[texts[anchor]]
            members.remove(handle, point)
            if members.count == 0:
                del found[texts[anchor]]

    def barred(self, handle: i64, last: Starts, since: i64) -> i64:
        """Since when no event bars a member's events of the last log, which are since then; NONE if it has none there.
        O(blocks)."""
        points, at, own = self.known.points, handle * self.steps.d, self.own[handle]
        first = last.begun_since(points, at, since, False, last.head, last.count)
        if first == last.count:
            return NONE
        newest = last.events[first]
        log: i64
        for log in range(self.kills, len(own)):
            newest = own[log].newest_for(points, at, newest, False)
        return newest

    def each(self) -> list[Beginning]:
        """The logs of all steps and texts."""
        return [beginning for log in self.logs for beginning in log.values()]


@final
class AnyTextsCell(GroupCell):
    """The waiting runs of a group, which lie with the texts of their events.

    `events`: those that the group keeps, if matches have several orders.
    """

    def __init__(self, template: AnyTextsTemplate, members: Members, events: KeptEvents | None = None) -> None:
        super().__init__(members)
        self.template = template
        self._events = events
        self._live: list[dict[Text, None]] = [{} for _ in template.logs]
        """By log the texts of which the window may have an event."""
        for beginning in template.each():
            beginning.clear()

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event. O(members with its text whose condition it satisfies as the last), and for each of them
        O(blocks of its logs and its events)."""
        template, x = self.template, self.template.x
        steps, attributes = template.steps, template.attributes
        j: i64
        for last, anchor in zip(steps.lasts, template.anchors):
            attribute = attributes[last.step]
            found_by = template.found_by[anchor]
            members = None
            if anchor == last.step:
                members = found_by.get(row[attribute] if attribute >= 0 else ANY)
                if members is None:
                    continue
            for j in range(steps.d):
                x[j] = INFINITY
            if not last.clause.narrows(row, time, time, x, 0, x, 0) or not last.clause.admits(row):
                continue
            if len(last.others) == 0:
                begun = out.members_upto
                if members is not None and members.find(x, 0, event, out) > 0:
                    out.order = last.numbers[0]
                    out.close_alone(begun)
            elif members is not None:
                if template.unlike == 0:  # all these members have the same logs
                    for log in last.others:
                        template.logs[log][row[attribute] if attribute >= 0 else ANY].lower(x, template.top, time)
                self._complete(last, members, x, time, out)
            else:
                self._complete_each(last, steps.log_of[anchor], found_by, time, out)
        self._keep(row, time, event)

    def _complete_each(
        self, last: LastStep, log: int, found_by: dict[Text, Members], time: i64, out: MatchBlocks
    ) -> None:
        """The same for an event that may be the last of members with any text: of each text in the window those that
        an event with it may satisfy."""
        template = self.template
        x, within, d = template.x, template.within, template.steps.d
        live = self._live[log]
        gone: list[Text] = []
        j: i64
        for text in live:
            beginning = template.logs[log].get(text)
            if beginning is None or beginning.passed(time) == beginning.starts.count:
                gone.append(text)
                continue
            for j in range(d):
                within[j] = x[j]
            beginning.lower(within, template.top, time)
            self._complete(last, found_by[text], within, time, out)
        for text in gone:
            del live[text]

    def _complete(self, last: LastStep, members: Members, x: Floats, time: i64, out: MatchBlocks) -> None:
        """Write the matches of the members that these values dominate."""
        found = members.find(x, 0, INFINITE, out)
        if found == 0:
            return
        template = self.template
        d, window, own = template.steps.d, template.steps.window, template.own
        points, sinces = template.known.points, template.known.since
        upto, forbids = out.members_upto, len(template.logged) > template.kills
        place: i64
        for order, number in zip(last.orders, last.numbers):
            out.order = number
            for place in range(upto - found, upto):
                handle = out.members[place]
                at = handle * d
                logs = own[handle]
                bound = points[at + window]
                possible = True
                for log in order:
                    starts = logs[log]
                    count = starts.count
                    if count == 0 or float(starts.times[count - 1] - time) < bound:
                        possible = False
                        break
                if possible:
                    barred = since = sinces[handle]
                    if forbids:
                        barred = template.barred(handle, logs[order[-1]], since)
                        if barred < 0:
                            continue
                    tell_tuples(logs, order, place, points, at, since, barred, time, out)

    def _keep(self, row: Row, time: i64, event: i64) -> None:
        """Note an event for the steps behind which a match may go on, and what it forbids. O(steps)."""
        template = self.template
        for log, clause in enumerate(template.logged):
            attribute = template.attributes[template.step_of[log]]
            text = row[attribute] if attribute >= 0 else ANY
            beginning = template.logs[log].get(text)
            if beginning is not None and beginning.begin(clause, row, time, event):
                if log < template.kills:
                    self.noted = event
                self._live[log][text] = None
                if beginning.grown():
                    beginning.drop(beginning.first_in_time(time))
                else:
                    beginning.passed(time)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        return all(each.first_in_time(time) == each.starts.count for each in self.template.each())

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        template = self.template
        logs = template.own[handle]
        last = logs[template.kills - 1] if len(logs) > template.kills else None
        barred = since if last is None else int(template.barred(handle, last, since))
        return template.steps.live(logs, point, since, time, barred)

    def assigned(self, handle: int, point: list[float], since: int, time: i64) -> list[Assigned] | None:
        template = self.template
        return template.steps.assigned(template.own[handle], self._events, point, since, time)

    def oldest(self, event: i64) -> i64:
        for each in self.template.each():
            event = each.starts.oldest(event)
        return event

    def used(self, events: set[int]) -> None:
        for log in self.template.logs[: int(self.template.kills)]:
            for each in log.values():
                each.starts.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        logs: list[list[Any]] = []
        for log in self.template.logs:
            logs.append([[text, each.starts.dump()] for text, each in log.items() if each.starts.count > 0])
        return {"logs": logs}

    def load(self, dumped: dict[str, Any]) -> None:
        for number, saved in enumerate(dumped["logs"]):
            for text, starts in saved:
                self.template.logs[number][text].load(starts)
                self._live[number][text] = None

    def statistics(self) -> dict[str, int]:
        waiting = sum(int(each.starts.count) for each in self.template.each())
        return {**self.members.statistics(), "events": waiting}

    def check_invariants(self) -> None:
        template = self.template
        for found in template.found_by.values():
            assert sum(int(each.count) for each in found.values()) == self.members.count
            for members in found.values():
                members.check_invariants()
        for log, live in zip(template.logs, self._live):
            assert sum(int(each.members) for each in log.values()) == self.members.count
            assert all(text in live for text, each in log.items() if each.starts.head < each.starts.count)
        for each in template.each():
            each.starts.check_invariants()


def _all_equal(texts: tuple[Text, ...]) -> bool:
    return all(text == texts[0] for text in texts)
