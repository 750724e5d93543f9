"""Finds what an event concerns: the key spaces of each stream, and the static parts of the cell under each key.

Here: adding and removing streams, spaces and static parts, and the set of changes. Not here: filling them (executors),
runs (cells).
"""

from __future__ import annotations

from typing import Final, TypeAlias, final

from ...algebra.normal_form import Form
from ...algebra.timed_stream import is_timed, untimed
from ...automaton.automaton import State
from ..index.arcs import ArcIndex
from ..index.bounds import waiting_clauses
from ..index.spaces import Key, Space, WaitingKeyPart, equalities
from ..options import Options
from .transition import Place, Transition

NO_STREAM: Final = -1

Cellmark: TypeAlias = tuple[Space, Key]
StaticPart: TypeAlias = ArcIndex[Transition]
"""The static part of a cell: start arcs of the stream's start state under one key value."""


@final
class Directory:
    """`spaces` by stream number, `statics` by space number and key.

    `changed` collects the cells whose static part was added, removed or moved since the runtime last looked; `dead`
    counts places whose runs wait for removal, `feeds` the streams that merged automata make.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.streams: dict[str, int] = {}
        self.spaces: list[list[Space]] = []
        self.statics: list[dict[Key, StaticPart]] = []
        self.changed: list[Cellmark] = []
        self.dead = 0
        self.feeds = 0
        self.others: list[int] = []  # by stream number: the start arcs and places that report no symbols
        self.timed: list[int] = []  # by stream number: the number of its timed stream, NO_STREAM if nothing reads that
        self._free_streams: list[int] = []
        self._free_spaces: list[int] = []

    def stream(self, name: str) -> int:
        """The number of a stream; a new name gets a new number."""
        number = self.streams.get(name)
        if number is None:
            if self._free_streams:
                number = self._free_streams.pop()
            else:
                number = len(self.spaces)
                self.spaces.append([])
                self.others.append(0)
                self.timed.append(NO_STREAM)
            self.streams[name] = number
            if is_timed(name):
                self.timed[self.stream(untimed(name))] = number
        return number

    def count(self, stream: str, difference: int) -> None:
        """Change the count of a stream's start arcs and places that serve something other than machines."""
        self.others[self.stream(stream)] += difference

    def forget(self, name: str) -> list[int]:
        """Drop a stream without readers or publishers.

        Returns the numbers of its spaces, whose cells the caller drops.
        """
        number = self.streams.pop(name, None)
        if number is None:
            return []
        gone = [space.number for space in self.spaces[number]]
        assert not any(self.statics[space] for space in gone)
        assert self.others[number] == 0
        assert self.timed[number] == NO_STREAM
        if is_timed(name):
            self.timed[self.streams[untimed(name)]] = NO_STREAM
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
        # The space without attributes comes first: a run started there must reach its cell before old runs are cleared
        # away.
        spaces.sort(key=lambda s: (len(s.positions), s.positions))
        return space

    def static(self, space: Space, key: Key) -> StaticPart:
        """The static part under a key, created if it is missing."""
        static = self.statics[space.number].get(key)
        if static is None:
            static = self.statics[space.number][key] = ArcIndex(self.options.few)
            self.changed.append((space, key))
        return static

    def prune(self, space: Space, key: Key) -> None:
        """Forget the static part under a key if it is empty."""
        static = self.statics[space.number].get(key)
        if static is not None and not len(static):
            del self.statics[space.number][key]
            self.changed.append((space, key))

    def start_cell(self, stream: str, guard: Form) -> tuple[Space, Key, Form]:
        """The cell whose events concern a start arc, by the constants in its guard, and the rest of the guard."""
        found, rest = equalities(guard) if self.options.indexes else ({}, guard)
        positions = tuple(sorted(found))
        values = tuple(WaitingKeyPart(found[p]).constant for p in positions)
        key: Key = values[0] if len(values) == 1 else values
        return self.space(stream, positions), key, rest

    def place(
        self, number: int, depth: int, state: State, source: str, before: Place | None, loops: bool
    ) -> Place:
        """A place for the runs of a state, under the keys that the state's theta requires.

        An event of the stream `source` begins them, or moves them there from the place `before`. `loops`: one may let
        them stay.
        """
        found, rest = equalities(state.theta) if self.options.indexes else ({}, state.theta)
        positions = tuple(sorted(found))
        space = self.space(state.stream, positions)
        parts = [WaitingKeyPart(found[p]) for p in positions]
        place = Place(number, depth, space, parts, rest, self.options.few)
        if self.options.indexes:
            place.clauses = waiting_clauses(rest)
        stays = before is not None and before.space is space
        place.local = source == state.stream and (before is None or (stays and before.local))
        lasts = place.theta is not None or loops or stays
        place.stranger = space.single < 0 or place.own != space.single or (lasts and not place.local)
        space.strangers += place.stranger
        self.count(state.stream, 1)
        return place

    def withdraw(self, place: Place) -> None:
        """A place is needed no more; the runtime removes its runs some time."""
        place.dead = True
        place.space.strangers -= place.stranger
        self.count(place.space.stream, -1)
        self.dead += 1

    def check_invariants(self) -> None:
        for statics in self.statics:
            for static in statics.values():
                assert len(static)
                static.check_invariants()
