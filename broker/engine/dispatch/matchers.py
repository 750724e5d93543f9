"""Matchers: a machine with the subscribers that it serves; and the clock that wakes machines at a time.

Here: suspension, limits, timers: the same for every executor. Not here: choosing the events of a machine (lanes).
"""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace
from typing import final

from mypy_extensions import i64

from ..executors.batch_events import Fault
from ..executors.completions import Audience, Completions
from ..executors.contract import NOTHING_DUE, EventKey, Executor
from ..program.account import FAILED, NOT_SUSPENDED, reason_of
from ..program.watcher import Follower, Watcher
from .time_order import TimeOrder


@final
class Matcher:
    """A running machine.

    `executor`: its name. `stream`: one of those that it reads. `served`: how many registrations it runs,
    the `first` of them by its name, if that is still there. `symbols`: the numbers of the inputs of the plan that made
    it; `filed`: the key that it is filed by instead.
    `mask`: the inputs that the current event satisfies. `alarm`: the time at which the clock wakes it. With a
    `follower` it is the machine of a part of a subscription: it has no subscribers, and its completions go to the
    follower instead of results. `awake`: it is among those that need all events, or all of its machine's
    `home`, which are in `among`.
    """

    def __init__(self, machine: Executor, executor: str, stream: str) -> None:
        self.machine = machine
        self.executor = executor
        self.stream = stream
        self.served = 0
        self.first = ""
        self.mask: i64 = 0
        self.symbols: list[int] = []
        self.filed: EventKey | None = None
        self.busy = False
        self.awake = False
        self.among: dict[Matcher, None] = {}
        self._audience: Audience | None = None
        self.watchers: list[Watcher] | None = None
        self.follower: Follower | None = None
        self.alarm: i64 = NOTHING_DUE
        self.lost: i64 = 0  # limits hit; reported again when twice `reported`
        self.reported: i64 = 0
        self.suspended: i64 = NOT_SUSPENDED  # the reason
        self.since: i64 = 0  # the time

    def enter(self, name: str) -> None:
        """Count a registration. O(1)."""
        self.served += 1
        if not self.first:
            self.first = name

    def leave(self, name: str) -> None:
        """Undo `enter`. O(1)."""
        self.served -= 1
        if self.first == name:
            self.first = ""

    def renew(self) -> None:
        """Note that its subscribers have changed."""
        self._audience = None

    def audience(self) -> Audience:
        """Its subscribers, in the form that results keep. O(members) once after each change."""
        audience = self._audience
        if audience is None:
            audience = self._audience = self.machine.audience()
        return audience

    def complain(self, found: Completions) -> None:
        """Report the limits that the machine has hit."""
        self.lost += self.machine.lost
        self.machine.lost = 0
        if self.lost >= 2 * self.reported:
            self.reported = self.lost
            found.serve(self.audience())
            found.add(None)

    def suspend(self, error: Exception, time: i64, found: Completions) -> None:
        """Suspend the machine after this error, and report it to its subscribers.

        For an automaton over epochs, report it to the code that suspends the subscriptions.
        """
        self.suspended = reason_of(error)
        self.since = time
        self.machine.taken = True
        self.alarm = NOTHING_DUE
        self.machine.clear()
        if self.machine.epochs:
            found.faults.append(Fault(self, error, found.event))
            return
        if self.follower is None:
            found.serve(self.audience())
            found.suspend(int(self.suspended))
        if self.suspended == FAILED:
            found.failures.append((int(found.event), self.audience().everybody(), error))


@final
class Reader:
    """An input of a machine, as a bit."""

    def __init__(self, matcher: Matcher, bit: i64) -> None:
        self.matcher = matcher
        self.bit = bit


@final
class Clock:
    """Wakes the machines that wait for time to pass. `next`: the first time after which one of them must wake.

    `alarms` are those of the current order of time, a heap; `orders` has all of them.
    """

    def __init__(self) -> None:
        self.next: i64 = NOTHING_DUE
        self.alarms: list[tuple[int, int, Matcher]] = []
        self.orders: list[TimeOrder] = []
        self._number = 0

    def resume(self, alarms: list[tuple[int, int, Matcher]]) -> None:
        """Go on with the alarms of an order."""
        self.alarms = alarms
        self.next = alarms[0][0] if len(alarms) > 0 else NOTHING_DUE

    def set(self, matcher: Matcher) -> None:
        """Set the machine's alarm, if it is sooner than the known one. O(log n)."""
        due = matcher.machine.alarm
        if due >= matcher.alarm:
            return
        matcher.alarm = due
        self._number += 1
        heappush(self.alarms, (int(due), self._number, matcher))
        if due < self.next:
            self.next = due

    def reset(self, matcher: Matcher) -> None:
        """Set the alarm of a machine that has seen to those it had. O(log n)."""
        matcher.alarm = NOTHING_DUE
        self.set(matcher)

    def next_of_others(self, matcher: Matcher) -> i64:
        """The first time after which a machine that is not this one must wake. O(alarms of this one)."""
        alarms = self.alarms
        found: i64 = NOTHING_DUE
        looked = [0]
        for at in looked:  # below an alarm of another one there is no sooner one
            if at >= len(alarms):
                continue
            if alarms[at][2] is matcher:
                looked.append(2 * at + 1)
                looked.append(2 * at + 2)
            elif alarms[at][0] < found:
                found = alarms[at][0]
        return found

    def advance(self, time: i64, found: Completions) -> None:
        """All events before `time` have come: wake the machines that have waited for it."""
        alarms = self.alarms
        while len(alarms) > 0 and alarms[0][0] < time:
            due, _, matcher = alarms[0]
            if matcher.alarm == due and time <= matcher.machine.alarm < NOTHING_DUE:  # it has seen to this one itself
                matcher.alarm = matcher.machine.alarm
                self._number += 1
                heapreplace(alarms, (int(matcher.alarm), self._number, matcher))
                continue
            heappop(alarms)
            if matcher.alarm != due:
                continue
            matcher.alarm = NOTHING_DUE
            if not matcher.machine.serves:
                found.serve(matcher.audience())
            try:
                matcher.machine.advance(time, found)
            except Exception as error:  # any error concerns this machine only
                matcher.suspend(error, time, found)
            self.set(matcher)
        self.next = alarms[0][0] if len(alarms) > 0 else NOTHING_DUE

    def drop(self, matcher: Matcher) -> None:
        """Forget a machine. O(waiting machines)."""
        matcher.alarm = NOTHING_DUE
        for order in self.orders:
            if order.alarms is not self.alarms:
                order.alarms = _without(order.alarms, matcher)
        self.resume(_without(self.alarms, matcher))


def _without(alarms: list[tuple[int, int, Matcher]], matcher: Matcher) -> list[tuple[int, int, Matcher]]:
    return sorted([alarm for alarm in alarms if alarm[2] is not matcher], key=_due)


def _due(alarm: tuple[int, int, Matcher]) -> tuple[int, int]:
    return alarm[0], alarm[1]
