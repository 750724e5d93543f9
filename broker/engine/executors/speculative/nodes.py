"""Nodes: the runs after an event. The nodes of an event are its block, which lies in the arena.

A block is in the order of the first events of its runs, and for one first event in the order of the arcs. Blocks are
replaced, never changed, so that an event that every run ignores shares the block of the previous event.

Here: computing a block from the previous one, first by the arcs that take the event, then by those that take none.
Hot. Not here: the arena, events and their order (timeline), what operations compute (forms).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....automaton.automaton import Automaton
from ....events.schema import Row
from ...program.account import Exhausted
from ..packed import Integers
from ..trace import mixed
from .arc_lists import ALL
from .arcs import UNKNOWN, ArcTable
from .arena import NONE, ORDER, START, STATE, Arena, marks, unknowns
from .forms import assign_all, holding
from .written import CLAUSES, IGNORES, LABEL, LENGTH, TARGET


@final
class BlockStepper:
    """Computes the block of one event.

    `made`: the number of nodes so far; `finals`: those of the last block that are results or wait. `within`: how long a
    run lives. `marked`: by state, whether it is a result or waits, so that its runs are not copied from block to block.

    Raises Exhausted instead of making more than `runs_max` nodes for one event.
    """

    def __init__(self, table: ArcTable, arena: Arena, automaton: Automaton, within: i64, runs_max: i64) -> None:
        self.table = table
        self.arena = arena
        self.within = within
        self.runs_max = runs_max
        self.marked: Integers = marks(automaton.final, max(1, len(automaton.operands)))
        for state in table.waiting:
            self.marked[state] = 1
        self.latest: Integers = unknowns(len(self.marked))  # by state, where the last node in it was written
        self.made: i64 = 0
        self.met: i64 = 0  # runs that wait and events that have met
        self.finals: i64 = 0
        self.row: Row = ()
        self.time: i64 = 0
        self.id: i64 = 0
        self.group: i64 = 0  # the first node of the current first event in the block
        self.last: i64 = 0  # where the arena ends at most
        self.stride: i64 = arena.layout.stride
        self.trace: i64 = arena.layout.trace
        arena.begin(automaton.initial)  # node 0 has taken nothing; compaction leaves it where it is

    def block(self, before: i64, upto: i64, row: Row, klass: i64, time: i64, order: i64, id: i64, whole: bool) -> i64:
        """Write the nodes of an event at the end of the arena, and return how many they are. O(nodes x arcs).

        They come from the nodes from `before` to below `upto`, and, if `whole`, from the run that the event begins.
        """
        arena = self.arena
        table = self.table
        self.row, self.time, self.id = row, time, id
        begins: i64 = 0
        roots: i64 = 0
        if whole:
            arena.words[START] = time
            arena.words[ORDER] = order
            roots = 1
            if table.moving and len(table.moves[0]) > 0:
                begins = self.group = arena.count
                self.last = begins + self.runs_max
                self.latest[0] = begins
                arena.append(arena, 0, 1)
                self._move_on(begins)
                roots = arena.count - begins
        first = arena.count
        self.last = first + self.runs_max
        self.finals = 0
        self._step(before, upto - before, begins, roots, klass)
        count = arena.count - first
        self.made += count
        return count

    def _step(self, before: i64, count: i64, begins: i64, roots: i64, klass: i64) -> None:
        """Take each arc that each of the `count` runs from `before` on and then the `roots` from `begins` on can take.

        Columns are fetched again wherever they may have grown.
        """
        arena = self.arena
        table = self.table
        stride, link = self.stride, self.trace + 1
        marked, moving = self.marked, table.moving
        alive = self.time - self.within
        epoch = table.enter(self.time)
        offsets, room = epoch.offsets, table.room
        code, words = table.code, arena.words
        start: i64 = 0
        ordinal: i64 = -1
        i: i64
        for i in range(count + roots):
            node = before + i if i < count else begins + i - count
            source = node * stride
            state = words[source + STATE]
            begun = words[source]
            if begun <= alive or marked[state] == 1:
                continue
            if begun != start or words[source + ORDER] != ordinal:
                self.group = arena.count
                start, ordinal = begun, words[source + ORDER]
            at = offsets[state * room + klass]
            if at == UNKNOWN:
                at = table.fill(epoch, state, klass)
                epoch = table.enter(self.time)
                offsets, room = epoch.offsets, table.room
                code = table.code
            left = code[at]
            at += 1
            while left > 0:
                left -= 1
                if code[at + CLAUSES] == 0 or holding(table, at, arena, node, self.row):
                    target = code[at + TARGET]
                    takes = code[at + IGNORES] == 0 or words[source + link] == NONE
                    if self._reach(at, node, target if takes else state, takes):
                        if marked[target] == 1:
                            self.finals += 1
                        elif moving:
                            self.finals += self._move_on(arena.count - 1)
                            code = table.code
                    words = arena.words
                at += code[at + LENGTH]

    def _reach(self, here: i64, node: i64, state: i64, takes: bool) -> bool:
        """Write the run that another one becomes by an arc, in a state; False if its first event has led to it already.

        The run remembers the event if it `takes` it. Raises Exhausted if there are too many runs.
        """
        arena, table, top, trace = self.arena, self.table, self.arena.count, self.trace
        if top >= arena.room:
            arena.reserve(top + 1)
        arena.put(arena, node, top)
        words, target = arena.words, top * self.stride
        words[target + STATE] = state
        assign_all(table, here, arena, node, arena, top, self.row)
        if self.latest[state] >= self.group and self._is_there(top, state):
            return False
        if top >= self.last:
            raise Exhausted
        arena.count = top + 1
        self.latest[state] = top
        if takes:
            target += trace
            words[target] = mixed(words[target], self.id, table.code[here + LABEL])
            words[target + 1] = arena.link(words[target + 1], self.id)
        return True

    def _is_there(self, top: i64, state: i64) -> bool:
        """Whether a node of the same first event is in the state with the same registers as the newest one."""
        arena = self.arena
        words, stride, other = arena.words, self.stride, self.group
        while other < top and (words[other * stride + STATE] != state or not arena.merges(other, top)):
            other += 1
        return other < top

    # --- arcs that take no event --------------------------------------------------------------------------------

    def _move_on(self, node: i64) -> i64:
        """Add what the newest node reaches by such arcs, unless it exists; return how many of these are results."""
        arena = self.arena
        table = self.table
        finals: i64 = 0
        at = node
        while at < arena.count:
            state = arena.words[at * self.stride + STATE]
            if state < table.final:
                for made in table.moves[state]:
                    if made.begin <= self.time < made.end:
                        here, objects = table.size, len(table.objects)
                        table.write_arc(made, ALL)
                        self._move(at, here)
                        table.size = here
                        del table.objects[objects:]
            elif at > node:
                finals += 1  # no state waits where there are such arcs
            at += 1
        return finals

    def _move(self, node: i64, here: i64) -> None:
        """Add the run that another one becomes by such an arc, unless it exists."""
        arena, table = self.arena, self.table
        if table.code[here + CLAUSES] > 0 and not holding(table, here, arena, node, self.row):
            return
        target = table.code[here + TARGET]
        link = arena.words[node * self.stride + self.trace + 1]
        ends = target >= table.final and link != NONE and arena.links[2 * link + 1] != self.id
        self._reach(here, node, target, ends)  # a match has its last event
