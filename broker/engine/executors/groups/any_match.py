"""Any match: events in which every combination counts (skip_till_any_match; P-ToPSS's `;`, AND, OR), within a window.

The steps of a match have an order, or one of several: `a AND b` is `a; b` and `b; a`, and `a OR b` is either alone.
The cost depends on the output. An event that may be the last finds the members that it completes and whose other steps
the window may satisfy. For each of these members, the events of every step are read off the window, block by block,
into lists. A match takes one event of each list, ascending. A sum of prefix counts over the lists gives their number,
so that combinations are made only when they are read. Every event is an epoch.

Here: one key. Not here: conditions between two times of a tuple, adjacency.
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from ..matches import Assigned
from .blocks import LARGE, TOO_MANY, MatchBlocks, combined
from .cell import GroupCell
from .columns import INFINITY, NAN, Floats, filled
from .kept_events import KeptEvents
from .members import Members
from .starts import NONE, Starts
from .steps import StepClause


@final
class LastStep:
    """The orders that take the same steps and have the same last one, which asks for `clause`. `others`: the logs of
    the steps before it, ascending; `orders`: these as each order has them; `numbers`: those of the orders."""

    def __init__(self, clause: StepClause, others: list[int]) -> None:
        self.clause = clause
        self.others = others
        self.orders: list[list[int]] = []
        self.numbers: list[int] = []


@final
class AnyTemplate:
    """The steps, each with bounds of its own coordinates. `orders`: of which a match has one, if there are several;
    `operands`: of each step then the operand.

    The window is `within` for all, or each member's own `window`. Without one each order is a single step.
    """

    def __init__(
        self,
        d: int,
        steps: list[StepClause],
        orders: list[list[int]] | None = None,
        operands: list[int] | None = None,
        *,
        within: int = NONE,
        window: int = NONE,
    ) -> None:
        self.d: i64 = d
        self.steps = steps
        self.orders = orders or [list(range(len(steps)))]
        self.operands = operands or list(range(len(steps)))
        self.single = not orders
        """Whether there is one order, that of the steps."""
        self.within: i64 = within
        self.window: i64 = window
        logged = sorted({step for order in self.orders for step in order[:-1]})
        self.logged: list[StepClause] = [steps[step] for step in logged]
        """The steps behind which a match may go on, whose events are logged."""
        assert within >= 0 or window >= 0 or not logged, "what is kept must have an end"
        self.log_of: dict[int, int] = {step: log for log, step in enumerate(logged)}
        found: dict[tuple[int, ...], LastStep] = {}
        for number, (*before, last) in enumerate(self.orders):
            logs = [self.log_of[step] for step in before]
            others = sorted(logs)
            same = found.setdefault((last, *others), LastStep(steps[last], others))
            same.orders.append(logs)
            same.numbers.append(number)
        self.lasts: list[LastStep] = list(found.values())


@final
class AnyCell(GroupCell):
    """For each step behind which a match may go on, the events in the window that may satisfy it for a member.

    `events`: those that the group keeps, if matches have several orders.
    """

    def __init__(
        self, template: AnyTemplate, members: Members | None = None, events: KeptEvents | None = None
    ) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self.template = template
        self._events = events
        before = len(template.logged)
        self._logs = [Starts(template.d, NONE, template.window) for _ in range(before)]
        self._heads = [0] * before
        self._kept = [0] * before
        self._x: Floats = filled(template.d, INFINITY)
        self._top: Floats = filled(template.d, INFINITY)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(blocks of the window), and for each member found O(blocks and its events)."""
        template, x = self.template, self._x
        self._forget(time)
        j: i64
        for last in template.lasts:
            clause = last.clause
            for j in range(template.d):
                x[j] = INFINITY
            if clause.narrows(row, time, time, x, 0, x, 0) and clause.admits(row):
                if template.window >= 0:
                    x[template.window] = 0.0
                if len(last.others) > 0:
                    self._complete(last, time, out)
                    continue
                begun = out.members_upto
                if self.members.find(x, 0, event, out) > 0:
                    out.order = last.numbers[0]
                    out.close_alone(begun)
        for log, clause in zip(self._logs, template.logged):
            at = log.open()
            if clause.narrows(row, time, time, log.values, at, log.values, at):
                if self.members.possible(log.values, at) and clause.admits(row):
                    log.keep(time, event)
                    self.noted = event

    def _complete(self, last: LastStep, time: i64, out: MatchBlocks) -> None:
        """The members that the event and the window may satisfy, each with the events of its steps."""
        members, x, top = self.members, self._x, self._top
        d = self.template.d
        j: i64
        for number in last.others:
            log = self._logs[number]
            for j in range(d):
                top[j] = -INFINITY
            log.raise_by_blocks(top, self._heads[number], log.count)
            for j in range(d):
                if top[j] < x[j]:
                    x[j] = top[j]
        found = members.find_points(NAN, x, 0, out)
        begun = out.members_upto - found
        if found == 0:
            return
        hit: i64
        for order, number in zip(last.orders, last.numbers):
            out.order = number
            for hit in range(found):
                self._tell(order, hit, begun, time, out)

    def _tell(self, order: list[int], hit: i64, begun: i64, time: i64, out: MatchBlocks) -> None:
        logs = self._logs
        path = out.paths_upto
        since = out.hits_since[hit]
        at = hit * self.template.d
        steps: i64 = len(order)
        if steps == 1:
            only = order[0]
            log = logs[only]
            count = log.walk(out.hits, at, since, self._heads[only], log.count, time, out)
            if count > 0:
                out.close_one(begun + hit, path, count, 1)
            return
        for number in order:
            place = out.paths_upto
            out.add_number(0)
            log = logs[number]
            count = log.walk(out.hits, at, since, self._heads[number], log.count, time, out)
            if count == 0:
                out.paths_upto = path
                return
            out.paths[place] = count
        ways = combinations(out, path, steps)
        if ways == 0:
            out.paths_upto = path
        else:
            out.close_combined(begun + hit, path, steps, ways)

    def _forget(self, time: i64) -> None:
        """Skip the events that no window holds; drop them when they are as many as the rest."""
        template = self.template
        if len(self._logs) == 0:
            return
        longest = -float(template.within) if template.within >= 0 else self.members.root[template.window]
        for number, log in enumerate(self._logs):
            head = log.passed(time, longest, self._heads[number], log.count)
            self._heads[number] = head
            if log.count > 2 * self._kept[number] + 128:
                head -= log.drop_first(head)
                self._heads[number], self._kept[number] = head, log.count - head

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        self._forget(time)
        return all(self._heads[number] == log.count for number, log in enumerate(self._logs))

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """In the order of the steps, if that is the only one."""
        found: list[tuple[int, ...]] = []
        for number in range(1, len(self.template.orders[0])):
            found += self._begun(self.template.orders[0][:number], point, since, time)
        return found

    def _begun(self, steps: list[int], point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """The member's runs that have taken these steps."""
        lists: list[list[int]] = []
        for step in steps:
            number = self.template.log_of[step]
            log = self._logs[number]
            lists.append([event for (event,) in log.waiting(point, since, self._heads[number], log.count, time)])
        return list(combined(lists))

    def assigned(self, point: list[float], since: int, time: i64) -> list[Assigned] | None:
        template = self.template
        if template.single or self._events is None:
            return None
        page = self._events.page
        found: dict[str, Assigned] = {}
        for begun in sorted({tuple(order[:upto]) for order in template.orders for upto in range(1, len(order))}):
            for path in self._begun(list(begun), point, since, time):
                own: Assigned = []
                for step, event in zip(begun, path):
                    at = page.place(event)
                    own.append((template.operands[step], page.item(at), int(page.time(at))))
                own.sort(key=_operand)
                found[repr(own)] = own  # steps may be different for one operand
        return list(found.values())

    def oldest(self, event: i64) -> i64:
        for log in self._logs:
            event = log.oldest(event)
        return event

    def used(self, events: set[int]) -> None:
        for log in self._logs:
            log.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {"heads": list(self._heads), "logs": [log.dump() for log in self._logs]}

    def load(self, dumped: dict[str, Any]) -> None:
        self._heads = list(dumped["heads"])
        for number, (log, each) in enumerate(zip(self._logs, dumped["logs"])):
            log.load(each)
            self._kept[number] = int(log.count)

    def statistics(self) -> dict[str, int]:
        return {**self.members.statistics(), "events": sum(int(log.count) for log in self._logs)}

    def check_invariants(self) -> None:
        self.members.check_invariants()
        for log in self._logs:
            log.check_invariants()


def _operand(taken: tuple[int, Any, int]) -> int:
    return taken[0]


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
