"""Arcs that take no event: what a new node reaches by them is in its block, too.

Here: these, and conditions and updates without a form of their own. Hot where there are such arcs. Not here: arcs that
take an event (nodes).
"""

from __future__ import annotations

from typing import Any, cast, final

from mypy_extensions import i64

from ....algebra.computation import Computation
from ....algebra.predicate import All, holds
from ....events.schema import Row
from ...program.account import Exhausted
from ..trace import mixed
from .arcs import ArcTable
from .arena import NONE, STATE, Arena
from .forms import assign, related
from .operations import COMPUTATION, EVENT_INTEGER, WORDS
from .written import CLAUSES, HEAD, LABEL, LENGTH, TARGET, UPDATES


@final
class EventlessMoves:
    """`group`: the first node of the current first event in the block; `last`: where the arena ends at most."""

    def __init__(self, table: ArcTable, arena: Arena, lineage: bool) -> None:
        self.table = table
        self.arena = arena
        self.lineage = lineage
        self.group: i64 = 0
        self.last: i64 = 0

    def close(self, node: i64, time: i64, id: i64) -> i64:
        """Add what the newest node reaches by such arcs, unless it exists; return how many of these are results."""
        arena = self.arena
        table = self.table
        finals: i64 = 0
        at = node
        while at < arena.top:
            state = arena.words[at * arena.layout.stride + STATE]
            if state < table.final:
                for made in table.moves[state]:
                    if made.begin <= time < made.end:
                        size, objects = table.size, len(table.objects)
                        self._move(at, table.fill_move(made) + 1, id)
                        table.rewind(size, objects)
            elif at > node:
                finals += 1  # no state waits where there are such arcs
            at += 1
        return finals

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
                    if not condition_holds(table, arena, node, (), position):
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
                compute(table, arena, node, top, (), position)
            position += WORDS
        i = self.group
        while i < top and not arena.merges(i, top):
            i += 1
        if i < top:
            arena.top = top
            return
        if top >= self.last:
            raise Exhausted
        link = words[record + layout.link]
        if self.lineage and code[here + TARGET] >= table.final and link != NONE and arena.links[2 * link + 1] != id:
            words[record + layout.trace] = mixed(words[record + layout.trace], id, code[here + LABEL])
            words[record + layout.link] = arena.link(link, id)  # a match has its last event


def condition_holds(table: ArcTable, arena: Arena, node: i64, row: Row, at: i64) -> bool:
    """Whether a condition without a form of its own holds."""
    condition = cast("All", table.objects[table.code[at + 5]])
    return holds(condition, row, (), arena.registers(node), 1, 1)


def compute(table: ArcTable, arena: Arena, node: i64, target: i64, row: Row, at: i64) -> None:
    """Assign a register from a term without a form of its own."""
    term = cast("Computation", table.objects[table.code[at + 5]])
    value: Any = term.value(row, (), arena.registers(node), 1, 1)
    arena.store(target, table.code[at + 1], value)
