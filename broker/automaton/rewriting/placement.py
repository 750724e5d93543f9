"""placement: what every way out of a state asks of the registers alone is asked by the arcs into the state.

So it is with conditions of an outer FILTER on earlier events, and with what follows from theta and equalities: theta
`name = $.name` and guard `name = 'S1'` ask the first event for `name = 'S1'`. The atoms then follow from facts, and
`implied` removes them where they were.

Sound for matches: a run that enters the state without the atom p never leaves it, if no LOOP changes what p reads. Not
letting it in changes no match if it changes nothing else: at the start, where each event begins its own run; or where
the state before stays by ALL, NONE, FOREIGN or FAILING, which do not depend on whether the arc is taken. With UNTAKEN
the run would wait for a later event that satisfies p, which is another match; so it may be where an arc peeks. p reads
neither the event, which decides where a run ends and not where it waits, nor DUR. Functions stay where only
candidates are asked, unless the other conditions of the arc find its events.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...algebra.guard import Join
from ...algebra.normal_form import Form, canonical, key, narrowed, reordered
from ...algebra.terms import (
    Arithmetic,
    Attribute,
    Comparison,
    Constant,
    Function,
    LiteralUsed,
    Register,
    Side,
    Term,
    walk,
)
from ..automaton import TAKING, Arc, Automaton, BoundRow, Carry, Computed, EventRow, Kind, Stay, TimeModel
from .facts import LAST, Facts
from .known import KnownAtoms, reads_run
from .rule import Rewritten

INLINED_MAX: Final = 64  # the parts of an atom after what it reads of computed values was put into it


def placement(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> shown(placement, cel("SELECT * FROM FILTER{price_1 > 5}(Stock NEXT{$2.name = $1.name} Stock)"))
    ['price > 5', 'name = $.name', '$.price > 5']
    """
    count = 0
    arcs = list(automaton.arcs)
    for state in range(len(automaton.states) - 1, 0, -1):
        into = [at for at, arc in enumerate(arcs) if arc.target == state and arc.kind is not Kind.KILL]
        entering = [at for at in into if arcs[at].source != state]
        loops = [arcs[at] for at in into if arcs[at].source == state]
        if not entering or not all(_independent(automaton, arcs[at]) for at in entering):
            continue
        moving: list[Comparison] = []
        for atom in _asked(automaton, facts, state):
            if KnownAtoms([*facts.by_state[state], *moving]).implies(atom):
                continue
            if not all(carries(loop, atom) for loop in loops):
                continue
            moved = [_before(arcs[at], atom) for at in entering]
            if any(each is None or not _cheap(arcs[at], each) for at, each in zip(entering, moved)):
                continue
            moving.append(atom)
            for at, each in zip(entering, moved):
                if each is not None and (changed := _asking(automaton, arcs[at], each)) != arcs[at]:
                    arcs[at] = changed
                    count += 1
    return (replace(automaton, arcs=tuple(arcs)) if count else automaton), count


def _independent(automaton: Automaton, arc: Arc) -> bool:
    """Whether a run that does not take the arc goes on as if it had."""
    if arc.kind is not Kind.FORWARD or any(a.peeks for a in automaton.arcs if a.source == arc.source):
        return False
    return arc.source == 0 or automaton.states[arc.source].stay is not Stay.UNTAKEN


def _asked(automaton: Automaton, facts: Facts, state: int) -> list[Comparison]:
    """The atoms over registers that all ways out of a state want. One that follows from another may move where that one
    may not."""
    ways = [a for a in automaton.arcs if a.source == state and a.kind not in (Kind.LOOP, Kind.KILL)]
    if not ways or any(way.peeks or not way.guard for way in ways):
        return []
    wanted = [KnownAtoms(facts.taken(way)) for way in ways]
    if any(known.contradicts() for known in wanted):
        return []  # no run takes this way; from a contradiction any atom would follow
    return [
        atom
        for atom in sorted(wanted[0].atoms, key=key)
        if reads_run(atom) and atom.left != atom.right and all(other.implies(atom) for other in wanted[1:])
    ]


def carries(loop: Arc, atom: Comparison) -> bool:
    """Whether a loop leaves all registers of an atom as they are."""
    slots = [part.slot for part in walk(atom) if isinstance(part, Register)]
    return all(slot >= 0 and slot < len(loop.update) and loop.update[slot] == Carry(slot) for slot in slots)


def _before(arc: Arc, atom: Comparison) -> Comparison | None:
    """The atom as it is before an arc fills the registers; None if it has no such form."""
    left, right = _preimage(arc, atom.left), _preimage(arc, atom.right)
    if left is None or right is None:
        return None
    try:
        found = canonical(Comparison(atom.operator, left, right))
    except LiteralUsed:  # by constants that meet, which then may stay apart
        return None
    return found if isinstance(found, Comparison) and len(list(walk(found))) <= INLINED_MAX else None


def _preimage(arc: Arc, term: Term) -> Term | None:
    match term:
        case Constant():
            return term
        case Register(slot, position):
            source = EventRow() if slot == LAST else arc.update[slot] if slot < len(arc.update) else None
            if slot == LAST and arc.kind not in TAKING:
                return term
            match source:
                case EventRow() if position >= 0:
                    return Attribute(Side.EVENT, position, term.type, term.name, term.nullable)
                case BoundRow():
                    return Register(LAST, position, term.type, term.name, term.nullable)
                case Carry(before):
                    return Register(before, position, term.type, term.name, term.nullable)
                case Computed(computed) if position < 0:
                    return computed
                case _:
                    return None
        case Arithmetic(operator, left, right, type_):
            one, other = _preimage(arc, left), _preimage(arc, right)
            return None if one is None or other is None else Arithmetic(operator, one, other, type_)
        case Function(name, arguments, type_):
            made = [_preimage(arc, each) for each in arguments]
            known = tuple([each for each in made if each is not None])
            return Function(name, known, type_) if len(known) == len(made) else None
        case _:
            return None


def _cheap(arc: Arc, atom: Comparison) -> bool:
    """Whether an atom costs little where every event of a stream is asked: it calls no function, or others find the
    events."""
    if not any(isinstance(part, Function) for part in walk(atom)):
        return True
    return bool(arc.joins) or all(any(map(_finds, clause)) for clause in arc.guard)


def _finds(atom: Comparison) -> bool:
    return isinstance(atom.left, Attribute) and isinstance(atom.right, Constant | Register) and atom.operator != "!="


def _asking(automaton: Automaton, arc: Arc, atom: Comparison) -> Arc:
    """The arc that wants the atom, too."""
    if any(isinstance(part, Register) for part in walk(atom)) and automaton.time is not TimeModel.EPOCHS:
        if atom.operator == "=" and isinstance(atom.left, Attribute) and isinstance(atom.right, Register):
            join = Join(atom.left.position, atom.right)
            return arc if join in arc.joins else replace(arc, joins=(*arc.joins, join))
        rest = _both(arc.rest, atom)
        return arc if rest == arc.rest else replace(arc, rest=rest)
    guard = _both(arc.guard, atom)
    return arc if guard == arc.guard else replace(arc, guard=guard)


def _both(form: Form, atom: Comparison) -> Form:
    return reordered(narrowed(form, (atom,)))
