"""Where an event finds what concerns it: the key spaces of each stream, and what is to be started under each key.

Here: streams, spaces and cells' static parts as they come and go, and which of them changed. Not here: what fills them
(program for shared states, bulk for what needs none), runs (cells).
"""

from __future__ import annotations

from typing import TypeAlias, final

from ..algebra.normal_form import Form
from ..automaton.automaton import State
from .index.arcs import ArcIndex
from .index.boxes import Box
from .index.spaces import Key, Space, WaitingKeyPart, equalities
from .options import Options
from .target import Target
from .transition import Place, Transition

Cellmark: TypeAlias = tuple[Space, Key]


@final
class Static:
    """What a key value leads to in the program: start arcs, families and boxes of the stream's start state."""

    def __init__(self, few: int) -> None:
        self.arcs: ArcIndex[Transition] = ArcIndex(few)
        self.places: list[Place] = []  # each stands for a family
        self.boxes: list[Box[Target]] = []

    def empty(self) -> bool:
        return not len(self.arcs) and not self.places and not self.boxes


@final
class Directory:
    """`spaces` by stream number, `statics` by space number and key. `changed` collects the cells whose static part
    came, went or moved since the runtime last looked; `dead` counts places whose runs wait for removal."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.streams: dict[str, int] = {}
        self.spaces: list[list[Space]] = []
        self.statics: list[dict[Key, Static]] = []
        self.changed: list[Cellmark] = []
        self.dead = 0
        self.others: list[int] = []  # by stream number, start arcs and places that do not tell of symbols
        self._free_streams: list[int] = []
        self._free_spaces: list[int] = []

    def stream(self, name: str) -> int:
        """The number of a stream, a new one for a new name."""
        number = self.streams.get(name)
        if number is None:
            if self._free_streams:
                number = self._free_streams.pop()
            else:
                number = len(self.spaces)
                self.spaces.append([])
                self.others.append(0)
            self.streams[name] = number
        return number

    def count(self, stream: str, difference: int) -> None:
        """So many more start arcs or places of a stream are there for others than machines."""
        self.others[self.stream(stream)] += difference

    def forget(self, name: str) -> list[int]:
        """Drop a stream that nobody reads or makes any more: the numbers of its spaces, whose cells are to go."""
        number = self.streams.pop(name, None)
        if number is None:
            return []
        gone = [space.number for space in self.spaces[number]]
        assert not any(self.statics[space] for space in gone)
        assert self.others[number] == 0
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

    def static(self, space: Space, key: Key) -> Static:
        """What stands under a key, made if there is nothing yet."""
        static = self.statics[space.number].get(key)
        if static is None:
            static = self.statics[space.number][key] = Static(self.options.static_few)
            self.changed.append((space, key))
        return static

    def prune(self, space: Space, key: Key) -> None:
        """Forget what stands under a key if nothing does any more."""
        static = self.statics[space.number].get(key)
        if static is not None and static.empty():
            del self.statics[space.number][key]
            self.changed.append((space, key))

    def start_cell(self, stream: str, guard: Form) -> tuple[Space, Key, Form]:
        """The cell whose events a start arc concerns, by the constants in its guard, and the rest of the guard."""
        found, rest = equalities(guard) if self.options.static_index else ({}, guard)
        positions = tuple(sorted(found))
        values = tuple(WaitingKeyPart(found[p]).constant for p in positions)
        key: Key = values[0] if len(values) == 1 else values
        return self.space(stream, positions), key, rest

    def place(self, number: int, depth: int, state: State) -> Place:
        """A place for the runs of a state, under the keys that its theta demands."""
        found, rest = equalities(state.theta) if self.options.affected_index else ({}, state.theta)
        positions = tuple(sorted(found))
        space = self.space(state.stream, positions)
        parts = [WaitingKeyPart(found[p]) for p in positions]
        return Place(number, depth, space, parts, rest, self.options.dynamic_few)

    def check_invariants(self) -> None:
        for statics in self.statics:
            for static in statics.values():
                assert not static.empty()
                static.arcs.check_invariants()
                for box in static.boxes:
                    assert len(box.members)
                    box.members.check_invariants()
