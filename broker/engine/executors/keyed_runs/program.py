"""The merged program: the automata of all subscriptions as one, laid out to find what an event concerns.

Here: the location of each shared state and arc (the key space and cell of a start arc, the place of a state), and its
removal when the last subscriber leaves. A change costs the size of the subscription, not of the program. Not here: runs
(a program never holds one), names and text (catalog).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from ....algebra.normal_form import Form, duration_bound
from ....automaton.automaton import Automaton
from ....automaton.diagram import Graph
from ....automaton.sharing import Change, End, Forest, SharedState
from ...index.spaces import Key, Space
from ...program.directory import Directory
from ...program.recipient import Recipient
from ...program.target import Feed, Outcome, Target
from ...program.transition import UNBOUNDED, Place, SlotUpdate, Transition
from ...program.watcher import Watch, Watcher
from ..merged import MergedAutomata, MergedRuns, SchemaOf
from .column_runs import ColumnRuns
from .explanation import drawn, explained
from .waiting import WaitingState


@final
class StartArc:
    """A start arc with its location. It is enrolled in its cell only while a run of its place is needed."""

    def __init__(self, space: Space, key: Key, transition: Transition) -> None:
        self.space = space
        self.key = key
        self.transition = transition
        self.enrolled = False


@final
class KeyedAutomata(MergedAutomata):
    """Shared states and ends with their places and arcs."""

    def __init__(self, directory: Directory) -> None:
        super().__init__(directory)
        self.forest = Forest()
        self.places: dict[int, Place] = {}
        self._starts: dict[int, StartArc] = {}
        self._ends: dict[int, Transition] = {}
        self._forward_bounds: dict[int, int | None] = {}

    def runs(self) -> MergedRuns:
        return ColumnRuns(self.directory, self.places)

    def add(self, automaton: Automaton, subscriber: Recipient | None, feed: Feed | None) -> object:
        end, change = self.forest.insert(automaton)
        for node in change.nodes:
            self._place(node)
        if change.end is not None:
            self._end(end, automaton)
        target = self.target(end)
        if subscriber is not None:
            target.join(subscriber)
        if feed is not None:
            target.feeds = [feed] if target.feeds is None else [*target.feeds, feed]
            self.directory.feeds += 1
        self._want_lineage(end, subscriber, feed, 1)
        return end

    def remove(self, end: object, subscriber: Recipient | None, feed: Feed | None) -> None:
        assert isinstance(end, End)
        arc = self._ends[end.number]
        target = self.target(end)
        if subscriber is not None:
            arc.target = target = target.without(subscriber.name, subscriber.branch)
        if feed is not None:
            target.feeds = [other for other in target.feeds or () if other is not feed] or None
            self.directory.feeds -= 1
        self._want_lineage(end, subscriber, feed, -1)
        change = self.forest.remove(end)
        self._clear(end, change)

    def target(self, end: End) -> Target:
        """The subscribers and streams of the end."""
        target = self._ends[end.number].target
        assert target is not None
        return target

    def _want_lineage(self, end: End, subscriber: Recipient | None, feed: Feed | None, difference: int) -> None:
        # A later subscriber of a published result may ask for lineage, when the run is too old to start collecting it.
        if feed is None and not (subscriber is not None and subscriber.lineage):
            return
        node: SharedState | None = end.node
        while node is not None and node.parent is not None:
            self.places[node.number].lineage += difference
            node = node.parent

    def watch(self, end: object, watcher: Watcher, states: list[int]) -> None:
        assert isinstance(end, End)
        for node in end.path():
            place, watch = self.places[node.number], Watch(watcher, states[node.depth])
            place.watches = [watch] if place.watches is None else [*place.watches, watch]
        target = self.target(end)
        target.watchers = [watcher] if target.watchers is None else [*target.watchers, watcher]

    def unwatch(self, end: object, watcher: Watcher, states: list[int]) -> None:
        assert isinstance(end, End)
        for node in end.path():
            place = self.places[node.number]
            place.watches = [watch for watch in place.watches or () if watch.watcher is not watcher] or None
        target = self.target(end)
        target.watchers = [other for other in target.watchers or () if other is not watcher] or None

    def concerns(self, cause: object, end: object) -> bool:
        assert isinstance(end, End)
        if isinstance(cause, Transition):
            if cause.target is not None:
                return self.target(end) is cause.target
            cause = cause.place
        return any(self.places[node.number] is cause for node in end.path())

    # --- coming -------------------------------------------------------------------------------------------------

    def _place(self, node: SharedState) -> None:
        if node.parent is None or node.entry is None:
            self.directory.stream(node.state.stream)
            return
        before = None if node.parent.parent is None else self.places[node.parent.number]
        source, loops = node.parent.state.stream, node.rebind is not None
        place = self.directory.place(node.number, node.depth, node.state, source, before, loops)
        self.places[node.number] = place
        update = SlotUpdate(node.entry.update) if node.entry.update else None
        if node.rebind is not None:
            loop = SlotUpdate(node.rebind.update) if node.rebind.update else None
            place.rebind = Transition(node.rebind.guard, loop, place, None)
        self._forward_bounds[node.number] = 0
        if node.parent.parent is None:
            start = self._start_arc(node.parent, node.entry.guard, update, place, None)
            self._starts[node.number] = start
        else:
            arc = Transition(node.entry.guard, update, place, None)
            self._add_arc(node.parent, arc)

    def _start_arc(
        self, start: SharedState, guard: Form, update: SlotUpdate | None, place: Place | None, target: Target | None
    ) -> StartArc:
        space, key, guard = self.directory.start_cell(start.state.stream, guard)
        return StartArc(space, key, Transition(guard, update, place, target))

    def _enroll(self, start: StartArc) -> None:
        if not start.enrolled:
            start.enrolled = True
            self.directory.count(start.space.stream, 1)
            self.directory.static(start.space, start.key).add(start.transition)

    def _add_arc(self, node: SharedState, arc: Transition) -> None:
        """Add an arc out of a state in which runs wait one by one."""
        self.places[node.number].arcs.add(arc)
        start = self._starts.get(node.number)
        if start is not None:
            self._enroll(start)

    def _end(self, end: End, automaton: Automaton) -> None:
        node = end.node
        target = Target(Outcome(automaton.schema.names, end.arc.output), None)
        if node.parent is None:
            start = self._start_arc(node, end.arc.guard, None, None, target)
            self._starts[end.number] = start
            self._enroll(start)
            self._ends[end.number] = start.transition
        else:
            transition = Transition(end.arc.guard, None, None, target)
            self._add_arc(node, transition)
            self._ends[end.number] = transition
        self._widen(node, duration_bound(end.arc.guard))

    def _widen(self, node: SharedState, bound: int | None) -> None:
        """An arc with this bound on DUR now leaves the state: enlarge the windows, here and above."""
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

    # --- going --------------------------------------------------------------------------------------------------

    def _clear(self, end: End, change: Change) -> None:
        if change.end is not None:
            transition = self._ends.pop(end.number)
            start = self._starts.pop(end.number, None)
            if start is None:
                self._drop_arc(end.node, transition)
            else:
                self._withdraw(start)
        for node in reversed(change.nodes):
            if node.parent is None:
                continue
            place = self.places.pop(node.number)
            self.directory.withdraw(place)
            del self._forward_bounds[node.number]
            start = self._starts.pop(node.number, None)
            if start is not None:
                self._withdraw(start)
            elif node.parent.parent is not None and node.parent.number in self.places:
                parent = self.places[node.parent.number]
                self._drop_arc(node.parent, next(a for a in parent.arcs.arcs if a.place is place))

    def _drop_arc(self, node: SharedState, arc: Transition) -> None:
        place = self.places[node.number]
        place.arcs.remove(arc)
        start = self._starts.get(node.number)
        if start is not None and not len(place.arcs):
            self._withdraw(start)

    def _withdraw(self, start: StartArc) -> None:
        if start.enrolled:
            start.enrolled = False
            self.directory.count(start.space.stream, -1)
            self.directory.static(start.space, start.key).remove(start.transition)
            self.directory.prune(start.space, start.key)

    # --- inspection ---------------------------------------------------------------------------------------------

    def size(self, end: object) -> int:
        assert isinstance(end, End)
        return end.node.depth + 1

    def statistics(self) -> dict[str, int]:
        return {
            "states": sum(1 for _ in self.forest.nodes()),
            "key_spaces": len(self.directory.statics),
        }

    def explained(self, schema_of: SchemaOf) -> list[str]:
        return explained(self.directory, list(self.places.values()), schema_of)

    def waiting_states(self, end: object) -> list[object]:
        assert isinstance(end, End)
        return [WaitingState(self.places[node.number], node.depth) for node in end.path()]

    def shared(self, end: object) -> list[int]:
        assert isinstance(end, End)
        return [node.references for node in end.path()]

    def drawn(self, automata: Sequence[tuple[str, Automaton]]) -> Graph:
        return drawn(automata)

    def references(self) -> int:
        return sum(node.references for node in self.forest.starts.values())

    def check_invariants(self) -> None:
        self.forest.check_invariants()
        nodes = {node.number for node in self.forest.nodes() if node.parent is not None}
        assert nodes == set(self.places)
        for place in self.places.values():
            place.arcs.check_invariants()
            assert not place.dead
