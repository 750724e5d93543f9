"""The compiled program: all subscriptions' automata as one, laid out for finding what an event concerns.

Here: where each shared state and arc is placed - the key space and cell of start arcs, families of sibling states,
places for the rest - and the reverse when its last subscriber leaves. A change costs the size of the subscription, not
of the program. Not here: runs (a program never holds one), names and text (catalog).
"""

from __future__ import annotations

from typing import TypeAlias, final

from ..algebra.normal_form import Form, duration_bound
from ..algebra.predicate import computation
from ..automaton.automaton import Automaton
from ..automaton.sharing import Change, End, Forest, Node
from .arcs import ArcIndex
from .family import Family, forward_threshold, start_threshold
from .options import Options
from .spaces import Key, KeyPart, Space, equalities
from .transition import UNBOUNDED, Ending, Feed, Place, Subscriber, Transition, Update

Cellmark: TypeAlias = tuple[Space, Key]
FamilyKey: TypeAlias = tuple[str, Key, int, int, int, int, Form]


@final
class Static:
    """What a key value leads to in the program: start arcs and families of the stream's start state."""

    def __init__(self, few: int) -> None:
        self.arcs: ArcIndex[Transition] = ArcIndex(few)
        self.places: list[Place] = []  # each stands for a family

    def empty(self) -> bool:
        return not len(self.arcs) and not self.places


@final
class StartArc:
    """A start arc, and where it is; it is enrolled in its cell only while some run of its place is needed."""

    def __init__(self, space: Space, key: Key, transition: Transition) -> None:
        self.space = space
        self.key = key
        self.transition = transition
        self.enrolled = False


@final
class Membership:
    """An end as a member of a family."""

    def __init__(
        self, key: FamilyKey, space: Space, cell: Key, place: Place, family: Family[Ending], start: float
    ) -> None:
        self.key = key
        self.space = space
        self.cell = cell
        self.place = place
        self.family = family
        self.start = start


@final
class Program:
    """What the runtime reads: `spaces` by stream, `statics` by space number and key. `changed` collects the cells whose
    static part came, went or moved since the runtime last looked; `dead` counts places whose runs wait for removal."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.forest = Forest()
        self.streams: dict[str, int] = {}
        self.spaces: list[list[Space]] = []
        self.statics: list[dict[Key, Static]] = []
        self.changed: list[Cellmark] = []
        self.dead = 0
        self.places: dict[int, Place] = {}
        self._free_streams: list[int] = []
        self._free_spaces: list[int] = []
        self._starts: dict[int, StartArc] = {}
        self._ends: dict[int, tuple[Ending, Transition | None, Membership | None]] = {}
        self._families: dict[FamilyKey, tuple[Family[Ending], Place]] = {}
        self._forward_bounds: dict[int, int | None] = {}

    def stream(self, name: str) -> int:
        """The number of a stream, a new one for a new name."""
        number = self.streams.get(name)
        if number is None:
            if self._free_streams:
                number = self._free_streams.pop()
            else:
                number = len(self.spaces)
                self.spaces.append([])
            self.streams[name] = number
        return number

    def forget(self, name: str) -> list[int]:
        """Drop a stream that nobody reads or makes any more: the numbers of its spaces, whose cells are to go."""
        number = self.streams.pop(name, None)
        if number is None:
            return []
        gone = [space.number for space in self.spaces[number]]
        assert not any(self.statics[space] for space in gone)
        self.spaces[number] = []
        self._free_streams.append(number)
        self._free_spaces += gone
        return gone

    def space(self, stream: str, positions: tuple[int, ...]) -> Space:
        spaces = self.spaces[self.stream(stream)]
        for space in spaces:
            if space.positions == positions:
                return space
        if self._free_spaces:
            space = Space(self._free_spaces.pop(), stream, positions)
        else:
            space = Space(len(self.statics), stream, positions)
            self.statics.append({})
        spaces.append(space)
        # The space without attributes first: what starts there meets its cell before the runs there are cleared away.
        spaces.sort(key=lambda s: (len(s.positions), s.positions))
        return space

    def add(self, automaton: Automaton, subscriber: Subscriber | None, feed: Feed | None) -> End:
        """Merge an automaton in and serve its end to a subscriber, a stream, or both. O(states of the automaton)."""
        end, change = self.forest.insert(automaton)
        for node in change.nodes:
            self._place(node)
        if change.end is not None:
            self._end(end, automaton)
        ending = self._ends[end.number][0]
        if subscriber is not None:
            ending.subscribers.append(subscriber)
        if feed is not None:
            ending.feeds.append(feed)
        ending.current = None
        self._want_lineage(end, subscriber, feed, 1)
        return end

    def remove(self, end: End, subscriber: Subscriber | None, feed: Feed | None) -> None:
        """Undo one `add`. O(states of the automaton, and subscribers of the end)."""
        ending = self._ends[end.number][0]
        if subscriber is not None:
            ending.subscribers.remove(subscriber)
        if feed is not None:
            ending.feeds.remove(feed)
        ending.current = None
        self._want_lineage(end, subscriber, feed, -1)
        change = self.forest.remove(end)
        self._clear(end, change)

    def _want_lineage(self, end: End, subscriber: Subscriber | None, feed: Feed | None, difference: int) -> None:
        # A published result may be read by someone who wants lineage later on, when it is too late to begin with it.
        if feed is None and not (subscriber is not None and subscriber.lineage):
            return
        membership = self._ends[end.number][2]
        if membership is not None:
            membership.place.lineage += difference
        node: Node | None = end.node
        while node is not None and node.parent is not None:
            self.places[node.number].lineage += difference
            node = node.parent

    # --- coming -------------------------------------------------------------------------------------------------

    def _place(self, node: Node) -> None:
        if node.parent is None or node.entry is None:
            self.stream(node.state.stream)
            return
        place = self._make_place(node)
        self.places[node.number] = place
        update = Update(node.entry.update) if node.entry.update else None
        if node.rebind is not None:
            loop = Update(node.rebind.update) if node.rebind.update else None
            place.rebind = Transition(node.rebind.guard, loop, place, None)
        self._forward_bounds[node.number] = 0
        if node.parent.parent is None:
            start = self._start_arc(node.parent, node.entry.guard, update, place, None)
            self._starts[node.number] = start
        else:
            arc = Transition(node.entry.guard, update, place, None)
            self._add_arc(node.parent, arc)

    def _make_place(self, node: Node) -> Place:
        found, rest = equalities(node.state.theta) if self.options.affected_index else ({}, node.state.theta)
        positions = tuple(sorted(found))
        space = self.space(node.state.stream, positions)
        parts = [KeyPart(found[p]) for p in positions]
        return Place(node.number, node.depth, space, parts, rest, self.options.dynamic_few)

    def _start_arc(
        self, start: Node, guard: Form, update: Update | None, place: Place | None, ending: Ending | None
    ) -> StartArc:
        space, key, guard = self._start_cell(start, guard)
        return StartArc(space, key, Transition(guard, update, place, ending))

    def _start_cell(self, start: Node, guard: Form) -> tuple[Space, Key, Form]:
        """The cell whose events a start arc concerns, by the constants in its guard, and the rest of the guard."""
        found, rest = equalities(guard) if self.options.static_index else ({}, guard)
        positions = tuple(sorted(found))
        values = tuple(KeyPart(found[p]).constant for p in positions)
        key: Key = values[0] if len(values) == 1 else values
        return self.space(start.state.stream, positions), key, rest

    def _enroll(self, start: StartArc) -> None:
        if not start.enrolled:
            start.enrolled = True
            self._static(start.space, start.key).arcs.add(start.transition)

    def _static(self, space: Space, key: Key) -> Static:
        static = self.statics[space.number].get(key)
        if static is None:
            static = self.statics[space.number][key] = Static(self.options.static_few)
            self.changed.append((space, key))
        return static

    def _add_arc(self, node: Node, arc: Transition) -> None:
        """A further arc out of a state that runs wait in one by one."""
        self.places[node.number].arcs.add(arc)
        start = self._starts.get(node.number)
        if start is not None:
            self._enroll(start)

    def _end(self, end: End, automaton: Automaton) -> None:
        node = end.node
        ending = Ending(automaton.schema.names, [computation(t) for t in end.arc.output])
        transition: Transition | None = None
        membership: Membership | None = None
        if node.parent is None:
            start = self._start_arc(node, end.arc.guard, None, None, ending)
            self._starts[end.number] = start
            self._enroll(start)
        else:
            membership = self._join_family(end, ending)
            if membership is None:
                transition = Transition(end.arc.guard, None, None, ending)
                self._add_arc(node, transition)
        self._ends[end.number] = (ending, transition, membership)
        self._widen(node, duration_bound(end.arc.guard))

    def _widen(self, node: Node, bound: int | None) -> None:
        """An arc with this bound on DUR now leaves the state: windows grow, here and above."""
        while node.parent is not None and node.entry is not None:
            before = self._forward_bounds[node.number]
            if before is not None:
                self._forward_bounds[node.number] = None if bound is None else max(before, bound)
            limits = [self._forward_bounds[node.number], duration_bound(node.state.theta)]
            if node.rebind is not None:
                limits.append(duration_bound(node.rebind.guard))
            finite = [limit for limit in limits if limit is not None]
            self.places[node.number].window = min(finite) if finite else UNBOUNDED
            bounds = [*finite, *(b for b in [duration_bound(node.entry.guard)] if b is not None)]
            bound = min(bounds) if bounds else None
            node = node.parent

    def _join_family(self, end: End, ending: Ending) -> Membership | None:
        """The end as member of a family: one step from the start, and only thresholds tell it apart."""
        node = end.node
        entry, start = node.entry, node.parent
        if not self.options.cohorts or start is None or start.parent is not None or entry is None:
            return None
        if node.rebind is not None or entry.update or len(entry.guard) != 1 or len(end.arc.guard) != 1:
            return None
        space, cell, guard = self._start_cell(start, entry.guard)
        lower, upper = start_threshold(guard[0]), forward_threshold(end.arc.guard[0])
        if lower is None or upper is None:
            return None
        key: FamilyKey = (
            f"{space.number} {node.state.stream}",
            cell,
            lower.position,
            lower.sign,
            upper.position,
            upper.sign,
            node.state.theta,
        )
        known = self._families.get(key)
        if known is None:
            place = self._make_place(node)
            bound = duration_bound(node.state.theta)
            place.window = UNBOUNDED if bound is None else bound
            place.family = Family(lower, upper)
            known = self._families[key] = (place.family, place)
            static = self._static(space, cell)
            static.places.append(place)
        family, place = known
        family.insert(lower.bound, upper.bound, ending)
        return Membership(key, space, cell, place, family, lower.bound)

    # --- going --------------------------------------------------------------------------------------------------

    def _clear(self, end: End, change: Change) -> None:
        if change.end is not None:
            ending, transition, membership = self._ends.pop(end.number)
            if membership is not None:
                self._leave_family(membership, ending)
            elif transition is not None:
                self._drop_arc(end.node, transition)
            else:
                self._withdraw(self._starts.pop(end.number))
        for node in reversed(change.nodes):
            if node.parent is None:
                continue
            place = self.places.pop(node.number)
            place.dead = True
            self.dead += 1
            del self._forward_bounds[node.number]
            start = self._starts.pop(node.number, None)
            if start is not None:
                self._withdraw(start)
            elif node.parent.parent is not None and node.parent.number in self.places:
                parent = self.places[node.parent.number]
                self._drop_arc(node.parent, next(a for a in parent.arcs.arcs if a.place is place))

    def _leave_family(self, membership: Membership, ending: Ending) -> None:
        family = membership.family
        family.remove(membership.start, ending)
        if not len(family):
            static = self._static(membership.space, membership.cell)
            static.places.remove(membership.place)
            del self._families[membership.key]
            membership.place.dead = True
            self.dead += 1
            self._prune(membership.space, membership.cell, static)

    def _drop_arc(self, node: Node, arc: Transition) -> None:
        place = self.places[node.number]
        place.arcs.remove(arc)
        start = self._starts.get(node.number)
        if start is not None and not len(place.arcs):
            self._withdraw(start)

    def _withdraw(self, start: StartArc) -> None:
        if start.enrolled:
            start.enrolled = False
            static = self._static(start.space, start.key)
            static.arcs.remove(start.transition)
            self._prune(start.space, start.key, static)

    def _prune(self, space: Space, key: Key, static: Static) -> None:
        if static.empty():
            del self.statics[space.number][key]
            self.changed.append((space, key))

    # --- inspection ---------------------------------------------------------------------------------------------

    def all_places(self) -> list[Place]:
        """Places of single states and of families."""
        return [*self.places.values(), *(place for _, place in self._families.values())]

    def ending(self, end: int) -> Ending:
        """Whom the end with that number serves."""
        return self._ends[end][0]

    def family_place(self, end: End) -> Place | None:
        membership = self._ends[end.number][2]
        return None if membership is None else membership.place

    def check_invariants(self) -> None:
        self.forest.check_invariants()
        nodes = {node.number for node in self.forest.nodes() if node.parent is not None}
        assert nodes == set(self.places)
        for family, place in self._families.values():
            assert len(family)
            assert place.family is family
            family.check_invariants()
        for statics in self.statics:
            for static in statics.values():
                assert not static.empty()
                static.arcs.check_invariants()
        for place in self.all_places():
            place.arcs.check_invariants()
        assert not any(place.dead for place in self.all_places())
