"""Nodes: the runs after an event. The nodes of an event are its block, which lies in the arena.

A block is in the order of the first events of its runs, and for one first event in the order of the arcs. Blocks are
replaced, never changed, so that an event that every run ignores shares the block of the previous event.

Here: computing a block from the previous one, first by the arcs that take the event, then by those that take none.
Hot. Not here: the arena, events and their order (timeline), what operations compute (forms).
"""

from __future__ import annotations

from typing import Any, Final, cast, final

from mypy_extensions import i64

from ....algebra.comparisons import related_floats, related_integers
from ....algebra.computation import Computation, Slots
from ....algebra.predicate import All, holds
from ....automaton.automaton import Automaton
from ....events.schema import Row
from ...program.account import Exhausted
from ..packed import Integers
from ..trace import mixed
from .arcs import UNKNOWN, ArcTable
from .arena import FIRST, NONE, NULLS, ORDER, START, STATE, Arena, marks, unknowns
from .forms import Record, assign, related
from .operations import (
    ADD_EVENT,
    ADD_INTEGER,
    COMPUTATION,
    EVENT_FLOAT,
    EVENT_INTEGER,
    EVENT_SUM,
    EVENT_TEXT,
    FROM_EVENT_FLOAT,
    FROM_EVENT_OBJECT,
    INTEGER_CONSTANT,
    WORDS,
)
from .written import CLAUSES, HEAD, IGNORES, LABEL, LENGTH, TARGET, UPDATES

SAFE: Final = 1 << 30  # a sum of two integers below has 64 bits
UNTRACED: Final = 0  # the link of a run that has taken an event, where lineage is off


@final
class BlockStepper:
    """Computes the block of one event.

    `made`: the number of nodes so far; `most`: the nodes of the largest block; `finals`: those of the last block that
    are results or wait. `within`: how long a run lives; `lineage`: whether runs remember their events. `waiting`: the
    states whose runs are not copied from block to block; `marked`: by state, whether it is one of these or a result.

    Raises Exhausted instead of making more than `runs_max` nodes for one event.
    """

    def __init__(
        self,
        table: ArcTable,
        arena: Arena,
        automaton: Automaton,
        within: i64,
        lineage: bool,
        waiting: list[int],
        runs_max: i64,
    ) -> None:
        self.table = table
        self.arena = arena
        self.within = within
        self.lineage = lineage
        self.waiting = waiting
        self.runs_max = runs_max
        self.marked: Integers = marks(automaton.final, max(1, len(automaton.operands)))
        for state in waiting:
            self.marked[state] = 1
        self.latest: Integers = unknowns(len(self.marked))  # by state, where the last node in it was written
        self.made: i64 = 0
        self.met: i64 = 0  # runs that wait and events that have met
        self.most: i64 = 0
        self.finals: i64 = 0
        # The event, and the attribute of it that was read last with its value; -1: none.
        self.row: Row = ()
        self.time: i64 = 0
        self.id: i64 = 0
        self.read: i64 = -1
        self.value: float = 0.0
        self.group: i64 = 0  # the first node of the current first event in the block
        self.last: i64 = 0  # where the arena ends at most
        self.stride: i64 = arena.layout.stride
        self.floats: i64 = arena.layout.floats
        self.objects: i64 = arena.layout.objects
        self.trace: i64 = arena.layout.trace
        self.source = Record()
        self.target = Record()
        self._begin_node(automaton.initial)
        if not lineage:
            arena.link(NONE, 0)

    def _begin_node(self, initial: Slots) -> None:
        """Node 0 is a run that has taken nothing; compaction leaves it where it is."""
        arena = self.arena
        arena.reserve(1)
        i: i64
        for i in range(arena.layout.stride):
            arena.words[i] = 0
        arena.words[arena.layout.link] = NONE
        arena.write_registers(0, initial)
        arena.top = 1

    def block(self, before: i64, upto: i64, row: Row, klass: i64, time: i64, order: i64, id: i64, whole: bool) -> i64:
        """Write the nodes of an event at the end of the arena, and return how many they are. O(nodes x arcs).

        They come from the nodes from `before` to below `upto`, and, if `whole`, from the run that the event begins.
        """
        arena = self.arena
        table = self.table
        self.row, self.time, self.id = row, time, id
        self.read = -1
        begins: i64 = 0
        roots: i64 = 0
        if whole:
            arena.words[START] = time
            arena.words[ORDER] = order
            roots = 1
            if table.moving and len(table.moves[0]) > 0:
                begins = self.group = arena.top
                self.last = begins + self.runs_max
                self.latest[0] = begins
                arena.copy(0, 1)
                self._move_on(begins)
                roots = arena.top - begins
        first = arena.top
        self.last = first + self.runs_max
        self.finals = 0
        self._step(before, upto - before, begins, roots, klass)
        count = arena.top - first
        self.made += count
        if count > self.most:
            self.most = count
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
                self.group = arena.top
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
                if code[at + CLAUSES] == 0 or self._holds(at, node):
                    target = code[at + TARGET]
                    takes = code[at + IGNORES] == 0 or words[source + link] == NONE
                    if self._reach(at, node, target if takes else state, takes):
                        if marked[target] == 1:
                            self.finals += 1
                        elif moving:
                            self.finals += self._move_on(arena.top - 1)
                            code = table.code
                    words = arena.words
                at += code[at + LENGTH]

    def _holds(self, here: i64, node: i64) -> bool:
        """Whether one of the clauses of an arc holds for a run. The most frequent conditions without a call."""
        arena, table = self.arena, self.table
        code, words, numbers = table.code, arena.words, arena.numbers
        source, own = node * self.stride, node * self.floats
        nulls = words[source + NULLS]
        position = here + HEAD
        clauses = code[here + CLAUSES]
        while clauses > 0:
            clauses -= 1
            atoms = code[position]
            position += 1
            while atoms > 0:
                form = code[position]
                if form == INTEGER_CONSTANT:
                    integer = words[source + FIRST + code[position + 1]]
                    added = code[position + 4]
                    if nulls & code[position + 2] != 0:
                        break
                    if not -SAFE < integer < SAFE or not -SAFE < added < SAFE:
                        if not related(code, table.numbers, position, words, numbers, source, own, self.row):
                            break
                    elif not related_integers(code[position + 3], integer + added, code[position + 5]):
                        break
                elif form in (EVENT_SUM, EVENT_FLOAT):
                    if code[position + 4] != self.read and not self._reads(code[position + 4]):
                        break
                    if nulls & code[position + 2] != 0:
                        break
                    number = numbers[own + code[position + 1]]
                    if form == EVENT_FLOAT:
                        if not related_floats(code[position + 3], self.value, number):
                            break
                    else:
                        number += self.value
                        if not related_floats(code[position + 3], number, table.numbers[position + 5]):
                            break
                        if number - number != 0.0:
                            break
                elif form <= EVENT_INTEGER:
                    if not related(code, table.numbers, position, words, numbers, source, own, self.row):
                        break
                elif not self._condition_holds(position, node):
                    break
                atoms -= 1
                position += WORDS
            if atoms == 0:
                return True
            position += WORDS * atoms
        return False

    def _reads(self, attribute: i64) -> bool:
        """Read an attribute of the event, a number; False if it is null."""
        given = self.row[attribute]
        if given is None:
            return False
        self.read, self.value = attribute, float(cast("float", given))  # it may be an integer
        return True

    def _condition_holds(self, at: i64, node: i64) -> bool:
        """Whether a condition on other values than numbers, or of any form, holds for a run."""
        arena, table = self.arena, self.table
        code = table.code
        if code[at] == EVENT_TEXT:
            text = self.row[code[at + 4]]
            return text is not None and text == arena.objects[node * self.objects + code[at + 1]]
        return holds(cast("All", table.objects[code[at + 5]]), self.row, (), arena.registers(node), 1, 1)

    def _reach(self, here: i64, node: i64, state: i64, takes: bool) -> bool:
        """Write the run that another one becomes by an arc, in a state; False if its first event has led to it already.

        The run remembers the event if it `takes` it. The most frequent assignments stand here, without a call. Raises
        Exhausted if there are too many runs.
        """
        arena, code = self.arena, self.table.code
        top, trace = arena.top, self.trace
        if top >= arena.room:
            arena.reserve(top + 1)
        words, numbers, floats = arena.words, arena.numbers, self.floats
        source, target, own, to = node * self.stride, top * self.stride, node * floats, top * floats
        i: i64
        for i in range(trace):
            words[target + i] = words[source + i]
        words[target + STATE] = state
        for i in range(floats):
            numbers[to + i] = numbers[own + i]
        if self.objects > 0:
            self._copy_objects(node, top)
        position = here + code[here + LENGTH] - WORDS * code[here + UPDATES]
        while position < here + code[here + LENGTH]:
            form = code[position]
            done = False
            if words[source + NULLS] != 0:
                pass
            elif form == ADD_INTEGER:
                integer, added = words[source + FIRST + code[position + 3]], code[position + 5]
                if -SAFE < integer < SAFE and -SAFE < added < SAFE:
                    words[target + FIRST + code[position + 1]] = integer + added
                    done = True
            elif form in (ADD_EVENT, FROM_EVENT_FLOAT):
                if code[position + 5] == self.read or self._reads(code[position + 5]):
                    number = self.value
                    if form == ADD_EVENT:
                        number += numbers[own + code[position + 3]]
                    if number - number == 0.0:
                        numbers[to + code[position + 1]] = number
                        done = True
            if not done:
                self._assign(position, node, top)
            position += WORDS
        if self.latest[state] >= self.group and self._is_there(top, state):
            return False
        if top >= self.last:
            raise Exhausted
        arena.top = top + 1
        self.latest[state] = top
        target, source = target + trace, source + trace
        words[target], words[target + 1] = words[source], words[source + 1]
        if takes and self.lineage:
            words[target] = mixed(words[source], self.id, code[here + LABEL])
            words[target + 1] = arena.link(words[source + 1], self.id)
        elif takes:
            words[target + 1] = UNTRACED
        return True

    def _copy_objects(self, node: i64, top: i64) -> None:
        """Copy the registers of a run that are neither integers nor floats."""
        objects, at, to = self.arena.objects, node * self.objects, top * self.objects
        i: i64
        for i in range(self.objects):
            objects[to + i] = objects[at + i]

    def _is_there(self, top: i64, state: i64) -> bool:
        """Whether a node of the same first event is in the state with the same registers as the newest one."""
        arena = self.arena
        words, stride, other = arena.words, self.stride, self.group
        while other < top and (words[other * stride + STATE] != state or not arena.merges(other, top)):
            other += 1
        return other < top

    def _assign(self, at: i64, node: i64, top: i64) -> None:
        """Assign a register, of any kind, and in any way."""
        arena, table = self.arena, self.table
        code = table.code
        if code[at] < COMPUTATION:
            self.source.move(arena.words, arena.numbers, node * self.stride, node * self.floats)
            self.target.move(arena.words, arena.numbers, top * self.stride, top * self.floats)
            assign(code, table.numbers, at, self.source, self.target, self.row)
        elif code[at] == FROM_EVENT_OBJECT:
            arena.objects[top * self.objects + code[at + 1]] = self.row[code[at + 5]]
        else:
            term = cast("Computation", table.objects[code[at + 5]])
            value: Any = term.value(self.row, (), arena.registers(node), 1, 1)
            arena.store(top, code[at + 1], value)

    # --- arcs that take no event --------------------------------------------------------------------------------

    def _move_on(self, node: i64) -> i64:
        """Add what the newest node reaches by such arcs, unless it exists; return how many of these are results."""
        arena = self.arena
        table = self.table
        finals: i64 = 0
        at = node
        while at < arena.top:
            state = arena.words[at * self.stride + STATE]
            if state < table.final:
                for made in table.moves[state]:
                    if made.begin <= self.time < made.end:
                        size, objects = table.size, len(table.objects)
                        self._move(at, table.fill_move(made) + 1)
                        table.rewind(size, objects)
            elif at > node:
                finals += 1  # no state waits where there are such arcs
            at += 1
        return finals

    def _move(self, node: i64, here: i64) -> None:
        """Add the run that another one becomes by such an arc, unless it exists."""
        arena, table = self.arena, self.table
        if table.code[here + CLAUSES] > 0 and not self._holds(here, node):
            return
        target = table.code[here + TARGET]
        link = arena.words[node * self.stride + self.trace + 1]
        ends = self.lineage and target >= table.final and link != NONE and arena.links[2 * link + 1] != self.id
        self._reach(here, node, target, ends)  # a match has its last event
