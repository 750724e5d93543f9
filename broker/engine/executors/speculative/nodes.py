"""Nodes: the runs after an event. The nodes of an event are its block, which lies in the arena.

A block is in the order of the first events of its runs, and for one first event in the order of the arcs. Blocks are
replaced, never changed, so that an event that every run ignores shares the block of the previous event.

Here: computing a block from the previous one. Hot. Not here: the arena, events and their order (timeline).
"""

from __future__ import annotations

from typing import Final, cast, final

from mypy_extensions import i64

from ....algebra.comparisons import related_floats, related_integers
from ....algebra.computation import Slots
from ....automaton.automaton import Automaton
from ....events.schema import Row
from ...program.account import Exhausted
from ..packed import Integers
from ..trace import mixed
from .arcs import UNKNOWN, ArcTable, Epoch
from .arena import FIRST, NONE, NULLS, ORDER, START, STATE, Arena, marks, unknowns
from .forms import assign, related
from .moves import EventlessMoves, compute, condition_holds
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
        self.moves = EventlessMoves(table, arena, lineage)
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
        begins: i64 = 0
        roots: i64 = 0
        if whole:
            arena.words[START] = time
            arena.words[ORDER] = order
            roots = 1
            if table.moving and len(table.moves[0]) > 0:
                begins = arena.top
                self.moves.group = begins
                self.moves.last = begins + self.runs_max
                arena.copy(0, 1)
                self.moves.close(begins, time, id)
                roots = arena.top - begins
        first = arena.top
        self.finals = 0
        self._steps(before, upto - before, begins, roots, row, epoch, klass, time, id)
        count = arena.top - first
        self.made += count
        if count > self.most:
            self.most = count
        return count

    def _steps(
        self, before: i64, count: i64, begins: i64, roots: i64, row: Row, epoch: Epoch, klass: i64, time: i64, id: i64
    ) -> None:
        """Take each arc that each of the `count` runs from `before` on and then the `roots` from `begins` on can take.

        Columns are fetched again wherever they may have grown.
        """
        arena = self.arena
        table = self.table
        layout = arena.layout
        stride, floats, objects = layout.stride, layout.floats, layout.objects
        trace, link = layout.trace, layout.link
        lineage, moving = self.lineage, table.moving
        marked, latest = self.marked, self.latest
        alive = time - self.within
        offsets, room = epoch.offsets, table.room
        code, constants = table.code, table.numbers
        words, numbers = arena.words, arena.numbers
        links, linked = arena.links, arena.linked
        last = arena.top + self.runs_max
        top = arena.top
        group = top
        finals: i64 = 0
        start: i64 = 0
        ordinal: i64 = -1
        read: i64 = -1  # the attribute of the event that was read last, and its value
        value: float = 0.0
        i: i64
        for i in range(count + roots):
            node = before + i if i < count else begins + i - count
            source = node * stride
            state = words[source + STATE]
            begun = words[source]
            if begun <= alive or marked[state] == 1:
                continue
            if begun != start or words[source + ORDER] != ordinal:
                group = top
                start, ordinal = begun, words[source + ORDER]
            at = offsets[state * room + klass]
            if at == UNKNOWN:
                at = table.fill(epoch, state, klass)
                epoch = table.enter(time)
                offsets, room = epoch.offsets, table.room
                code, constants = table.code, table.numbers
            left = code[at]
            if left == 0:
                continue
            nulls = words[source + NULLS]
            own = node * floats
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
                        # The most frequent ones without a call.
                        form = code[position]
                        if form == INTEGER_CONSTANT:
                            integer = words[source + FIRST + code[position + 1]]
                            added = code[position + 4]
                            if nulls & code[position + 2] != 0:
                                break
                            if not -SAFE < integer < SAFE or not -SAFE < added < SAFE:
                                if not related(code, constants, position, words, numbers, source, own, row):
                                    break
                            elif not related_integers(code[position + 3], integer + added, code[position + 5]):
                                break
                        elif form in (EVENT_SUM, EVENT_FLOAT):
                            if code[position + 4] != read:
                                given = row[code[position + 4]]
                                if given is None:
                                    break
                                read, value = code[position + 4], cast("float", given)
                            number = numbers[own + code[position + 1]]
                            if nulls & code[position + 2] != 0:
                                break
                            if form == EVENT_FLOAT:
                                if not related_floats(code[position + 3], value, number):
                                    break
                            else:
                                number += value
                                if not related_floats(code[position + 3], number, constants[position + 5]):
                                    break
                                if number - number != 0.0:
                                    break
                        elif form == EVENT_TEXT:
                            text = row[code[position + 4]]
                            if text is None or text != arena.objects[node * objects + code[position + 1]]:
                                break
                        elif form <= EVENT_INTEGER:
                            if not related(code, constants, position, words, numbers, source, own, row):
                                break
                        elif not condition_holds(table, arena, node, row, position):
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
                to = top * floats
                j: i64
                words[target] = begun
                words[target + ORDER] = ordinal
                words[target + STATE] = state
                words[target + NULLS] = nulls
                for j in range(FIRST, trace):
                    words[target + j] = words[source + j]
                for j in range(floats):
                    numbers[to + j] = numbers[own + j]
                for j in range(objects):
                    arena.objects[top * objects + j] = arena.objects[node * objects + j]
                takes = code[here + IGNORES] == 0 or words[source + link] == NONE
                if takes:
                    words[target + STATE] = code[here + TARGET]
                position = at - WORDS * code[here + UPDATES]
                while position < at:
                    form = code[position]
                    done = False
                    if nulls != 0:
                        pass
                    elif form == ADD_INTEGER:
                        integer, added = words[source + FIRST + code[position + 3]], code[position + 5]
                        if -SAFE < integer < SAFE and -SAFE < added < SAFE:
                            words[target + FIRST + code[position + 1]] = integer + added
                            done = True
                    elif form in (ADD_EVENT, FROM_EVENT_FLOAT):
                        if code[position + 5] != read:
                            given = row[code[position + 5]]
                            if given is not None:
                                read, value = code[position + 5], float(cast("float", given))
                        if code[position + 5] == read:
                            number = value
                            if form == ADD_EVENT:
                                number += numbers[own + code[position + 3]]
                            if number - number == 0.0:
                                numbers[to + code[position + 1]] = number
                                done = True
                    if done:
                        pass
                    elif form == FROM_EVENT_OBJECT:
                        arena.objects[top * objects + code[position + 1]] = row[code[position + 5]]
                    elif form < COMPUTATION:
                        assign(
                            code, constants, position, words, numbers, source, own, words, numbers, target, to, row
                        )  # fmt: skip
                    else:
                        compute(table, arena, node, top, row, position)
                    position += WORDS
                reached = words[target + STATE]
                other = top if latest[reached] < group and not moving else group
                while other < top and (words[other * stride + STATE] != reached or not arena.merges(other, top)):
                    other += 1
                if other < top:
                    continue
                if top >= last:
                    raise Exhausted
                words[target + trace], words[target + link] = words[source + trace], words[source + link]
                if takes:
                    if lineage:
                        words[target + trace] = mixed(words[source + trace], id, code[here + LABEL])
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
                latest[reached] = top
                top += 1
                if marked[code[here + TARGET]] == 1:
                    finals += 1
                elif moving:
                    arena.top, arena.linked = top, linked
                    self.moves.group, self.moves.last = group, last
                    finals += self.moves.close(top - 1, time, id)
                    top, linked = arena.top, arena.linked
                    links = arena.links
                    code, constants = table.code, table.numbers
                    words, numbers = arena.words, arena.numbers
        arena.top, arena.linked = top, linked
        self.finals += finals
