"""Puts conditions into disjunctive normal form, and extracts what an index needs from them.

Here: NOT pushed into comparisons; AND over OR; canonical atoms in a canonical order, so that equivalent conditions in
different orders are equal; the split of a clause into its static part, its equality joins and the rest (Cayuga, 3.1).
Alternatives that search texts, or that are too many, are not multiplied out: they stay together as one atom, a tree.
Not here: evaluation (predicate), what finds an atom of alternatives (engine/index/witness).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from ..events.instant import FOREVER
from .functions import CASE, FUNCTIONS, IS_NULL, MIRRORED, NEGATED, TEXT_TESTS, calculate, call, compare
from .terms import (
    FALSE,
    TRUE,
    Arithmetic,
    Attribute,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Duration,
    Function,
    Negation,
    Register,
    Side,
    Term,
    children,
    describe,
    leaves,
    used,
)

CLAUSES_MAX: Final = 256
SEARCHES: Final = frozenset((*TEXT_TESTS, "lower", "upper"))
"""Functions of a text. Nothing is merged or grouped by conditions with them, so that multiplying them out would only
make more of them."""

Clause: TypeAlias = tuple[Comparison, ...]
Form: TypeAlias = tuple[Clause, ...]

ALWAYS: Final[Form] = ((),)
NEVER: Final[Form] = ()


def key(term: Term) -> str:
    """Return a text that is the same for equal terms and only for them: it has positions, not names."""
    match term:
        case Constant(value, type_):
            return f"{type_}:{value!r}"
        case Attribute(side, position):
            return f"{side.value}[{position}]"
        case Register(slot, position):
            return f"register[{slot},{position}]"
        case Duration(composition):
            return f"duration({composition})"
        case Arithmetic(operator):
            return f"({operator} {key(term.left)} {key(term.right)})"
        case Comparison() | Function():
            return _key_once(term)
        case _:
            return f"({type(term).__name__} {' '.join(key(c) for c in children(term))})"


def _key_once(term: Comparison | Function) -> str:
    try:
        return term._key
    except AttributeError:
        name = term.operator if isinstance(term, Comparison) else term.name
        found = f"({name} {' '.join([key(part) for part in children(term)])})"
        object.__setattr__(term, "_key", found)
        return found


def canonical(term: Term) -> Term:
    """Return an equivalent term with constants folded and commutative operands in a fixed order (both are exact)."""
    match term:
        case Arithmetic(operator, left, right, type_):
            a, b = canonical(left), canonical(right)
            if isinstance(a, Constant) and isinstance(b, Constant):
                return Constant(calculate(operator, used(a), used(b)), type_)
            if operator in "+*" and rank(a) > rank(b):
                a, b = b, a
            return Arithmetic(operator, a, b, type_)
        case Function(name, arguments, type_):
            folded = tuple(canonical(a) for a in arguments)
            if (name in FUNCTIONS or name in (IS_NULL, CASE)) and all(isinstance(a, Constant) for a in folded):
                return Constant(call(name, [used(a) for a in folded if isinstance(a, Constant)], type_), type_)
            return Function(name, folded, type_)
        case Comparison(operator, left, right):
            return _comparison(operator, canonical(left), canonical(right))
        case Conjunction(operands):
            return Conjunction(tuple(canonical(o) for o in operands))
        case Disjunction(operands):
            return Disjunction(tuple(canonical(o) for o in operands))
        case Negation(operand):
            return Negation(canonical(operand))
        case _:
            return term


def rank(term: Term) -> tuple[int, str]:
    """Return what orders commutative operands: constants, then what reads registers, then what reads the event."""
    kind = 0 if isinstance(term, Constant) else 1 if _reads_registers(term) else 2
    return (kind, key(term))


def _reads_registers(term: Term) -> bool:
    return any(isinstance(t, Register) or (isinstance(t, Duration) and t.composition) for t in leaves(term))


def _comparison(operator: str, left: Term, right: Term) -> Comparison | Constant:
    """Return the comparison with the event on the left, then registers, and constants on the right."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        return TRUE if compare(operator, used(left), used(right)) else FALSE
    if any(isinstance(side, Constant) and side.value is None for side in (left, right)):
        return FALSE
    if rank(left) < rank(right):
        left, right, operator = right, left, MIRRORED[operator]
    return Comparison(operator, left, right)


def normalise(condition: Term) -> Form:
    """Return the canonical form of a condition. Where an AND would lead to more than CLAUSES_MAX clauses, all but one
    of its parts stay atoms, and where an OR searches texts it stays one: O(CLAUSES_MAX x clauses of a part)."""
    return _sorted(tuple(_clauses(condition, True)))


def reordered(form: Form) -> Form:
    """Return canonical atoms in canonical order, for clauses whose constants were exchanged."""
    return _sorted(tuple([tuple([own for atom in clause for own in _again(atom)]) for clause in form]))


def _again(atom: Comparison) -> Clause:
    """An atom whose alternatives may have become equal."""
    alternatives = alternatives_in(atom)
    if not alternatives:
        return (atom,)
    different = _flat(reordered(alternatives))
    return different[0] if len(different) == 1 else (_undivided(different),)


def _sorted(form: Form) -> Form:
    clauses = {_ordered(clause) for clause in form}
    if () in clauses:
        return ALWAYS
    if len(clauses) == 1:
        return tuple(clauses)
    return tuple(sorted(clauses, key=lambda clause: [key(atom) for atom in clause]))


def _ordered(clause: Clause) -> Clause:
    return clause if len(clause) <= 1 else tuple(sorted(set(clause), key=key))


def _clauses(condition: Term, wanted: bool) -> list[Clause]:
    match condition:
        case Negation(operand):
            return _clauses(operand, not wanted)
        case Conjunction(operands) | Disjunction(operands):
            parts = [_clauses(o, wanted) for o in operands]
            if isinstance(condition, Conjunction) is wanted:
                return product(parts)
            return _alternatives([clause for part in parts for clause in part])
        case Comparison(operator, left, right):
            chosen = operator if wanted else NEGATED[operator]
            return _atom(_comparison(chosen, canonical(left), canonical(right)))
        case _:
            return _atom(_comparison("=", canonical(condition), TRUE if wanted else FALSE))


def _atom(atom: Comparison | Constant) -> list[Clause]:
    if isinstance(atom, Constant):
        return [()] if atom.value is True else []
    return [(atom,)]


def _alternatives(clauses: list[Clause]) -> list[Clause]:
    """The clauses of a disjunction: one atom if one of them searches a text."""
    if len(clauses) < 2 or () in clauses or not any(map(_searches, clauses)):
        return clauses
    different = _flat(clauses)
    return [(_undivided(different),)] if len(different) > 1 else list(different)


def _flat(clauses: Sequence[Clause]) -> Form:
    """Alternatives in their order: an OR in an OR is one OR."""
    found: list[Clause] = []
    for clause in clauses:
        found += (alternatives_in(clause[0]) if len(clause) == 1 else ()) or (clause,)
    return _sorted(tuple(found))


def _searches(clause: Clause) -> bool:
    for atom in clause:
        if isinstance(atom.left, Function) and (atom.left.name in SEARCHES or alternatives_in(atom)):
            return True
    return False


def product(parts: Sequence[Sequence[Clause]]) -> list[Clause]:
    """The clauses of a conjunction, from those of its parts. If these are too many, only the first part that has
    several is multiplied out."""
    if any(len(part) == 0 for part in parts):
        return []
    always = [atom for part in parts if len(part) == 1 for atom in part[0]]
    several = [part for part in parts if len(part) > 1]
    result: list[Clause] = [_ordered(tuple(always))]
    for part in several:
        result = list(dict.fromkeys(_ordered(a + b) for a in result for b in part))
        if len(result) > CLAUSES_MAX:
            always += [_undivided(_flat(each)) for each in several[1:]]
            return list(dict.fromkeys(_ordered((*clause, *always)) for clause in several[0]))
    return result


def _undivided(clauses: Sequence[Clause]) -> Comparison:
    """Alternatives as one atom: a truth value that is never null."""
    either = Disjunction(tuple(map(Conjunction, clauses)))
    return Comparison("=", Function(CASE, (either, TRUE, FALSE), "bool"), TRUE)


def alternatives_in(atom: Comparison) -> Form:
    """The alternatives of an atom that was not multiplied out; none if it is any other."""
    match atom:
        case Comparison("=", Function(name, (Disjunction(operands), then, otherwise)), wanted) if name == CASE:
            if then == TRUE and otherwise == FALSE and wanted == TRUE:
                found = [operand.operands for operand in operands if isinstance(operand, Conjunction)]
                if len(found) == len(operands) and all(isinstance(a, Comparison) for each in found for a in each):
                    return cast("Form", tuple(found))
    return ()


@dataclass(frozen=True, slots=True)
class Split:
    """A clause, divided by what can answer it: `constants` (event attribute, value) and `joins` (event attribute,
    register) are equalities for a hash, `static` reads only the event and constants, `residual` is the rest."""

    constants: tuple[tuple[int, Constant], ...]
    joins: tuple[tuple[int, Register], ...]
    static: Clause
    residual: Clause


def split(clause: Clause) -> Split:
    constants: list[tuple[int, Constant]] = []
    joins: list[tuple[int, Register]] = []
    static: list[Comparison] = []
    residual: list[Comparison] = []
    for atom in clause:
        match atom:
            case Comparison("=", Attribute(Side.EVENT, position), Constant() as constant):
                constants.append((position, constant))
            case Comparison("=", Attribute(Side.EVENT, position), Register() as register):
                joins.append((position, register))
            case _ if _reads_registers(atom):
                residual.append(atom)
            case _:
                static.append(atom)
    return Split(tuple(constants), tuple(joins), tuple(static), tuple(residual))


def narrowed(form: Form, atoms: Clause) -> Form:
    """The condition that also wants all these atoms."""
    return tuple(clause + tuple([atom for atom in atoms if atom not in clause]) for clause in form)


def duration_bound(form: Form) -> int | None:
    """Return the longest DUR of the composition with which the form can hold, in microseconds; None if there is no
    bound, or one that every composition satisfies."""
    longest = 0
    for clause in form:
        bounds = [b for b in map(_atom_bound, clause) if b is not None]
        if not bounds:
            return None
        longest = max(longest, min(bounds))
    return longest if longest < FOREVER else None


def _atom_bound(atom: Comparison) -> int | None:
    match atom:
        case Comparison("<=" | "=", Duration(True), Constant(int() | float() as bound)):
            return math.floor(bound)
        case Comparison("<", Duration(True), Constant(int() | float() as bound)):
            return math.ceil(bound) - 1
        case _:
            return None


def describe_form(form: Form) -> str:
    """Return the form as text for display."""
    if not form:
        return "FALSE"
    if form == ALWAYS:
        return "TRUE"
    return " OR ".join(" AND ".join(describe_atom(atom) for atom in clause) for clause in form)


def describe_atom(atom: Comparison) -> str:
    """Return an atom as text for display."""
    alternatives = alternatives_in(atom)
    return f"({describe_form(alternatives)})" if alternatives else describe(atom)
