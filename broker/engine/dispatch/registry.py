"""Registers subscriptions with machines: decides who shares a machine, adds and removes them, and keeps the lanes.

Subscriptions with alike plans share one machine. Most machines accept new members only until their first event, because
a later subscription gets only matches that begin later.

Here: that choice. Not here: the effect of an event (lanes), partial matches (executors).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias, final

from ...automaton.arc_updates import ChangedArcs
from ...events.errors import Unsupported
from ..executors.contract import OverEpochs
from ..executors.machine_plan import MachinePlan
from ..matches.sources import ids
from ..options import Options
from ..program.account import NOT_SUSPENDED
from ..program.directory import Directory
from ..program.target import Feed
from ..program.transition import Transition
from ..subscribing.subscriber import Subscriber
from .lanes import Lane
from .machine_path import MachinePath, machine_path
from .matchers import Clock, Matcher
from .registrations import First, Registration, Restoring, SavedPlace
from .symbols import Alphabet

FIRST: Final = "it is the first subscription of its kind"
LaneKey: TypeAlias = tuple[str, tuple[str, ...], tuple[tuple[int, ...], ...]]
"""Lanes with different keys count apart: kind of machine, streams, attributes by which the events are counted."""


def _joinable(plan: MachinePlan, matcher: Matcher) -> bool:
    """Whether another subscription may join a machine of an alike plan."""
    return not matcher.taken or (plan.always_open and matcher.suspended == NOT_SUSPENDED)


@final
class Registry:
    """All machines.

    The runtime reads `entries`, by stream number, and `clock`. `feeding`: by stream number the count of subscriptions
    whose results make it up. `executors`: the planner's table; `plan_again`: makes a plan for another executor.
    """

    def __init__(
        self,
        directory: Directory,
        options: Options,
        executors: Sequence[type[MachinePlan]],
        plan_again: Callable[..., MachinePlan],
    ) -> None:
        self._plan_again = plan_again
        self.directory = directory
        self.options = options
        self.executors = executors
        self.symbols = Alphabet(directory)
        self.clock = Clock()
        self.entries: dict[int, list[tuple[Lane, int]]] = {}  # lanes, each with the stream's number in it
        self.feeding: dict[int, int] = {}
        self.registrations: dict[str, Registration] = {}  # by subscription, or by name of an automaton (program)
        self.lanes: dict[LaneKey, Lane] = {}
        self.restoring: Restoring | None = None
        self._paths: dict[int, MachinePath | None] = {}  # by stream number
        self._newest: dict[Hashable, Matcher] = {}  # by the common part of alike plans
        self._first: dict[Hashable, list[str]] = {}  # by that of plans: the registrations that another executor runs

    # --- coming -------------------------------------------------------------------------------------------------

    def join(
        self, name: str, plan: MachinePlan, subscriber: Subscriber | None, feed: Feed | None, kept: Any = None
    ) -> None:
        """Register a subscription, or an automaton for a subscriber, a stream, or both. O(its size).

        `kept`: the state with which its machine goes on, which it shares with nobody.
        """
        place: SavedPlace | None = None
        saved = ""
        if self.restoring is not None:
            place = self.restoring.places[name]
            saved = self.restoring.executors.get(place.machine, plan.executor)
        firsts: list[First] = []
        while plan.executor != saved if saved else self._is_alone(plan):
            executor = saved
            if plan.alone and (not saved or saved in plan.alone):
                executor = plan.alone[0]
                firsts.append(First(plan, subscriber, feed))
            plan = self._plan_again(plan, executor) if saved else self._plan_again(plan, executor, FIRST)
        if plan.wants_company and place is None:
            self._share_with_first(plan.alike(self.options))
        registration = self.registrations[name] = self._enter(name, plan, place, subscriber, feed, kept)
        self._keep_firsts(name, registration, tuple(firsts))
        if feed is not None:
            self.feeding[feed.stream] = self.feeding.get(feed.stream, 0) + 1

    def _share_with_first(self, alike: Hashable) -> None:
        """Let the first ones share the machine of others like them, unless an event has begun runs for them alone."""
        for name in list(self._first.get(alike, ())):
            registration = self.registrations[name]
            if registration.matcher.taken:
                continue
            firsts = registration.firsts
            at = next(at for at, first in enumerate(firsts) if first.plan.alike(self.options) == alike)
            first = firsts[at]
            self._go(name, registration, first.subscriber, first.feed)
            entered = self.registrations[name] = self._enter(name, first.plan, None, first.subscriber, first.feed)
            self._keep_firsts(name, entered, firsts[:at])

    def _keep_firsts(self, name: str, registration: Registration, firsts: tuple[First, ...]) -> None:
        """Note with whom a registration may share a machine later."""
        registration.firsts = firsts
        for first in firsts:
            self._first.setdefault(first.plan.alike(self.options), []).append(name)

    def _enter(
        self, name: str, plan: MachinePlan, place: SavedPlace | None, subscriber: Subscriber | None, feed: Feed | None,
        kept: Any = None,
    ) -> Registration:  # fmt: skip
        """Enter a subscriber, a stream, or both, into a machine."""
        lane = self._lane(plan)
        alike = plan.alike(self.options) if kept is None else None
        if self.restoring is None or place is None:
            matcher = None if alike is None else self._newest.get(alike)
            if matcher is not None and not _joinable(plan, matcher):
                matcher = None
        else:
            matcher = self.restoring.matchers.get(place.machine)
        filed = plan.filed(self.options) if matcher is None else None
        if matcher is not None and plan.same_inputs:
            symbols = matcher.symbols
        else:
            symbols = self.symbols.acquire(plan.wanted_inputs(self.options)) if filed is None else []
        if matcher is None:
            matcher = Matcher(plan.make(self.options), plan.executor, lane.streams[0])
            matcher.symbols, matcher.filed = symbols, filed
            if alike is not None:
                self._newest[alike] = matcher
            self._put_in(lane, matcher)
        if self.restoring is None or place is None:
            member = plan.join(matcher.machine, symbols)
        else:
            self.restoring.matchers[place.machine] = matcher
            member = plan.rejoin(matcher.machine, symbols, place.saved)
        member.target.serve(subscriber, feed)
        matcher.enter(name)
        if kept is not None:
            matcher.machine.load(kept)
            matcher.taken = True
            lane.rouse(matcher)
        return Registration(plan, lane, matcher, member, symbols)

    def has(self, alike: Hashable) -> bool:
        """Whether there is a machine that a plan with this in common with others would share."""
        return alike in self._newest

    def _is_alone(self, plan: MachinePlan) -> bool:
        """Whether another executor runs it better, as no other plan is like it."""
        if not plan.wants_company or not plan.alone:
            return False
        alike = plan.alike(self.options)
        return alike is None or (alike not in self._newest and alike not in self._first)

    def _put_in(self, lane: Lane, matcher: Matcher) -> None:
        if matcher.filed is None or not lane.indexes:
            self._paths.clear()
        lane.enter(matcher)

    def _take_out(self, lane: Lane, matcher: Matcher) -> None:
        self._paths.clear()
        lane.leave(matcher)

    def _lane(self, plan: MachinePlan) -> Lane:
        key = (plan.kind, plan.streams(), plan.keys())
        lane = self.lanes.get(key)
        if lane is None:
            self._paths.clear()
            lane = self.lanes[key] = Lane(key[1], key[2], self.clock)
            for at, stream in enumerate(lane.streams):
                self.entries.setdefault(self.directory.stream(stream), []).append((lane, at))
        return lane

    def divide(self, name: str, parts: Sequence[tuple[Any, list[int]]]) -> list[Matcher]:
        """Add machines for parts of a subscription, to be followed. O(inputs).

        Each part has an automaton, and the numbers of its inputs among the subscription's inputs.
        """
        registration = self.registrations[name]
        made: list[Matcher] = []
        for at, (automaton, operands) in enumerate(parts):
            plan = registration.plan
            stream = registration.lane.streams[0]
            matcher = Matcher(plan.part(automaton, operands).make(self.options), plan.executor, stream)
            matcher.symbols = [registration.symbols[operand] for operand in operands]
            self._put_in(registration.lane, matcher)
            made.append(matcher)
            if self.restoring is not None:
                self.restoring.matchers[self.restoring.places[name].parts[at]] = matcher
        registration.parts = made
        return made

    # --- going --------------------------------------------------------------------------------------------------

    def leave(self, name: str, subscriber: Subscriber | None, feed: Feed | None) -> None:
        """Undo one `join`. O(its size, and machines that read its symbols)."""
        if feed is not None:
            self.feeding[feed.stream] -= 1
            if not self.feeding[feed.stream]:
                del self.feeding[feed.stream]
        self._go(name, self.registrations.pop(name), subscriber, feed)

    def _go(self, name: str, registration: Registration, subscriber: Subscriber | None, feed: Feed | None) -> None:
        """Undo `_enter`."""
        plan, lane, matcher, member = registration.plan, registration.lane, registration.matcher, registration.member
        for first in registration.firsts:
            alike = first.plan.alike(self.options)
            self._first[alike].remove(name)
            if not self._first[alike]:
                del self._first[alike]
        member.target = member.target.without_feed(subscriber, feed)
        plan.leave(matcher.machine, member, registration.symbols)
        matcher.leave(name)
        if not matcher.served:
            self._take_out(lane, matcher)
            alike = plan.alike(self.options)
            if alike is not None and self._newest.get(alike) is matcher:
                del self._newest[alike]
        if matcher.filed is None and (not plan.same_inputs or not matcher.served):
            self.symbols.release(plan.wanted_inputs(self.options))
        if lane.empty():
            self._close((plan.kind, lane.streams, lane.keys))

    def rewrite(self, name: str, plan: MachinePlan, changed: ChangedArcs) -> bool:
        """Replace the arcs of a subscription. Returns whether its machine gets events of all keys from now on, after
        which the runs have to be refreshed."""
        registration = self.registrations[name]
        lane, matcher = registration.lane, registration.matcher
        key = plan.rewrite(matcher.machine, registration.member, changed)
        if matcher.filed is None or matcher.filed == key:
            return False
        self._take_out(lane, matcher)
        matcher.filed = None
        matcher.symbols = self.symbols.acquire(plan.wanted_inputs(self.options))
        for other in self.registrations.values():
            if other.matcher is matcher:
                other.symbols = matcher.symbols
        lane.enter(matcher)
        lane.rouse(matcher)
        return True

    def unite(self, name: str) -> None:
        """Undo `divide`. O(machines that read the subscription's symbols)."""
        registration = self.registrations[name]
        for matcher in registration.parts:
            self._take_out(registration.lane, matcher)
        registration.parts = ()

    def _close(self, key: LaneKey) -> None:
        self._paths.clear()
        lane = self.lanes.pop(key)
        for stream in lane.streams:
            number = self.directory.stream(stream)
            rest = [entry for entry in self.entries[number] if entry[0] is not lane]
            if rest:
                self.entries[number] = rest
            else:
                del self.entries[number]

    # --- events -------------------------------------------------------------------------------------------------

    def path(self, number: int) -> MachinePath | None:
        """The way of whole batches of a stream, if there is one. O(machines) once after each change."""
        if number not in self._paths:
            lanes = [lane for lane, _ in self.entries[number]]
            self._paths[number] = machine_path(lanes, self.clock, len(self.entries) > 1)
        return self._paths[number]

    def users(self, arc: Transition) -> list[str]:
        """The names of the registrations with an input that has this arc's guard. O(inputs)."""
        return [name for name, registration in self.registrations.items() if arc.symbol in registration.symbols]

    def close_epoch(self) -> None:
        """End the newest epoch for all machines. O(machines)."""
        for lane in self.lanes.values():
            lane.close_epoch()

    # --- inspection ---------------------------------------------------------------------------------------------

    def partial(self, name: str, time: int, most: int) -> list[dict[str, list[int]]]:
        """A subscription's partial matches that an event at that time could continue: ids by operand.

        Raises Unsupported if the executor only counts, and for CEL, whose operands have no names.
        """
        registration = self.registrations.get(name)
        begun = None
        names: Sequence[str] = ()
        if registration is not None:
            lane, machine = registration.lane, registration.matcher.machine
            first = registration.member.target.first
            assert first is not None
            names = first.told.operands
            if names:
                begun = machine.waiting_runs(registration.member, time, lane.position, lane.places)
        if begun is None:
            raise Unsupported(f"subscription {name!r}: the executor that runs it cannot list partial matches")
        found: list[dict[str, list[int]]] = []
        for run in islice(begun, most):
            bound: dict[str, list[int]] = {}
            for component, item, _ in run.assigned:
                bound.setdefault(names[component], []).extend(ids(item))
            found.append(bound)
        return found

    def statistics(self) -> dict[str, int]:
        """Counts of the machines' state."""
        figures = {name: 0 for executor in self.executors for name in executor.figures}
        for lane in self.lanes.values():
            for matcher in lane.matchers:
                for name, count in matcher.machine.statistics().items():
                    if name in figures:
                        figures[name] += count
        return figures

    def check_invariants(self) -> None:
        for lane in self.lanes.values():
            assert not lane.empty()
            for matcher in lane.matchers:
                machine = matcher.machine
                assert matcher.mask == 0
                assert matcher.follower is not None or matcher.served > 0
                assert not isinstance(machine, OverEpochs) or matcher.suspended == NOT_SUSPENDED
                assert matcher.busy == (matcher in lane.busy)
                assert matcher.alarm <= machine.alarm
                machine.check_invariants()
        served: dict[Matcher, int] = {}
        for registration in self.registrations.values():
            assert registration.member.target.first is not None or registration.member.target.feeds is not None
            served[registration.matcher] = served.get(registration.matcher, 0) + 1
        for matcher, count in served.items():
            assert matcher.served == count
            assert not matcher.first or self.registrations[matcher.first].matcher is matcher
