"""The steps of matches in which every combination of a window counts, in one order or in several.

Here: that form, and a member's unfinished matches, for users. Not here: what an event does (any_match).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ...matches.sources import Assigned
from .blocks import combined
from .kept_events import KeptEvents
from .starts import NONE, Starts
from .steps import StepClause


@final
class LastStep:
    """The orders that take the same steps and have the same last one, `step`, which asks for one of `clauses`, for
    several only where it is alone. `others`: the logs of the steps before it, ascending; `orders`: these as each order
    has them; `numbers`: those of the orders."""

    def __init__(self, step: int, clauses: list[StepClause], others: list[int]) -> None:
        self.step = step
        self.clauses = clauses
        self.others = others
        self.orders: list[list[int]] = []
        self.numbers: list[int] = []


@final
class AnyTemplate:
    """The clauses of the steps. `orders`: of which a match has one, if there are several; `operands`: of each step then
    the operand. `window`: the coordinate of WITHIN; without one each order is a single step.
    """

    def __init__(
        self,
        d: int,
        steps: list[list[StepClause]],
        orders: list[list[int]] | None = None,
        operands: list[int] | None = None,
        window: int = NONE,
    ) -> None:
        self.d: i64 = d
        self.steps = steps
        self.orders = orders or [list(range(len(steps)))]
        self.operands = operands or list(range(len(steps)))
        self.single = not orders
        """Whether there is one order, that of the steps."""
        self.window: i64 = window
        logged = sorted({step for order in self.orders for step in order[:-1]})
        self.logged: list[StepClause] = [steps[step][0] for step in logged]
        """The steps behind which a match may go on, whose events are logged."""
        assert window >= 0 or not logged, "what is kept must have an end"
        self.log_of: dict[int, int] = {step: log for log, step in enumerate(logged)}
        found: dict[tuple[int, ...], LastStep] = {}
        for number, (*before, last) in enumerate(self.orders):
            logs = [self.log_of[step] for step in before]
            others = sorted(logs)
            same = found.setdefault((last, *others), LastStep(last, steps[last], others))
            same.orders.append(logs)
            same.numbers.append(number)
        self.lasts: list[LastStep] = list(found.values())

    def live(self, logs: list[Starts], point: list[float], since: int, time: int, barred: int) -> list[tuple[int, ...]]:
        """The runs of a member with these logs, in the order of the steps, if that is the only one. `barred`: the last
        event of what waits for the last step is not before it."""
        found: list[tuple[int, ...]] = []
        last = len(self.orders[0]) - 1
        for upto in range(1, last + 1):
            first = max(since, barred) if upto == last else since
            found += self._begun(self.orders[0][:upto], logs, point, [*([since] * (upto - 1)), first], time)
        return found

    def assigned(
        self, logs: list[Starts], events: KeptEvents | None, point: list[float], since: int, time: int
    ) -> list[Assigned] | None:
        """The same with their events, if there are several orders; else None."""
        if self.single or events is None:
            return None
        page = events.page
        found: dict[str, Assigned] = {}
        for taken in sorted({tuple(order[:upto]) for order in self.orders for upto in range(1, len(order))}):
            for path in self._begun(list(taken), logs, point, [since] * len(taken), time):
                own: Assigned = []
                for step, event in zip(taken, path):
                    at = page.place(event)
                    own.append((self.operands[step], page.item(at), int(page.time(at))))
                own.sort(key=_operand)
                found[repr(own)] = own  # steps may be different for one operand
        return list(found.values())

    def _begun(
        self, steps: list[int], logs: list[Starts], point: list[float], since: list[int], time: int
    ) -> list[tuple[int, ...]]:
        lists: list[list[int]] = []
        for step, first in zip(steps, since):
            log = logs[self.log_of[step]]
            lists.append([event for (event,) in log.waiting(point, first, log.head, log.count, time)])
        return list(combined(lists))


def _operand(taken: tuple[int, Any, int]) -> int:
    return taken[0]
