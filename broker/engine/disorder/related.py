"""Which streams wait for each other: those that a subscription reads together, itself or through streams of results.

Whoever reads two streams needs their events in one order of time, and so does a stream that is made of both. Streams
without such a relation have orders of their own, but those in order of arrival, which never wait, share one.

Here: these orders, which follow the subscriptions. Not here: when events are final (watermarks), the way of these
(reordering).
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify
from typing import Any, final

from ...algebra.timed_stream import untimed
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.time_order import TimeOrder
from ..subscribing.catalog import Catalog
from ..subscribing.holdings import Holding
from ..subscribing.subscriber import Subscriber
from .stream_order import StreamOrder


@final
class StreamOrders:
    """`first`: that of streams in order of arrival that no subscription reads with others; `all` begins with it.

    `sets`: the sets of streams that subscriptions relate, with their number. `stale`: the orders do not follow these
    yet. `unsettled`: events of some may be final since; `leaving` are orders of streams in order that wait no more.
    """

    def __init__(self, catalog: Catalog, runtime: Dispatcher) -> None:
        self.catalog = catalog
        self.runtime = runtime
        self.first = StreamOrder(runtime.order)
        self.all = [self.first]
        self.sets: dict[tuple[str, ...], int] = {}
        self.stale = True
        self.unsettled = False
        self.leaving: list[StreamOrder] = []
        self._by_name = {name: self.first for name in catalog.streams if not self._disordered(name)}
        for name, subscriber in catalog.subscriptions.items():
            self.enter(subscriber, catalog.holdings.get(name))

    def of(self, stream: str) -> StreamOrder:
        """The order of a stream, also of one that is made of results. O(1)."""
        return self._by_name.get(untimed(stream), self.first)

    def time_of(self, stream: str) -> TimeOrder:
        return self.of(stream).time

    def of_subscriber(self, subscriber: Subscriber) -> StreamOrder:
        return self.of(subscriber.form.sources[0][0])

    def newest(self, streams: Iterable[str]) -> int | None:
        """The newest moment that has been processed of these streams."""
        known = [self.runtime.now_at(stream) for stream in streams]
        return max([time for time in known if time is not None], default=None)

    # --- relations ----------------------------------------------------------------------------------------------

    def enter(self, subscriber: Subscriber, holding: Holding | None) -> None:
        """A subscription relates streams. O(these)."""
        related = related_by(subscriber)
        self.sets[related] = self.sets.get(related, 0) + 1
        own = self.of_subscriber(subscriber)
        for name in (*related, *(() if holding is None else holding.internal)):
            self.stale = self.stale or self._by_name.setdefault(name, own) is not own

    def leave(self, subscriber: Subscriber) -> None:
        """Undo one `enter`. O(streams that it relates)."""
        related = related_by(subscriber)
        self.sets[related] -= 1
        if not self.sets[related]:
            del self.sets[related]
            self.stale = self.stale or len(related) > 1

    def _groups(self) -> list[list[str]]:
        """The streams, those in one list that are related, directly or through others."""
        group_of = {name: [name] for name in self.catalog.streams}
        for related in self.sets:
            for name in related:
                group_of.setdefault(name, [name])
                one, other = group_of[related[0]], group_of[name]
                if one is not other:
                    one += other
                    group_of |= dict.fromkeys(other, one)
        return list({id(group): group for group in group_of.values()}.values())

    # --- orders -------------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Let the orders follow the relations; no event goes on. O(runs and events that wait, sets of streams), O(1) if
        nothing has changed. The leaving of streams without disorder that waited for others is to be settled."""
        if not self.stale:
            return
        self.stale, self.unsettled = False, True
        before, self.all = self.all, [self.first]
        self.runtime.park()
        by_name: dict[str, StreamOrder] = {}
        leaving: dict[int, tuple[StreamOrder, StreamOrder]] = {}
        for group in self._groups():
            if any(self._disordered(name) for name in group):
                found = self._made(group)
                self.all.append(found)
                by_name |= dict.fromkeys(group, found)
                continue
            for name in group:
                by_name[name] = order = self.of(name)
                if order is not self.first:
                    by_name[name] = own = leaving.setdefault(id(order), (order, StreamOrder(TimeOrder())))[1]
                    own.punctual |= {name: None} if name in order.punctual else {}
        for order, own in leaving.values():
            own.follow([order])
        self.leaving = [own for _, own in leaving.values()]
        self.all += self.leaving
        self._put(by_name, before)

    def _made(self, group: list[str]) -> StreamOrder:
        """The order of a group that has a stream with disorder: the one that it had, or a new one."""
        old = list({id(own): own for own in [self._by_name.get(name) for name in group] if own is not None}.values())
        late = dict.fromkeys(name for name in group if self._disordered(name))
        punctual = dict.fromkeys(name for name in group if name in self.catalog.streams and name not in late)
        if len(old) == 1 and old[0].late == late and old[0].punctual == punctual:
            return old[0]
        found = StreamOrder(TimeOrder())
        found.late, found.punctual = late, punctual
        if old:
            found.follow(old)
        return found

    def _put(self, by_name: dict[str, StreamOrder], before: list[StreamOrder]) -> None:
        """Put the orders into force."""
        self.first.punctual = {name: None for name in self.catalog.streams if by_name[name] is self.first}
        for name, holding in self.catalog.holdings.items():
            for internal in holding.internal:
                by_name[internal] = by_name[untimed(self.catalog.subscriptions[name].form.sources[0][0])]
        self._by_name = by_name
        kept = {id(order) for order in self.all}
        self.first.buffer.overtaken += sum([order.buffer.overtaken for order in before if id(order) not in kept])
        self.arrange()

    def arrange(self) -> None:
        """Let the dispatcher go by these orders from now on; the first becomes the current one. O(runs + alarms)."""
        runtime, orders = self.runtime, [order.time for order in self.all]
        runtime.park()
        forecasts, clock = runtime.program.forecasts, runtime.program.machines.clock
        alarms = [alarm for order in clock.orders for alarm in order.alarms]
        deadlines = [deadline for order in clock.orders for deadline in order.deadlines]
        for order in orders:
            order.alarms, order.deadlines = [], []
        for alarm in alarms:
            self.time_of(alarm[2].stream).alarms.append(alarm)
        for deadline in deadlines:
            subscription = forecasts.numbered.get(deadline[1])
            if subscription is not None:
                self.time_of(subscription.plan.positions[0][0]).deadlines.append(deadline)
        for subscription in forecasts.subscriptions.values():
            subscription.deadlines = self.time_of(subscription.plan.positions[0][0]).deadlines
        schedules = runtime.runs.schedules(self.time_of)
        for order in orders:
            heapify(order.alarms)
            heapify(order.deadlines)
            order.schedule = schedules.get(order)
        clock.orders = orders
        runtime.order_of = self.time_of
        runtime.runs.now_at = runtime.now_at if len(orders) > 1 else None
        runtime.resume(orders[0])

    def _disordered(self, name: str) -> bool:
        stream = self.catalog.streams.get(name)
        return stream is not None and stream.disorder != "arrival"

    def settle(self) -> None:
        """Let streams without disorder, whose events have gone, share the first order. O(runs) if there are any."""
        self.unsettled = False
        if not self.leaving:
            return
        self.runtime.park()
        gone, self.leaving = self.leaving, []
        for order in gone:
            self.all.remove(order)
            now = order.time.now
            if now is not None and (self.first.time.now is None or now > self.first.time.now):
                self.first.time.now, self.first.time.results = now, order.time.results
            self._by_name |= {name: self.first for name, own in self._by_name.items() if own is order}
            self.first.punctual |= order.punctual
        self.arrange()

    # --- snapshots ----------------------------------------------------------------------------------------------

    def dump(self) -> Any:
        """Plain data, without the events that wait."""
        names = {id(order): [name for name, own in self._by_name.items() if own is order] for order in self.all}
        return [[sorted(names[id(order)]), *order.dump()] for order in self.all]

    def load(self, data: Any, *waiting: Any) -> None:
        """The inverse, after all subscriptions have joined. `waiting`: the events of all buffers, and of those
        ahead."""
        self._by_name = {}
        self.all = [self.first, *[StreamOrder(TimeOrder()) for _ in data[1:]]]
        for order, (names, *kept) in zip(self.all, data, strict=True):
            self._by_name |= dict.fromkeys(names, order)
            declared = [name for name in self.catalog.streams if name in names]
            order.late = {name: None for name in declared if self._disordered(name)}
            order.punctual = {name: None for name in declared if name not in order.late}
            order.load(kept, [[event for event in events if event[2] in declared] for events in waiting])
        self.stale = True
        self.sets.clear()
        for name, subscriber in self.catalog.subscriptions.items():
            self.enter(subscriber, self.catalog.holdings.get(name))


def related_by(subscriber: Subscriber) -> tuple[str, ...]:
    """The streams that a subscription relates: those that it reads, and the one that it publishes."""
    form = subscriber.form
    names = [untimed(stream) for stream, _ in form.sources]
    return tuple(sorted({*names, *(() if form.publish is None else (form.publish,))}))
