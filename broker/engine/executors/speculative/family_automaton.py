"""The automaton that stands for all automata of a family: each constant is the loosest one of the members, and a
register has the value that was compared with it, by which the members of a result are found.

A loop compares a value with its constants as often as it is taken. Its register has the value that is hardest to
satisfy, and runs go on only with events of the text that the first of them had.

Here: that automaton. Not here: whose a result is (families), where constants may be (constants).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ....algebra.terms import Comparison, Constant, Register, Term
from ....automaton.automaton import Arc, Automaton, Carry, Computed, SlotSource
from ....events.schema import Attribute as Column
from ....events.schema import Schema
from .constants import FINAL, LOOP, START, PlacedConstant, with_any_text, with_constant

GREATEST: Final = sys.float_info.max
NO_FLAG: Final = -1
REGISTER: Final = "_reach"  # no text can declare it: they are added behind all others


def family_automaton(
    automaton: Automaton, known: Sequence[PlacedConstant], loosest: Sequence[float], parted: bool
) -> Automaton:
    """The automaton with the loosest constants, and behind its registers one for each, in that order. If a loop has a
    text, one more says whether it was taken. O(arcs x constants).

    `parted`: the number of the loop is that of the last arc, too, so that a value which ends runs is beyond all with
    which they turned.
    """
    first = len(automaton.initial)
    loops = [(first + at, each) for at, each in enumerate(known) if each.loops]
    flag = first + len(known) if any(each.textual for _, each in loops) else NO_FLAG
    told = _beyond(automaton, loops, next(each for each in known if each.place == FINAL)) if parted else []
    arcs: list[Arc] = []
    for number, arc in enumerate(automaton.arcs):
        looser = arc
        for each, constant in zip(known, loosest):
            if each.arc == number:
                at = each.atom
                looser = with_any_text(looser, at) if each.textual else with_constant(looser, at, constant)
        kept: list[SlotSource] = [
            Computed(_read(arc, each)) if each.arc == number and not each.loops else Carry(slot)
            for slot, each in enumerate(known, first)
        ]
        if flag != NO_FLAG:
            kept.append(Carry(flag))
        looser = looser.with_terms(looser.guard, (*arc.update, *kept), arc.output)
        if told and arc.target == automaton.final and arc.guard:
            looser = _with(looser, told, {})
        arcs += _turns(looser, arc, loops, flag) if loops and loops[0][1].arc == number else [looser]
    columns = [Column(f"{REGISTER}{at}", "string" if each.textual else "float") for at, each in enumerate(known)]
    initial = [_before(each) for each in known]
    if flag != NO_FLAG:
        columns.append(Column(f"{REGISTER}{len(known)}", "int"))
        initial.append(0)
    schema = Schema((*automaton.schema.attributes, *columns))
    return replace(automaton, arcs=tuple(arcs), schema=schema, initial=(*automaton.initial, *initial))


def _before(place: PlacedConstant) -> str | float | int | None:
    """No run is anybody's before the arc of START, or has a result before that of FINAL. Before a loop is taken, a run
    may be any member's."""
    if place.textual or place.role in (START, FINAL):
        return None if place.textual else 0.0
    return place.sign * (math.inf if place.loops else GREATEST)


def _read(arc: Arc, place: PlacedConstant) -> Term:
    return arc.guard[0][place.atom].left


def _turns(arc: Arc, before: Arc, loops: list[tuple[int, PlacedConstant]], flag: int) -> list[Arc]:
    """The loop as several, of which a run takes one at most: the first, and for each number one in which it is harder
    than before and one in which it is not.

    `before`: with the constants of a text; `flag`: the register that says whether it was taken.
    """
    again: list[Comparison] = []
    notes: dict[int, Computed] = {}
    for slot, each in loops:
        read = _read(before, each)
        notes[slot] = Computed(read, True)
        if each.textual:
            again += [_flagged(flag, 1), Comparison("=", read, Register(slot, -1, "string"))]
    turns: list[tuple[list[Comparison], dict[int, Computed]]] = [(again, {})]
    for slot, each in loops:
        if not each.textual:
            harder = Comparison("<" if each.sign > 0 else ">", _read(before, each), Register(slot, -1, "float"))
            easier = replace(harder, operator=">=" if each.sign > 0 else "<=")
            turns = [
                turn
                for asked, noted in turns
                for turn in (([*asked, harder], noted | {slot: notes[slot]}), ([*asked, easier], noted))
            ]
    found = [_with(arc, asked, noted) for asked, noted in turns]
    if flag == NO_FLAG:
        return found
    first = _with(arc, [_flagged(flag, 0)], notes | {flag: Computed(Constant(1, "int"), True)})
    return [first, *found]


def _beyond(automaton: Automaton, loops: list[tuple[int, PlacedConstant]], end: PlacedConstant) -> list[Comparison]:
    """That the last arc's value is beyond those of a loop, if they compare one attribute from both sides."""
    slot, turn = next((slot, each) for slot, each in loops if each.place == LOOP)
    read = _read(automaton.arcs[end.arc], end)
    if end.sign == turn.sign or read != _read(automaton.arcs[turn.arc], turn):
        return []
    return [Comparison("<=" if turn.sign > 0 else ">=", read, Register(slot, -1, "float"))]


def _flagged(flag: int, taken: int) -> Comparison:
    return Comparison("=", Register(flag, -1, "int"), Constant(taken, "int"))


def _with(arc: Arc, atoms: list[Comparison], notes: dict[int, Computed]) -> Arc:
    """The arc with these conditions in its only clause as well, and these notes."""
    update = tuple([notes.get(slot, source) for slot, source in enumerate(arc.update)])
    return arc.with_terms(((*arc.guard[0], *atoms),), update, arc.output)
