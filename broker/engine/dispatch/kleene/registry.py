"""Patterns of all streams: which machine each subscription has, coming and going.

Equal subscriptions have one machine as long as it has not taken an event; who comes later sees only matches that begin
later. Here: that choice, and the lanes. Not here: what an event does (lanes), runs (machine).
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final, cast, final

from mypy_extensions import i64

from ....automaton.analyses.ignoring import asks_for_adjacent_events_of_a_partition
from ....automaton.analyses.measures import measures_of, monotone, variant
from ....automaton.automaton import Automaton, Report
from ....events.schema import Row
from ...directory import Directory
from ...executors.completions import Completions
from ...executors.contract import Input
from ...executors.kleene.family import Family, Member
from ...executors.kleene.machine import Machine, inputs_of
from ...executors.kleene.plan import Plan, compile_kleene
from ...executors.kleene.tables import Bounds, Switches
from ...subscriber import Form, Subscriber
from ...target import Feed, Outcome, Target
from ...transition import Transition
from ..lanes import Lane
from ..matchers import Clock, Matcher
from ..route import Entry, Route
from ..symbols import Alphabet

LIMITS: Final = "runs_max, matches_max or negated_max"


@final
class KleeneAssembly:
    """An automaton ready to run: what its form keeps. Raises LimitExceeded (compile_kleene)."""

    def __init__(self, automaton: Automaton, published: bool = False) -> None:
        self.automaton = automaton  # equal for subscriptions that may share a machine
        self.plan: Plan = compile_kleene(automaton)
        measures = measures_of(self.plan.automaton)
        merges = measures is None or monotone(self.plan.automaton, measures)
        # What others have too that differ in a factor only, and the factor; where equal runs are one, that is more.
        self.variant = None if measures is None or merges or published else variant(automaton, measures)

    def inputs(self) -> list[Input]:
        return inputs_of(self.plan)

    def outcome(self) -> Outcome:
        return Outcome(self.automaton.schema.names, (), (), LIMITS)


@final
class KleeneSeat:
    """Where a subscription is. `symbols` are those of its inputs."""

    def __init__(self, lane: Lane, matcher: Matcher, member: Member | None, symbols: list[int], plan: Plan) -> None:
        self.plan = plan
        self.lane = lane
        self.matcher = matcher
        self.member = member  # of a family
        self.symbols = symbols

    def target(self) -> Target:
        return self.matcher.target if self.member is None else self.member.target

    def machine(self) -> Machine:
        return cast(Machine, self.matcher.machine)

    def put(self, target: Target) -> None:
        family = self.machine().family
        if self.member is None:
            self.matcher.put(target)
        elif family is not None:
            self.member.target = target
            family.renew()
        self.matcher.renew()


@final
class Kleenes:
    """Lanes by stream number: `entries` is what the runtime reads, and `clock`. `symbols` is shared with composites."""

    def __init__(
        self,
        directory: Directory,
        symbols: Alphabet,
        clock: Clock,
        bounds: Bounds,
        switches: Switches,
    ) -> None:
        self.directory = directory
        self.symbols = symbols
        self.bounds = bounds
        self.switches = switches
        self.clock = clock
        self.entries: dict[int, list[Entry]] = {}
        self.seats: dict[str, KleeneSeat] = {}
        self.seating: dict[str, int] | None = None  # while subscriptions come again: by name, the number of a machine
        self.seated: dict[int, Matcher] = {}  # those of them that are there again
        self._lanes: dict[Any, Lane] = {}
        self.feeding = 0  # subscriptions whose results make up streams
        self._routes: dict[int, Route] = {}
        self._newest: dict[object, Matcher] = {}  # by what equal, or alike, subscriptions have in common

    def join(self, assembly: KleeneAssembly, subscriber: Subscriber, feed: Feed | None) -> None:
        """Enter a subscription. O(its size)."""
        plan = assembly.plan
        lane = self._lane(assembly)
        numbers = self.symbols.acquire(assembly.inputs())
        matcher = self._matcher(assembly, lane, numbers, subscriber.name)
        member: Member | None = None
        family = cast(Machine, matcher.machine).family
        if family is not None and assembly.variant is not None:
            member = family.find(assembly.variant[1])
            if member is None:
                member = Member(assembly.variant[1], Target(assembly.outcome(), None), plan)
                family.enter(member)
        seat = self.seats[subscriber.name] = KleeneSeat(lane, matcher, member, numbers, plan)
        target = seat.target()
        target.serve(subscriber, feed)
        self.feeding += feed is not None
        seat.put(target)

    def _matcher(self, assembly: KleeneAssembly, lane: Lane, numbers: list[int], name: str) -> Matcher:
        """The machine of an equal or alike subscription that has not taken an event, or that of the snapshot; else a
        new one."""
        plan = assembly.plan
        family = self._alike(assembly)
        alike: object = assembly.automaton if family is None else family
        seating = self.seating
        before = -1 if seating is None else seating[name]
        matcher = self._newest.get(alike) if seating is None else self.seated.get(before)
        if matcher is not None and (seating is not None or not matcher.machine.taken):
            return matcher
        machine = Machine(plan, self.bounds, self.switches, None if family is None else Family())
        matcher = Matcher(machine, Target(assembly.outcome(), None), assembly.automaton.report == Report.COMPRESSED)
        self._newest[alike] = matcher
        if seating is not None:
            self.seated[before] = matcher
        self._routes.clear()
        lane.enter(matcher, numbers)
        return matcher

    def _alike(self, assembly: KleeneAssembly) -> object | None:
        switches = self.switches
        wanted = switches.columns and switches.families and assembly.variant is not None
        return assembly.variant[0] if wanted and assembly.variant is not None else None

    def leave(self, assembly: KleeneAssembly, name: str, feed: Feed | None) -> None:
        """Undo one `join`. O(its size, and machines that read its symbols)."""
        seat = self.seats.pop(name)
        target = seat.target().without_feed(name, feed)
        self.feeding -= feed is not None
        seat.put(target)
        if target.first is None:
            family = seat.machine().family
            if family is not None and seat.member is not None:
                family.leave(seat.member)
            if family is None or not family.members:
                self._dismiss(assembly, seat)
        self.symbols.release(assembly.inputs())

    def _dismiss(self, assembly: KleeneAssembly, seat: KleeneSeat) -> None:
        lane, matcher = seat.lane, seat.matcher
        self._routes.clear()
        lane.leave(matcher, seat.symbols)
        alike: object = self._alike(assembly) or assembly.automaton
        if self._newest.get(alike) is matcher:
            del self._newest[alike]
        if lane.empty():
            self._close(lane)

    def _lane(self, assembly: KleeneAssembly) -> Lane:
        automaton = assembly.automaton
        ordered = sorted(automaton.sources, key=lambda source: source.stream)
        streams = tuple(source.stream for source in ordered)
        contiguous = asks_for_adjacent_events_of_a_partition(automaton)
        keys = tuple(source.key for source in ordered) if contiguous else ()
        lane = self._lanes.get((streams, keys))
        if lane is None:
            lane = self._lanes[streams, keys] = Lane(streams, keys, self.clock)
            for at, stream in enumerate(streams):
                self.entries.setdefault(self.directory.stream(stream), []).append(Entry(lane, at))
        return lane

    def _close(self, lane: Lane) -> None:
        del self._lanes[lane.streams, lane.keys]
        for stream in lane.streams:
            number = self.directory.stream(stream)
            rest = [entry for entry in self.entries[number] if entry.lane is not lane]
            if rest:
                self.entries[number] = rest
            else:
                del self.entries[number]

    def travel(
        self, stream: str, times: list[int], rows: list[Row], ids: list[int], now: i64, found: Completions
    ) -> bool:
        """Take a whole batch, `now` being the newest time before it, where nobody reads its stream but patterns, and
        none makes events of what it finds; else, or of no events, nothing is done, and False."""
        number = self.directory.stream(stream)
        if self.feeding > 0 or self.directory.others[number] > 0 or len(times) == 0:
            return False
        route = self._routes.get(number)
        if route is None:
            route = self._routes[number] = Route(stream, self.entries[number])
        route.travel(self.directory.spaces[number], self.directory.statics, self.clock, found, times, rows, ids, now)
        return True

    def users(self, arc: Transition) -> list[str]:
        """The subscriptions that have an input with this arc's guard. O(symbols + inputs)."""
        numbers = self.symbols.having(arc)
        found = []
        for name, seat in self.seats.items():
            if any(numbers[given.stream] == own for given, own in zip(inputs_of(seat.plan), seat.symbols)):
                found.append(name)
        return found

    # --- inspection ---------------------------------------------------------------------------------------------

    def partial(self, name: str, time: int, most: int) -> list[dict[str, list[int]]]:
        """Runs of a subscription that an event at that time could go on with, ids by variable. Raises KeyError."""
        machine = self.seats[name].machine()
        names = machine.plan.automaton.operands
        found: list[dict[str, list[int]]] = []
        for begun in islice(machine.partial(time), most):
            bound: dict[str, list[int]] = {}
            for component, item, _ in begun:
                bound.setdefault(names[component], []).extend([item] if isinstance(item, int) else item[1])
            found.append(bound)
        return found

    def all_lanes(self) -> list[Lane]:
        return list(self._lanes.values())

    def statistics(self) -> dict[str, int]:
        """`patterns`: machines; what they keep."""
        figures = {"patterns": 0, "pattern_keys": 0, "pattern_runs": 0, "pattern_waiting": 0, "pattern_negated": 0}
        for lane in self._lanes.values():
            figures["patterns"] += len(lane.matchers)
            for matcher in lane.matchers:
                for name, count in matcher.machine.statistics().items():
                    figures[f"pattern_{name}"] += count
        return figures

    def check_invariants(self) -> None:
        for lane in self._lanes.values():
            assert not lane.empty()
            for matcher in lane.matchers:
                assert matcher.mask == 0
                assert all(target.first is not None for target in matcher.targets())
                assert matcher.busy == (matcher in lane.busy)
                machine = cast(Machine, matcher.machine)
                assert matcher.busy or not (machine.cells or any(machine.shadows))
                assert matcher.alarm <= machine.due() or not machine.taken
                matcher.machine.check_invariants()


def kleene_assembly_of(form: Form) -> KleeneAssembly | None:
    """The assembly of a SASE+ subscription's form; None for any other."""
    assembly: Any = form.assembly
    return assembly if isinstance(assembly, KleeneAssembly) else None
