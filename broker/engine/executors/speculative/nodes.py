"""Nodes: the runs after an event. The nodes of an event are its block, which lies in the arena.

A block is in the order of the first events of its runs, and for one first event in the order of the arcs. Blocks are
replaced, never changed, so that an event that every run ignores shares the block of the previous event.

Here: computing a block from the previous one. Hot. Not here: the arena, events and their order (timeline).
"""

from __future__ import annotations

from typing import Any, Final, cast, final

from mypy_extensions import i64

from ....algebra.computation import Computation, Slots
from ....algebra.predicate import EQ, GE, GT, LE, LT, All, holds, related_floats
from ....automaton.automaton import Automaton
from ....events.schema import Row
from ...trace import mixed
from .arcs import CLAUSES, HEAD, IGNORES, LABEL, LENGTH, TARGET, UNKNOWN, UPDATES, ArcTable, Epoch
from .arena import FIRST, NONE, NULLS, ORDER, START, STATE, Arena
from .operations import (
    ADD_EVENT,
    ADD_FLOAT,
    ADD_INTEGER,
    EVENT_FLOAT,
    EVENT_INTEGER,
    EVENT_SCALED,
    EVENT_SUM,
    FLOAT_CONSTANT,
    FROM_EVENT_FLOAT,
    FROM_EVENT_INTEGER,
    INTEGER_CONSTANT,
    SET_FLOAT,
    SET_INTEGER,
    WORDS,
)

INTEGER_MAX: Final = 9223372036854775807
UNTRACED: Final = 0  # the link of a run that has taken an event, where lineage is off


@final
class Stepper:
    """Computes the block of one event.

    `made`: the number of nodes so far; `most`: the nodes of the largest block; `finals`: those of the last block that
    are results. `within`: how long a run lives; `lineage`: whether runs remember their events.
    """

    def __init__(self, table: ArcTable, arena: Arena, automaton: Automaton, within: i64, lineage: bool) -> None:
        self.table = table
        self.arena = arena
        self.within = within
        self.lineage = lineage
        self.made: i64 = 0
        self.most: i64 = 0
        self.finals: i64 = 0
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
        stride = arena.layout.stride
        self.finals = 0
        roots: i64 = 0
        begins: i64 = 0
        if whole:
            arena.words[START] = time
            arena.words[ORDER] = order
            if table.moving and len(table.moves[0]) > 0:
                begins = arena.top
                self._group = begins
                arena.copy(0, 1)
                self._close(begins, time, id, False)
                roots = arena.top - begins
        first = arena.top
        words = arena.words
        alive = time - self.within
        start: i64 = 0
        ordinal: i64 = -1
        self._group = first
        i: i64
        for i in range(before, upto):
            at = i * stride
            if words[at] <= alive or words[at + STATE] >= table.final:
                continue
            if words[at] != start or words[at + ORDER] != ordinal:
                self._group = arena.top
                start, ordinal = words[at], words[at + ORDER]
            self._step(i, row, epoch, klass, time, id)
            words = arena.words
        if whole:
            self._group = arena.top
            if roots == 0:
                self._step(0, row, epoch, klass, time, id)
            for i in range(begins, begins + roots):
                if arena.words[i * stride + STATE] < table.final:
                    self._step(i, row, epoch, klass, time, id)
        count = arena.top - first
        self.made += count
        if count > self.most:
            self.most = count
        return count

    def _step(self, node: i64, row: Row, epoch: Epoch, klass: i64, time: i64, id: i64) -> None:
        """Take each arc that a run can take."""
        arena = self.arena
        table = self.table
        layout = arena.layout
        stride = layout.stride
        words = arena.words
        source = node * stride
        state = words[source + STATE]
        at = epoch.offsets[state * table.room + klass]
        if at == UNKNOWN:
            at = table.fill(table.enter(time), state, klass)
        code = table.code
        left = code[at]
        at += 1
        i: i64
        while left > 0:
            left -= 1
            here = at
            at += code[at + LENGTH]
            position = here + HEAD
            clauses = code[here + CLAUSES]
            if clauses > 0:
                position = self._holding(node, row, position, clauses)
                if position < 0:
                    continue
            top = arena.top
            if top >= arena.room:
                arena.reserve(top + 1)
                words = arena.words
            target = top * stride
            for i in range(stride):
                words[target + i] = words[source + i]
            if layout.floats > 0:
                numbers = arena.numbers
                for i in range(layout.floats):
                    numbers[top * layout.floats + i] = numbers[node * layout.floats + i]
            for i in range(layout.objects):
                arena.objects[top * layout.objects + i] = arena.objects[node * layout.objects + i]
            if code[here + IGNORES] == 0 or words[source + layout.link] == NONE:
                words[target + STATE] = code[here + TARGET]
                if code[here + UPDATES] > 0:
                    self._update(node, top, row, at, code[here + UPDATES])
                if self._known(top):
                    continue
                if self.lineage:
                    words[target + layout.trace] = mixed(words[target + layout.trace], id, code[here + LABEL])
                    words[target + layout.link] = arena.link(words[source + layout.link], id)
                else:
                    words[target + layout.link] = UNTRACED
            elif self._known(top):
                continue
            arena.top = top + 1
            if code[here + TARGET] >= table.final:
                self.finals += 1
            elif table.moving:
                self._close(top, time, id, True)
                words = arena.words

    def _known(self, node: i64) -> bool:
        """Whether the node is one of those before it that have its first event."""
        arena = self.arena
        i = self._group
        while i < node and not arena.merges(i, node):
            i += 1
        return i < node

    # --- conditions and updates ---------------------------------------------------------------------------------

    def _holding(self, node: i64, row: Row, at: i64, clauses: i64) -> i64:
        """Not negative if one of the clauses there holds."""
        code = self.table.code
        while clauses > 0:
            clauses -= 1
            atoms = code[at]
            at += 1
            behind = at + WORDS * atoms
            while atoms > 0 and self._holds(node, row, at):
                atoms -= 1
                at += WORDS
            if atoms == 0:
                return at
            at = behind
        return -1

    def _holds(self, node: i64, row: Row, at: i64) -> bool:
        table = self.table
        code = table.code
        arena = self.arena
        layout = arena.layout
        form = code[at]
        if form > EVENT_INTEGER:
            condition = cast(All, table.objects[code[at + 5]])
            return holds(condition, row, (), arena.registers(node), 1, 1)
        record = node * layout.stride
        if arena.words[record + NULLS] & code[at + 2]:
            return False
        operator: int = code[at + 3]
        if form == INTEGER_CONSTANT:
            added = code[at + 4]
            integer = arena.words[record + FIRST + code[at + 1]]
            if added > 0:
                if integer > INTEGER_MAX - added:
                    return False
            elif integer < -INTEGER_MAX - 1 - added:
                return False
            return related_integers(operator, integer + added, code[at + 5])
        if form == EVENT_INTEGER:
            given = row[code[at + 4]]
            if given is None:
                return False
            return related_integers(operator, cast(i64, given), arena.words[record + FIRST + code[at + 1]])
        number = arena.numbers[node * layout.floats + code[at + 1]]
        if form == FLOAT_CONSTANT:
            return related_floats(operator, number, table.numbers[at + 5])
        value = row[code[at + 4]]
        if value is None:
            return False
        event = cast(float, value)
        if form == EVENT_FLOAT:
            return related_floats(operator, event, number)
        if form == EVENT_SUM:
            number = number + event
            return number - number == 0.0 and related_floats(operator, number, table.numbers[at + 5])
        assert form == EVENT_SCALED
        number = number * table.numbers[at + 5]
        return number - number == 0.0 and related_floats(operator, event, number)

    def _update(self, node: i64, target: i64, row: Row, end: i64, count: i64) -> None:
        """Assign the registers of `target`, computed from those of `node`, by the operations before `end`."""
        table = self.table
        code = table.code
        arena = self.arena
        layout = arena.layout
        words = arena.words
        source, record = node * layout.stride, target * layout.stride
        at = end - WORDS * count
        while at < end:
            form, place, bit = code[at], code[at + 1], code[at + 2]
            if form == ADD_INTEGER:
                added = code[at + 5]
                integer = words[source + FIRST + code[at + 3]]
                if words[source + NULLS] & code[at + 4] or (
                    integer > INTEGER_MAX - added if added > 0 else integer < -INTEGER_MAX - 1 - added
                ):
                    words[record + NULLS] = words[record + NULLS] | bit
                    words[record + FIRST + place] = 0
                else:
                    words[record + NULLS] = words[record + NULLS] & ~bit
                    words[record + FIRST + place] = integer + added
            elif form == SET_INTEGER:
                words[record + NULLS] = words[record + NULLS] & ~bit
                words[record + FIRST + place] = code[at + 5]
            elif form == FROM_EVENT_INTEGER:
                given = row[code[at + 5]]
                if given is None:
                    words[record + NULLS] = words[record + NULLS] | bit
                    words[record + FIRST + place] = 0
                else:
                    words[record + NULLS] = words[record + NULLS] & ~bit
                    words[record + FIRST + place] = cast("i64", given)
            elif form <= SET_FLOAT or form == ADD_FLOAT:
                self._update_float(source, record, node * layout.floats, target * layout.floats + place, row, at)
            else:
                term = cast(Computation, table.objects[code[at + 5]])
                value: Any = term.value(row, (), arena.registers(node), 1, 1)
                arena.store(target, place, value)
            at += WORDS

    def _update_float(self, source: i64, record: i64, before: i64, place: i64, row: Row, at: i64) -> None:
        code = self.table.code
        words = self.arena.words
        numbers = self.arena.numbers
        form, bit = code[at], code[at + 2]
        number = 0.0
        known = True
        if form in (ADD_EVENT, ADD_FLOAT):
            known = words[source + NULLS] & code[at + 4] == 0
            number = numbers[before + code[at + 3]]
        if form == SET_FLOAT:
            number = self.table.numbers[at + 5]
        elif form == ADD_FLOAT:
            number = number + self.table.numbers[at + 5]
        else:
            value = row[code[at + 5]]
            if value is None:
                known = False
            elif form == FROM_EVENT_FLOAT:
                number = cast(float, value)
            else:
                number = number + cast(float, value)
        if known and number - number == 0.0:
            words[record + NULLS] = words[record + NULLS] & ~bit
            numbers[place] = number
        else:
            words[record + NULLS] = words[record + NULLS] | bit
            numbers[place] = 0.0

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
                self.finals += 1
            at += 1

    def _move(self, node: i64, here: i64, id: i64) -> None:
        arena = self.arena
        table = self.table
        layout = arena.layout
        code = table.code
        if code[here + CLAUSES] > 0 and self._holding(node, (), here + HEAD, code[here + CLAUSES]) < 0:
            return
        arena.copy(node, 1)
        top = arena.top - 1
        words = arena.words
        record = top * layout.stride
        words[record + STATE] = code[here + TARGET]
        if code[here + UPDATES] > 0:
            self._update(node, top, (), here + code[here + LENGTH], code[here + UPDATES])
        if self._known(top):
            arena.top = top
            return
        link = words[record + layout.link]
        if self.lineage and code[here + TARGET] >= table.final and link != NONE and arena.links[2 * link + 1] != id:
            words[record + layout.trace] = mixed(words[record + layout.trace], id, code[here + LABEL])
            words[record + layout.link] = arena.link(link, id)  # a match has its last event


def related_integers(operator: int, a: i64, b: i64) -> bool:
    """Return `a operator b`."""
    if operator == GT:
        return a > b
    if operator == LT:
        return a < b
    if operator == EQ:
        return a == b
    if operator == GE:
        return a >= b
    if operator == LE:
        return a <= b
    return a != b
