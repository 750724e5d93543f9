"""Compiles conditions for execution: one final class for each shape; a conjunction is a short list, cheapest first.

Here: the evaluation of a canonical form on an event and a run. Hot: typed for compilation, no dictionaries, no
allocation during evaluation. Not here: which predicates need no evaluation because an index answers them (engine).

The environment of every call is that of a computation. A null makes any predicate false (semantics 2.7).
"""

from __future__ import annotations

from typing import Any, Final, cast, final

from ..events.schema import Row, Value
from .computation import (
    ArithmeticValue,
    Computation,
    ConstantValue,
    DurationValue,
    EventValue,
    FunctionValue,
    Increment,
    RegisterValue,
    Slots,
)
from .functions import INTEGER_MAX, INTEGER_MIN
from .normal_form import Clause, Form, normalise
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
    walk,
)

EQ: Final = 0
NE: Final = 1
LT: Final = 2
LE: Final = 3
GT: Final = 4
GE: Final = 5
COSTLY: Final = 5  # from this cost on, storing the answer of a predicate is cheaper than evaluating it again
OPERATORS: Final[dict[str, int]] = {"=": EQ, "!=": NE, "<": LT, "<=": LE, ">": GT, ">=": GE}


def related(operator: int, a: Any, b: Any) -> bool:
    """Return `a operator b` for values of comparable types, neither null."""
    if operator == GT:
        return bool(a > b)
    if operator == LT:
        return bool(a < b)
    if operator == EQ:
        return bool(a == b)
    if operator == GE:
        return bool(a >= b)
    if operator == LE:
        return bool(a <= b)
    return bool(a != b)


def related_floats(operator: int, a: float, b: float) -> bool:
    """Return `a operator b` for floats, without checking their types again."""
    if operator == GT:
        return a > b
    if operator == LT:
        return a < b
    if operator == GE:
        return a >= b
    if operator == LE:
        return a <= b
    if operator == EQ:
        return a == b
    return a != b


@final
class ConditionValue(Computation):
    """A condition used as a value: never null."""

    def __init__(self, condition: All | None) -> None:
        self.condition = condition

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Value:
        return holds(self.condition, row, bound, slots, length, span)


class Predicate:
    """One atom or a disjunction of clauses, ready for evaluation."""

    cost: int = 9

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        return False


@final
class AttributeConstant(Predicate):
    """`event.a op c`."""

    def __init__(self, position: int, operator: int, constant: Value) -> None:
        self.position = position
        self.operator = operator
        self.constant = constant
        self.cost = 0

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        return value is not None and related(self.operator, value, self.constant)


@final
class FloatConstant(Predicate):
    """`event.a op c` for floats."""

    def __init__(self, position: int, operator: int, constant: float) -> None:
        self.position = position
        self.operator = operator
        self.constant = constant
        self.cost = 0

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        return value is not None and related_floats(self.operator, cast("float", value), self.constant)


@final
class FloatRegister(Predicate):
    """`event.a op register` for floats."""

    def __init__(self, position: int, operator: int, register: RegisterValue) -> None:
        self.position = position
        self.operator = operator
        self.register = register
        self.cost = 1

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        other = self.register.value(row, bound, slots, length, span)
        if value is None or other is None:
            return False
        return related_floats(self.operator, cast("float", value), cast("float", other))


@final
class AttributeRegister(Predicate):
    """`event.a op register`."""

    def __init__(self, position: int, operator: int, register: RegisterValue) -> None:
        self.position = position
        self.operator = operator
        self.register = register
        self.cost = 1

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        other = self.register.value(row, bound, slots, length, span)
        return value is not None and other is not None and related(self.operator, value, other)


@final
class AttributeScaled(Predicate):
    """`event.a op k * register` for floats; a product that is not a finite float is null, hence false."""

    def __init__(self, position: int, operator: int, factor: float, register: RegisterValue) -> None:
        self.position = position
        self.operator = operator
        self.factor = factor
        self.register = register
        self.cost = 1

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        value = row[self.position]
        other = self.register.value(row, bound, slots, length, span)
        if value is None or other is None:
            return False
        scaled = self.factor * cast("float", other)
        return scaled - scaled == 0.0 and related_floats(self.operator, cast("float", value), scaled)


@final
class CountConstant(Predicate):
    """`c + register op k` on integers; a sum beyond 64 bits is null, hence false."""

    def __init__(self, operator: int, count: Increment, constant: int) -> None:
        self.operator = operator
        self.count = count
        self.constant = constant
        self.cost = 1

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        before = self.count.register.value(row, bound, slots, length, span)
        if before is None:
            return False
        count = self.count.constant + cast("int", before)
        if not INTEGER_MIN <= count <= INTEGER_MAX:
            return False
        operator = self.operator
        if operator == GE:
            return count >= self.constant
        if operator == GT:
            return count > self.constant
        return related(operator, count, self.constant)


@final
class DurationConstant(Predicate):
    """`DUR op c`."""

    def __init__(self, composition: bool, operator: int, constant: Value) -> None:
        self.composition = composition
        self.operator = operator
        self.constant = constant
        self.cost = 0

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        return related(self.operator, span if self.composition else length, self.constant)


@final
class ComputedPredicate(Predicate):
    """Any other comparison."""

    def __init__(self, operator: int, left: Computation, right: Computation) -> None:
        self.operator = operator
        self.left = left
        self.right = right
        self.cost = 5

    def holds(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> bool:
        left = self.left.value(row, bound, slots, length, span)
        if left is None:
            return False
        right = self.right.value(row, bound, slots, length, span)
        return right is not None and related(self.operator, left, right)


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
        case Function(name, arguments, type_):
            return FunctionValue(name, [computation(a) for a in arguments], type_)
        case Attribute():
            raise AssertionError(f"not bound to a register: {describe(term)}")
        case _:
            return ConditionValue(condition(normalise(term)))


def predicate(atom: Comparison) -> Predicate:
    """Return the predicate that evaluates one canonical atom."""
    operator = OPERATORS[atom.operator]
    match atom:
        case Comparison(_, Attribute(Side.EVENT, position, "float"), Constant(float() as number, _)):
            return FloatConstant(position, operator, number)
        case Comparison(_, Attribute(Side.EVENT, position, "float"), Register(slot, at, "float")):
            return FloatRegister(position, operator, RegisterValue(slot, at))
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

    def predicate(self, atom: Comparison) -> Predicate:
        known = self._once.get(atom)
        if known is None:
            known = predicate(atom)
            if known.cost < COSTLY or any(isinstance(part, Register | Duration) for part in walk(atom)):
                return known
            known = self._once[atom] = Once(known)
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
    rest = [conjunction(tuple(atom for atom in clause if atom not in common), shared) for clause in form]
    return _chained([*_made(tuple(common), shared), AnyOf(rest)])


def _made(clause: Clause, shared: SharedPredicate | None) -> list[Predicate]:
    return [predicate(atom) if shared is None else shared.predicate(atom) for atom in clause]


def _chained(parts: list[Predicate]) -> All | None:
    chain: All | None = None
    for part in sorted(parts, key=lambda p: p.cost, reverse=True):
        chain = All(part, chain)
    return chain
