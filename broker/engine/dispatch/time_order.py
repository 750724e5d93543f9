"""How far one order of time has come: what a dispatcher needs of the streams that share it.

Streams without a relation to each other may be at different times. Each order has its own newest moment, and the
alarms, deadlines and sweeps that wait for later ones. An engine whose streams are all in order of arrival has one.

Not here: which streams share an order (disorder.related).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify
from typing import TYPE_CHECKING, Any, final

from ...events.instant import FOREVER
from ..results import Results

if TYPE_CHECKING:
    from .dispatcher import Dispatcher


@final
class TimeOrder:
    """`now`: the newest epoch; `promised`: no earlier event follows; `results` of the last batch. `schedule`: when runs
    of merged automata are swept; `alarms` of machines and `deadlines` of forecasts are heaps."""

    def __init__(self) -> None:
        self.now: int | None = None
        self.promised: int | None = None
        self.results: Results | None = None
        self.schedule: Any = None
        self.alarms: list[Any] = []
        self.deadlines: list[tuple[int, int]] = []


def horizon_in(deadlines: list[tuple[int, int]]) -> int:
    """The time after which the first horizon of a forecast is over for who waits; FOREVER if there is none."""
    return deadlines[0][0] + 1 if deadlines else FOREVER  # at the horizon itself a match is in time


def arrange(runtime: Dispatcher, orders: list[TimeOrder], order_of: Callable[[str], TimeOrder]) -> None:
    """Let the streams share these orders from now on; the first becomes the current one. O(runs + alarms)."""
    runtime.park()
    forecasts, clock = runtime.program.forecasts, runtime.program.machines.clock
    alarms = [alarm for order in clock.orders for alarm in order.alarms]
    deadlines = [deadline for order in clock.orders for deadline in order.deadlines]
    for order in orders:
        order.alarms, order.deadlines = [], []
    for alarm in alarms:
        order_of(alarm[2].stream).alarms.append(alarm)
    for deadline in deadlines:
        subscription = forecasts.numbered.get(deadline[1])
        if subscription is not None:
            order_of(subscription.plan.positions[0][0]).deadlines.append(deadline)
    for subscription in forecasts.subscriptions.values():
        subscription.deadlines = order_of(subscription.plan.positions[0][0]).deadlines
    schedules = runtime.runs.schedules(order_of)
    for order in orders:
        heapify(order.alarms)
        heapify(order.deadlines)
        order.schedule = schedules.get(order)
    clock.orders = orders
    runtime.order_of = order_of
    runtime.runs.now_at = runtime.now_at if len(orders) > 1 else None
    runtime.resume(orders[0])
