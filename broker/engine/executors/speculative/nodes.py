"""Nodes: the runs after an event. The nodes of an event are its block, which lies in the arena.

A block is in the order of the first events of its runs, and for one first event in the order of the arcs. Blocks are
replaced, never changed, so that an event that every run ignores shares the block of the previous event.

Here: computing a block from the previous one. Hot. Not here: the arena, events and their order (timeline).
"""

from __future__ import annotations

from typing import Any, Final, cast, final

from mypy_extensions import i64

from ....algebra.computation import Computation, Slots
from ....algebra.predicate import All, holds
from ....automaton.automaton import Automaton
from ....events.schema import Row
from ...program.account import Exhausted
from ..packed import Integers
from ..trace import mixed
from .arcs import UNKNOWN, ArcTable, Epoch
from .arena import FIRST, NONE, NULLS, ORDER, START, STATE, Arena, marks
from .forms import assign, related, related_integers
from .operations import ADD_INTEGER, COMPUTATION, EVENT_INTEGER, INTEGER_CONSTANT, WORDS
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
        self, table: ArcTable, arena: Arena, automaton: Automaton, within: i64, lineage: bool, waiting: list[int],
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
        self.made: i64 = 0
        self.met: i64 = 0  # runs that wait and events that have met
        self.most: i64 = 0
        self.finals: i64 = 0
        self._last: i64 = 0  # where the arena ends at most
        self._group: i64 = 0  # the first node of the current first event in the block
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
        epoch = table.enter(time)
        self.finals = 0
        begins: i64 = 0
        roots: i64 = 1
        if whole:
            arena.words[START] = time
            arena.words[ORDER] = order
            if table.moving and len(table.moves[0]) > 0:
                begins = arena.top
                self._group = begins
                self._last = begins + self.runs_max
                arena.copy(0, 1)
                self._close(begins, time, id, False)
                roots = arena.top - begins
        first = arena.top
        self._last = first + self.runs_max
        if upto > before:
            self._steps(before, upto, row, epoch, klass, time, id)
        if whole:
            self._steps(begins, begins + roots, row, epoch, klass, time, id)
        count = arena.top - first
        self.made += count
        if count > self.most:
            self.most = count
        return count

    def _steps(self, first: i64, upto: i64, row: Row, epoch: Epoch, klass: i64, time: i64, id: i64) -> None:
        """Take each arc that each of these runs can take. Columns are fetched again wherever they may have grown."""
        arena = self.arena
        table = self.table
        layout = arena.layout
        stride, floats, objects = layout.stride, layout.floats, layout.objects
        trace, link = layout.trace, layout.link
        lineage, moving = self.lineage, table.moving
        marked = self.marked
        alive = time - self.within
        offsets, room = epoch.offsets, table.room
        code, constants = table.code, table.numbers
        words, numbers = arena.words, arena.numbers
        links, linked = arena.links, arena.linked
        last = self._last
        top = arena.top
        group = top
        finals: i64 = 0
        start: i64 = 0
        ordinal: i64 = -1
        node: i64
        i: i64
        for node in range(first, upto):
            source = node * stride
            state = words[source + STATE]
            if words[source] <= alive or marked[state] == 1:
                continue
            if words[source] != start or words[source + ORDER] != ordinal:
                group = top
                start, ordinal = words[source], words[source + ORDER]
            at = offsets[state * room + klass]
            if at == UNKNOWN:
                at = table.fill(epoch, state, klass)
                epoch = table.enter(time)
                offsets, room = epoch.offsets, table.room
                code, constants = table.code, table.numbers
            left = code[at]
            at += 1
            while left > 0:
                left -= 1
                here = at
                at += code[at + LENGTH]
                position = here + HEAD
                clauses = code[here + CLAUSES]
                while clauses > 0:
                    clauses -= 1
                    atoms = code[position]
                    position += 1
                    behind = position + WORDS * atoms
                    while atoms > 0:
                        if code[position] == INTEGER_CONSTANT:  # the most frequent one without a call
                            integer = words[source + FIRST + code[position + 1]]
                            added = code[position + 4]
                            if words[source + NULLS] & code[position + 2] != 0:
                                break
                            if not -SAFE < integer < SAFE or not -SAFE < added < SAFE:
                                if not related(code, constants, position, words, numbers, source, node * floats, row):
                                    break
                            elif not related_integers(code[position + 3], integer + added, code[position + 5]):
                                break
                        elif code[position] <= EVENT_INTEGER:
                            if not related(code, constants, position, words, numbers, source, node * floats, row):
                                break
                        elif not self._holds(node, row, position):
                            break
                        atoms -= 1
                        position += WORDS
                    if atoms == 0:
                        clauses = -1  # this one holds
                    elif clauses == 0:
                        clauses = -2  # none does
                    position = behind
                if clauses == -2:
                    continue
                if top >= arena.room:
                    arena.reserve(top + 1)
                    words, numbers = arena.words, arena.numbers
                target = top * stride
                for i in range(stride):
                    words[target + i] = words[source + i]
                for i in range(floats):
                    numbers[top * floats + i] = numbers[node * floats + i]
                for i in range(objects):
                    arena.objects[top * objects + i] = arena.objects[node * objects + i]
                takes = code[here + IGNORES] == 0 or words[source + link] == NONE
                if takes:
                    words[target + STATE] = code[here + TARGET]
                    position = at - WORDS * code[here + UPDATES]
                    while position < at:
                        integer = words[source + FIRST + code[position + 3]] if code[position] == ADD_INTEGER else SAFE
                        added = code[position + 5]
                        if -SAFE < integer < SAFE and -SAFE < added < SAFE and words[source + NULLS] == 0:
                            words[target + FIRST + code[position + 1]] = integer + added
                            words[target + NULLS] = words[target + NULLS] & ~code[position + 2]
                        elif code[position] < COMPUTATION:
                            assign(
                                code, constants, position, words, numbers, source, node * floats, words, numbers,
                                target, top * floats, row,
                            )  # fmt: skip
                        else:
                            self._compute(node, top, row, position)
                        position += WORDS
                i = group
                while i < top and (words[i * stride + STATE] != words[target + STATE] or not arena.merges(i, top)):
                    i += 1
                if i < top:
                    continue
                if top >= last:
                    raise Exhausted
                if takes:
                    if lineage:
                        words[target + trace] = mixed(words[target + trace], id, code[here + LABEL])
                        if 2 * linked + 2 > len(links):
                            arena.linked = linked
                            arena.reserve_links(1)
                            links = arena.links
                        links[2 * linked] = words[source + link]
                        links[2 * linked + 1] = id
                        words[target + link] = linked
                        linked += 1
                    else:
                        words[target + link] = UNTRACED
                top += 1
                if marked[code[here + TARGET]] == 1:
                    finals += 1
                elif moving:
                    arena.top, arena.linked = top, linked
                    self._group = group
                    self._close(top - 1, time, id, True)
                    top, linked = arena.top, arena.linked
                    links = arena.links
                    code, constants = table.code, table.numbers
                    words, numbers = arena.words, arena.numbers
        arena.top, arena.linked = top, linked
        self.finals += finals

    def _holds(self, node: i64, row: Row, at: i64) -> bool:
        """Whether a condition without a form of its own holds."""
        condition = cast("All", self.table.objects[self.table.code[at + 5]])
        return holds(condition, row, (), self.arena.registers(node), 1, 1)

    def _compute(self, node: i64, target: i64, row: Row, at: i64) -> None:
        """Assign a register from a term without a form of its own."""
        code = self.table.code
        term = cast("Computation", self.table.objects[code[at + 5]])
        value: Any = term.value(row, (), self.arena.registers(node), 1, 1)
        self.arena.store(target, code[at + 1], value)

    # --- arcs without event -------------------------------------------------------------------------------------

    def _close(self, node: i64, time: i64, id: i64, count: bool) -> None:
        """Add what the newest node reaches by arcs that take no event, unless it exists."""
        arena = self.arena
        table = self.table
        layout = arena.layout
        at = node
        while at < arena.top:
            state = arena.words[at * layout.stride + STATE]
            if state < table.final:
                for made in table.moves[state]:
                    if made.begin <= time < made.end:
                        size = table.size
                        here = table.fill_move(made) + 1
                        self._move(at, here, id)
                        table.rewind(size)
            elif count and at > node:
                self.finals += 1  # no state waits where there are such arcs
            at += 1

    def _move(self, node: i64, here: i64, id: i64) -> None:
        arena = self.arena
        table = self.table
        layout = arena.layout
        code, constants = table.code, table.numbers
        position = here + HEAD
        clauses = code[here + CLAUSES]
        holding = clauses == 0
        floats = layout.floats
        while clauses > 0:
            clauses -= 1
            atoms = code[position]
            position += 1
            behind = position + WORDS * atoms
            while atoms > 0:
                if code[position] > EVENT_INTEGER:
                    if not self._holds(node, (), position):
                        break
                elif not related(
                    code, constants, position, arena.words, arena.numbers, node * layout.stride, node * floats, ()
                ):
                    break
                atoms -= 1
                position += WORDS
            if atoms == 0:
                holding = True
            position = behind
        if not holding:
            return
        arena.copy(node, 1)
        top = arena.top - 1
        words, numbers = arena.words, arena.numbers
        record = top * layout.stride
        words[record + STATE] = code[here + TARGET]
        end = here + code[here + LENGTH]
        position = end - WORDS * code[here + UPDATES]
        while position < end:
            if code[position] < COMPUTATION:
                source = node * layout.stride
                assign(
                    code, constants, position, words, numbers, source, node * floats, words, numbers, record,
                    top * floats, (),
                )  # fmt: skip
            else:
                self._compute(node, top, (), position)
            position += WORDS
        i = self._group
        while i < top and not arena.merges(i, top):
            i += 1
        if i < top:
            arena.top = top
            return
        if top >= self._last:
            raise Exhausted
        link = words[record + layout.link]
        if self.lineage and code[here + TARGET] >= table.final and link != NONE and arena.links[2 * link + 1] != id:
            words[record + layout.trace] = mixed(words[record + layout.trace], id, code[here + LABEL])
            words[record + layout.link] = arena.link(link, id)  # a match has its last event
