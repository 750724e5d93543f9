"""Matchers: a machine with the subscribers that it serves; and the clock that wakes machines at a time.

Here: suspension, limits, timers: the same for every executor. Not here: choosing the events of a machine (lanes).
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import final

from mypy_extensions import i64

from ..executors.contract import NOTHING_DUE, SATISFYING, EventKey, Executor, OverEpochs
from ..matches.batch_events import Fault
from ..matches.completions import Audience, Completions
from ..program.account import FAILED, NOT_SUSPENDED, reason_of
from ..program.watcher import Follower, Watcher
from .time_order import TimeOrder


@final
class Matcher:
    """A running machine.

    `executor`: its name. `stream`: one of those that it reads. `served`: how many registrations it runs,
    the `first` of them by its name, if that is still there. `symbols`: the numbers of the inputs of the plan that made
    it; `filed`: the key that it is filed by instead.
    `taken`: an event has changed the machine's state, so that no subscription may join it any more.
    `mask`: the inputs that the current event satisfies. `alarm`: the time at which the clock wakes it. With a
    `follower` it is the machine of a part of a subscription: it has no subscribers, and its completions go to the
    follower instead of results. `interest`: that of its machine by which its lane finds it.
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
        self.taken = False
        self.busy = False
        self.interest = SATISFYING
        self._audience: Audience | None = None
        self.watchers: list[Watcher] | None = None
        self.follower: Follower | None = None
        self.alarm: i64 = NOTHING_DUE
        self.lost: i64 = 0  # limits hit; reported again when twice `reported`
        self.reported: i64 = 0
        self.suspended: i64 = NOT_SUSPENDED  # the reason
        self.since: i64 = 0  # the time

    def enter(self, name: str) -> None:
        """Count a registration, whose subscribers have come. O(1)."""
        self._audience = None
        self.served += 1
        if not self.first:
            self.first = name

    def leave(self, name: str) -> None:
        """Undo `enter`. O(1)."""
        self._audience = None
        self.served -= 1
        if self.first == name:
            self.first = ""

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
        self.taken = True
        if self.lost >= 2 * self.reported:
            self.reported = self.lost
            self._report(found)
            found.add(None)

    def _report(self, found: Completions) -> None:
        """Address the next row to all present subscribers, since some may leave before it is read."""
        audience = self.audience()
        audience.everybody()
        found.serve(audience)

    def suspend(self, error: Exception, time: i64, found: Completions) -> None:
        """Suspend the machine after this error, and report it to its subscribers.

        For an automaton over epochs, report it to the code that suspends the subscriptions.
        """
        self.suspended = reason_of(error)
        self.since = time
        self.taken = True
        self.alarm = NOTHING_DUE
        self.machine.clear()
        if isinstance(self.machine, OverEpochs):
            found.faults.append(Fault(self, error, found.event))
            return
        if self.follower is None:
            self._report(found)
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

    def others_wait(self, stream: str, time: i64) -> bool:
        """Whether a machine of another stream must wake before this time. O(1) unless any machine must, then O(alarms).
        """
        if self.next >= time:
            return False
        return any(due < time and matcher.stream != stream for due, _, matcher in self.alarms)

    def advance(self, time: i64, found: Completions) -> None:
        """All events before `time` have come: wake the machines that have waited for it."""
        alarms = self.alarms
        while len(alarms) > 0 and alarms[0][0] < time:
            due, _, matcher = heappop(alarms)
            if matcher.alarm != due:
                continue
            matcher.alarm = NOTHING_DUE
            machine = matcher.machine
            if machine.alarm < time:  # otherwise it has seen to this one itself
                found.serve(matcher.audience())
                try:
                    machine.advance(time, found)
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
    found = [alarm for alarm in alarms if alarm[2] is not matcher]
    heapify(found)
    return found
