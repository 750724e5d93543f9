"""Any match: events in which every combination counts (skip_till_any_match; P-ToPSS's `;`, AND, OR), within a window,
of one key, or found by a text each, as in `a: name = 'X' AND price > 110, b: name = 'Y' AND price < 108`.

The steps of a match have an order, or one of several: `a AND b` is `a; b` and `b; a`, and `a OR b` is either alone.
Members with any texts are one group, as there may be as many combinations as members; one key has no texts. Each step
that a match may go on behind has a log for each text. An event that may be the last finds the members among those with
its text, and each of them the events of its own logs. Where any event may be the last, the members lie with the text of
another step, and only the texts of which the window has an event are searched. What a negation forbids before the last
step has such logs, too: the newest event that concerns a member bars those before it from being the last but one. Every
event is an epoch.

A member's matches take one event of each of several logs, ascending. The events that are such for one member are read
off block by block; a sum of prefix counts over these lists gives the number of matches, which are made when read.

Here: all texts of a group, or of a partition. Not here: logs (starts).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from ...matches.sources import Assigned
from .any_template import AnyTemplate, LastStep
from .beginnings import TextLog
from .blocks import LARGE, TOO_MANY, MatchBlocks
from .columns import INFINITY, Floats, filled
from .kept_events import KeptEvents
from .logged import LoggedCell
from .member_points import MemberPoints
from .members import INFINITE, Members
from .stamps import Stamps
from .starts import NONE, Starts
from .steps import StepClause
from .text_members import ANY, Text, texts_by_step


@final
class AnyMatchTemplate:
    """The steps but for their texts, which the `attributes` have, -1 for none, and the members of one group. `kills`:
    what no event between the last two may be; their texts are behind those of the steps.

    `logs`: the events of each text that may be a step, by log of the steps, and behind these those that are forbidden;
    `logged`: what they are asked. `anchors`: for each last step the step by whose text its members are found: itself,
    or one before it. `found_by`: by anchor the members of each text, if there are any texts. `whole`: there are none.
    `parted`: each partition then has logs of its own.
    """

    def __init__(
        self, steps: AnyTemplate, attributes: list[int], kills: list[StepClause] | None = None, parted: bool = False
    ) -> None:
        self.steps = steps
        self.whole = max(attributes) < 0
        self.parted = parted
        self.logged = [*steps.logged, *(kills or [])]
        self.kills: i64 = len(steps.logged)  # the first log of what is forbidden
        self.attributes = attributes
        self.x: Floats = filled(steps.d, INFINITY)  # scratch for one event
        self.within: Floats = filled(steps.d, INFINITY)
        self.top: Floats = filled(steps.d, INFINITY)
        self.unlike: i64 = 0  # members whose texts are not all the same
        self.step_of: list[int] = [*steps.log_of, *range(len(steps.steps), len(attributes))]  # by log
        self.logs = [TextLog(clause, steps.d, steps.window, self.whole) for clause in self.logged]
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
        self.known.put(handle, point, since)
        texts = texts_by_step(known, self.attributes)
        own: list[Starts] = []
        for log, step in zip(self.logs, self.step_of):
            log.joined(handle, texts[step], point)
            own.append(log.of(handle).starts)
        if self.whole:
            return
        self.unlike += 0 if _all_equal(texts) else 1
        while len(self.texts) <= handle:
            self.texts.append(texts)
            self.own.append(own)
        self.texts[handle], self.own[handle] = texts, own
        for anchor, found in self.found_by.items():
            members = found.get(texts[anchor])
            if members is None:
                members = found[texts[anchor]] = Members(self.steps.d)
            members.put(handle, point, since)

    def left(self, handle: int, point: list[float]) -> None:
        """A member has left the group. O(steps x (pages + page))."""
        for log in self.logs:
            log.left(handle)
        if self.whole:
            return
        texts = self.texts[handle]
        self.unlike -= 0 if _all_equal(texts) else 1
        for anchor, found in self.found_by.items():
            members = found[texts[anchor]]
            members.remove(handle, point)
            if members.count == 0:
                del found[texts[anchor]]

    def barred(self, handle: i64, own: list[Starts], last: Starts, since: i64) -> i64:
        """Since when no event bars a member's events of the last of its `own` logs, which are since then; NONE if it
        has none there. O(blocks)."""
        points, at = self.known.points, handle * self.steps.d
        first = last.begun_since(points, at, since, False, last.head, last.count)
        if first == last.count:
            return NONE
        newest = last.events[first]
        log: i64
        for log in range(self.kills, len(own)):
            newest = own[log].newest_for(points, at, newest, False)
        return newest


@final
class AnyMatchCell(LoggedCell):
    """The waiting runs of a group, which lie with the texts of their events.

    `events`: those that the group keeps, if matches have several orders.
    """

    def __init__(self, template: AnyMatchTemplate, members: Members, events: KeptEvents | None = None) -> None:
        logs = [log.apart() for log in template.logs] if template.parted else template.logs
        super().__init__(members, logs, template.kills)
        self.template = template
        self._events = events
        self._whole = [log.of(0).starts for log in logs] if template.whole else None
        self._stamps = Stamps()
        self._live: list[dict[Text, None]] = [{} for _ in template.logs]
        """By log the texts of which the window may have an event."""

    def _own(self, handle: i64) -> list[Starts]:
        """The logs of a member."""
        return self.template.own[handle] if self._whole is None else self._whole

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event. O(members with its text whose condition it satisfies as the last), and for each of them
        O(blocks of its logs and its events)."""
        template, x = self.template, self.template.x
        steps, attributes = template.steps, template.attributes
        for last, anchor in zip(steps.lasts, template.anchors):
            attribute = attributes[last.step]
            text = row[attribute] if attribute >= 0 else ANY
            members: Members | None = None
            if template.whole:
                members = self.members
            elif anchor == last.step:
                members = template.found_by[anchor].get(text)
                if members is None:
                    continue
            if len(last.others) == 0:
                self._choose(last, members, row, time, event, out)
            elif self._narrowed(last.clauses[0], row, time):
                if members is None:
                    self._complete_each(last, steps.log_of[anchor], template.found_by[anchor], time, out)
                    continue
                if template.unlike == 0:  # all these members have the same logs
                    for log in last.others:
                        own = self.logs[log].by_text[text]
                        own.lower(x, template.top, own.passed(time), own.starts.count)
                self._complete(last, members, x, time, out)
        self._keep(row, time, event)

    def _narrowed(self, clause: StepClause, row: Row, time: i64) -> bool:
        """Whether an event may be what a clause asks for some member; `x` has its values then."""
        template, x = self.template, self.template.x
        j: i64
        for j in range(template.steps.d):
            x[j] = INFINITY
        return clause.narrows(row, time, time, x, 0, x, 0) and clause.admits(row)

    def _choose(
        self, last: LastStep, members: Members | None, row: Row, time: i64, event: i64, out: MatchBlocks
    ) -> None:
        """Write the matches that the event alone is, once for a member. O(clauses)."""
        if members is None:
            return
        begun, several = out.members_upto, len(last.clauses) > 1
        if several:
            self._stamps.next()
        for clause in last.clauses:
            if self._narrowed(clause, row, time):
                found = out.members_upto
                if members.find(self.template.x, 0, event, out) > 0 and several:
                    self._stamps.thin(out, found)
        if out.members_upto > begun:
            out.order = last.numbers[0]
            out.close_alone(begun)

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
            beginning = self.logs[log].by_text.get(text)
            if beginning is None or beginning.passed(time) == beginning.starts.count:
                gone.append(text)
                continue
            for j in range(d):
                within[j] = x[j]
            beginning.lower(within, template.top, beginning.starts.head, beginning.starts.count)
            self._complete(last, found_by[text], within, time, out)
        for text in gone:
            del live[text]

    def _complete(self, last: LastStep, members: Members, x: Floats, time: i64, out: MatchBlocks) -> None:
        """Write the matches of the members that these values dominate."""
        found = members.find(x, 0, INFINITE, out)
        if found == 0:
            return
        template = self.template
        d, window, own, whole = template.steps.d, template.steps.window, template.own, self._whole
        points, sinces = template.known.points, template.known.since
        upto, forbids = out.members_upto, len(template.logged) > template.kills
        place: i64
        for order, number in zip(last.orders, last.numbers):
            out.order = number
            for place in range(upto - found, upto):
                handle = out.members[place]
                at = handle * d
                logs = own[handle] if whole is None else whole
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
                        barred = template.barred(handle, logs, logs[order[-1]], since)
                        if barred < 0:
                            continue
                    self._tell(logs, order, place, at, since, barred, time, out)

    def _tell(
        self, logs: list[Starts], order: list[int], member: i64, at: i64, since: i64, barred: i64, time: i64,
        out: MatchBlocks,
    ) -> None:  # fmt: skip
        """Write the matches of a member with one event of each log in this order. `member`: the place of its handle;
        `at`: that of its point; `barred`: events of the last log are not before it. O(blocks of the logs, events)."""
        points = self.template.known.points
        path = out.paths_upto
        steps: i64 = len(order)
        if steps == 1:
            log = logs[order[0]]
            count = log.walk(points, at, barred, log.head, log.count, time, out)
            if count > 0:
                out.close_one(member, path, count, 1)
            return
        last = steps - 1
        step: i64
        for step in range(steps):
            place = out.paths_upto
            out.add_number(0)
            log = logs[order[step]]
            count = log.walk(points, at, barred if step == last else since, log.head, log.count, time, out)
            if count == 0:
                out.paths_upto = path
                return
            out.paths[place] = count
        ways = combinations(out, path, steps)
        if ways == 0:
            out.paths_upto = path
        else:
            out.close_combined(member, path, steps, ways)

    def _keep(self, row: Row, time: i64, event: i64) -> None:
        """Note an event for the steps behind which a match may go on, and what it forbids. O(steps)."""
        template = self.template
        for log in range(len(template.logged)):
            attribute = template.attributes[template.step_of[log]]
            text = row[attribute] if attribute >= 0 else ANY
            beginning = self.logs[log].by_text.get(text)
            if beginning is not None and beginning.begin(row, time, event):
                self.logs[log].note(beginning)
                if log < template.kills:
                    self.noted = event
                self._live[log][text] = None
                if beginning.grown():
                    beginning.drop(beginning.first_in_time(time))
                else:
                    beginning.passed(time)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        template = self.template
        logs = self._own(handle)
        last = logs[template.kills - 1] if len(logs) > template.kills else None
        barred = since if last is None else int(template.barred(handle, logs, last, since))
        return template.steps.live(logs, point, since, time, barred)

    def assigned(self, handle: int, point: list[float], since: int, time: i64) -> list[Assigned] | None:
        return self.template.steps.assigned(self._own(handle), self._events, point, since, time)

    def load(self, dumped: dict[str, Any]) -> None:
        super().load(dumped)
        for live, saved in zip(self._live, dumped["logs"]):
            live.update({text: None for text, _ in saved})

    def check_invariants(self) -> None:
        super().check_invariants()
        template = self.template
        for found in template.found_by.values():
            assert template.whole or sum(int(each.count) for each in found.values()) == self.members.count
            for members in found.values():
                members.check_invariants()
        for log, live in zip(self.logs, self._live):
            assert all(text in live for text, each in log.by_text.items() if each.starts.head < each.starts.count)


def _all_equal(texts: tuple[Text, ...]) -> bool:
    return all(text == texts[0] for text in texts)


def combinations(out: MatchBlocks, path: i64, steps: i64) -> i64:
    """The number of ascending combinations of the lists written behind `path`; TOO_MANY beyond 62 bits. O(lists).

    The counts are stored behind the lists, where the next numbers will be written.
    """
    paths = out.room_for_paths(out.paths_upto - path)
    ways = out.paths_upto  # for each number the count of combinations that end there
    at = path
    before: i64 = 0  # the previous list: start of its numbers, start of its counts, length
    before_ways: i64 = 0
    count: i64 = 0
    total: i64 = 0
    size = 1.0
    step: i64
    for step in range(steps):
        length = paths[at]
        size *= float(length)
        if size > LARGE:
            return TOO_MANY
        i: i64 = 0
        sum_before: i64 = 0
        total = 0
        j: i64
        for j in range(length):
            number = paths[at + 1 + j]
            if step == 0:
                sum_before = 1
            else:
                while i < count and paths[before + i] < number:
                    sum_before += paths[before_ways + i]
                    i += 1
            paths[ways + j] = sum_before
            total += sum_before
        before, before_ways, count = at + 1, ways, length
        ways += length
        at += 1 + length
    return total
