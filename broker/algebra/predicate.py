"""Compiles conditions for execution: one final class for each shape; a conjunction is a short list, cheapest first.

Here: which class evaluates an atom or a term, conjunctions, alternatives, and terms with conditions in them. Hot: typed
for compilation, no dictionaries, no allocation during evaluation. Not here: single comparisons (comparisons); which
predicates need no evaluation because an index answers them (engine).

The environment of every call is that of a computation. A null makes any predicate false (semantics 2.7).
"""

from __future__ import annotations

from typing import Final, final

from ..events.schema import Row, Value
from ..events.text_condition import EQUALS
from ..events.text_operators import TEXT_OPERATORS, condition_of
from .comparisons import (
    OPERATORS,
    AttributeAmong,
    AttributeConstant,
    AttributeRegister,
    AttributeScaled,
    ComputedPredicate,
    CountConstant,
    DurationConstant,
    FloatConstant,
    FloatRegister,
    IntegerConstant,
    NullTest,
    Predicate,
)
from .computation import (
    ArithmeticValue,
    Computation,
    ConstantValue,
    DurationValue,
    EventValue,
    FunctionValue,
    Increment,
    NullValue,
    RegisterValue,
    Slots,
    TextTestValue,
)
from .functions import CASE, INTEGER_MAX, INTEGER_MIN, IS_NULL
from .normal_form import Clause, Form, alternatives_in, normalise
from .terms import (
    Arithmetic,
    Attribute,
    Comparison,
    Constant,
    Duration,
    Function,
    Register,
    Side,
    Term,
    describe,
    leaves,
    used,
)
from .text_tests import EventText, TextAmong, text_atom, text_predicate

COSTLY: Final = 5  # from this cost on, storing the answer of a predicate is cheaper than evaluating it again


@final
class ConditionValue(Computation):
    """A condition used as a value: never null."""

    def __init__(self, condition: All | None) -> None:
        self.condition = condition

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        return holds(self.condition, row, bound, slots, length, span)


@final
class Branch:
    """A branch of CASE, and those behind it. `test` is None if the condition always holds."""

    __slots__ = ("rest", "test", "then")

    def __init__(self, test: All | None, then: Computation, rest: Branch | None) -> None:
        self.test = test
        self.then = then
        self.rest = rest


@final
class CaseValue(Computation):
    """The value of the first branch whose condition holds; only that one is computed. `floats`: ints become floats."""

    def __init__(self, first: Branch | None, otherwise: Computation, floats: bool) -> None:
        self.first = first
        self.otherwise = otherwise
        self.floats = floats

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        chosen = self.otherwise
        branch = self.first
        while branch is not None:
            if holds(branch.test, row, bound, slots, length, span):
                chosen = branch.then
                break
            branch = branch.rest
        found = chosen.value(row, bound, slots, length, span)
        return float(found) if self.floats and isinstance(found, int) else found


@final
class AnyOf(Predicate):
    """A disjunction of clauses; the empty one never holds."""

    def __init__(self, clauses: list[All | None]) -> None:
        self.clauses = clauses
        self.cost = 20

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        for clause in self.clauses:  # noqa: SIM110  a generator here would allocate on the hot path
            if holds(clause, row, bound, slots, length, span):
                return True
        return False


@final
class All:
    """A conjunction as a chain, cheapest first: compiled code reads attributes faster than items of a list."""

    __slots__ = ("predicate", "rest")

    def __init__(self, predicate: Predicate, rest: All | None) -> None:
        self.predicate = predicate
        self.rest = rest


def holds(condition: All | None, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
    """Return whether a conjunction holds; None is the empty one."""
    while condition is not None:
        if not condition.predicate.holds(row, bound, slots, length, span):
            return False
        condition = condition.rest
    return True


def computation(term: Term) -> Computation:
    """Return the computation of a term."""
    match term:
        case Constant(value, _):
            return ConstantValue(value)
        case Attribute(Side.EVENT, position):
            return EventValue(position)
        case Register(slot, position):
            return RegisterValue(slot, position)
        case Duration(composition):
            return DurationValue(composition)
        case Arithmetic("+", Constant(int() as constant, _), Register(slot, position, "int"), _):
            return Increment(constant, RegisterValue(slot, position))
        case Arithmetic(operator, left, right, _):
            return ArithmeticValue(operator, computation(left), computation(right))
        case Function(name, (operand,), _) if name == IS_NULL:
            return NullValue(computation(operand))
        case Function(name, (text, Constant() as pattern)) if name in TEXT_OPERATORS:
            return TextTestValue(computation(text), condition_of(name, str(used(pattern))))
        case Function(name, arguments, type_) if name == CASE:
            return _case(arguments, type_ == "float")
        case Function(name, arguments, type_):
            return FunctionValue(name, [computation(a) for a in arguments], type_)
        case Attribute():
            raise AssertionError(f"not bound to a register: {describe(term)}")
        case _:
            return ConditionValue(condition(normalise(term)))


def _case(arguments: tuple[Term, ...], floats: bool) -> CaseValue:
    branch: Branch | None = None
    for at in range(len(arguments) - 3, -1, -2):
        branch = Branch(condition(normalise(arguments[at])), computation(arguments[at + 1]), branch)
    return CaseValue(branch, computation(arguments[-1]), floats)


def predicate(atom: Comparison, shared: SharedPredicate | None = None) -> Predicate:
    """Return the predicate that evaluates one canonical atom."""
    asked = text_atom(atom)
    if asked is not None:
        return text_predicate(asked, _text(asked.position, asked.case, shared))
    alternatives = alternatives_in(atom)
    return _any_of(list(alternatives), shared or SharedPredicate()) if alternatives else _compared(atom)


def _text(position: int, case: int, shared: SharedPredicate | None) -> EventText:
    return EventText(position, case) if shared is None else shared.text(position, case)


def _compared(atom: Comparison) -> Predicate:
    operator = OPERATORS[atom.operator]
    match atom:
        case Comparison(_, Attribute(Side.EVENT, position, "float"), Constant(float() as number, _)):
            return FloatConstant(position, operator, number)
        case Comparison(_, Attribute(Side.EVENT, position, "float"), Register(slot, at, "float")):
            return FloatRegister(position, operator, RegisterValue(slot, at))
        case Comparison("=", Function(name, (Attribute(Side.EVENT, position),)), Constant(bool() as wanted)) if (
            name == IS_NULL
        ):
            return NullTest(position, wanted)
        case Comparison(_, Attribute(Side.EVENT, position, "int"), Constant(int() as whole, "int")) if (
            INTEGER_MIN <= whole <= INTEGER_MAX
        ):
            return IntegerConstant(position, operator, whole)
        case Comparison(_, Attribute(Side.EVENT, position), Constant(value, _)):
            return AttributeConstant(position, operator, value)
        case Comparison(_, Attribute(Side.EVENT, position), Register(slot, at)):
            return AttributeRegister(position, operator, RegisterValue(slot, at))
        case Comparison(
            _,
            Attribute(Side.EVENT, position, "float"),
            Arithmetic("*", Constant(float() as factor, _), Register(slot, at, "float"), _),
        ):
            return AttributeScaled(position, operator, factor, RegisterValue(slot, at))
        case Comparison(_, Duration(composition), Constant(value, _)):
            return DurationConstant(composition, operator, value)
        case _:
            left = computation(atom.left)
            if isinstance(left, Increment) and isinstance(atom.right, Constant) and type(atom.right.value) is int:
                return CountConstant(operator, left, atom.right.value)
            return ComputedPredicate(operator, left, computation(atom.right))


@final
class Once(Predicate):
    """A predicate that reads only the event and belongs to many guards: evaluated once for each event."""

    def __init__(self, predicate: Predicate) -> None:
        self.predicate = predicate
        self.cost = predicate.cost
        self.row: Row | None = None
        self.held = False

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        if self.row is not row:
            self.row = row  # a reference, so that no other row gets this identity
            self.held = self.predicate.holds(row, (), (), length, length)
        return self.held


@final
class SharedPredicate:
    """Makes the predicates of many guards, and the costly ones that read only the event just once."""

    def __init__(self) -> None:
        self._once: dict[Comparison, Predicate] = {}
        self._texts: dict[tuple[int, int], EventText] = {}

    def predicate(self, atom: Comparison) -> Predicate:
        known = self._once.get(atom)
        if known is None:
            known = predicate(atom, self)
            if known.cost < COSTLY or any(isinstance(part, Register | Duration) for part in leaves(atom)):
                return known
            known = self._once[atom] = Once(known)
        return known

    def text(self, position: int, case: int) -> EventText:
        known = self._texts.get((position, case))
        if known is None:
            known = self._texts[(position, case)] = EventText(position, case)
        return known


def conjunction(clause: Clause, shared: SharedPredicate | None = None) -> All | None:
    """Return a clause ready for evaluation."""
    return _chained(_made(clause, shared))


def condition(form: Form, shared: SharedPredicate | None = None) -> All | None:
    """Return a form as a conjunction: the atoms of all clauses, then the disjunction of the rest, if any.

    None: the form always holds.
    """
    if len(form) == 1:
        return conjunction(form[0], shared)
    common = [atom for atom in form[0] if all(atom in clause for clause in form[1:])] if form else []
    different = [tuple(atom for atom in clause if atom not in common) for clause in form]
    return _chained([*_made(tuple(common), shared), _any_of(different, shared)])


def _any_of(clauses: list[Clause], shared: SharedPredicate | None) -> Predicate:
    """A disjunction: where all its alternatives are equalities of one attribute with constants, one probe."""
    subjects: set[tuple[int, int]] = set()
    parts: set[str] = set()
    for clause in clauses:
        asked = text_atom(clause[0]) if len(clause) == 1 else None
        if asked is None or asked.kind != EQUALS or not asked.wanted:
            among = _among(clauses)
            return AnyOf([conjunction(clause, shared) for clause in clauses]) if among is None else among
        subjects.add((asked.position, asked.case))
        parts.add(asked.part)
    if len(subjects) != 1:
        return AnyOf([conjunction(clause, shared) for clause in clauses])
    position, case = subjects.pop()
    return TextAmong(_text(position, case, shared), frozenset(parts))


def _among(clauses: list[Clause]) -> Predicate | None:
    """The predicate of alternatives that are all equalities of one attribute with constants; None for others."""
    positions: set[int] = set()
    constants: set[Value] = set()
    for clause in clauses:
        match clause:
            case (Comparison("=", Attribute(Side.EVENT, position), Constant(value, _)),):
                positions.add(position)
                constants.add(value)
            case _:
                return None
    return AttributeAmong(positions.pop(), frozenset(constants)) if len(positions) == 1 else None


def _made(clause: Clause, shared: SharedPredicate | None) -> list[Predicate]:
    return [predicate(atom) if shared is None else shared.predicate(atom) for atom in clause]


def _chained(parts: list[Predicate]) -> All | None:
    chain: All | None = None
    for part in sorted(parts, key=lambda p: p.cost, reverse=True):
        chain = All(part, chain)
    return chain
