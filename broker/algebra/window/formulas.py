"""Formulas of windows (START x, END y WHERE ...) to their typed form: names become numbered variables.

Here: which comparison is about positions and which about the attributes of one event; what ALL, IMPLIES, IFF, BETWEEN
and the comparisons of positions stand for. Not here: what a formula means (semantics), its automaton
(broker.automaton.windows).

A condition on events is a condition on one of them, so that its variables are of one name: `x.price < y.price` is no
formula of this logic. NOT is that of the logic: it holds where its operand does not, also for a null.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NoReturn

from ...events.nearest import suggestion
from ...language import syntax
from ...language.shorthand import written_out
from ...language.window import syntax as window
from ..resolution import condition, refuse
from ..terms import Term
from .conditions import Conditions
from .window_expression import WindowFormula

VARIABLES_MAX: Final = 6
"""The most variables of one formula that are visible at one place: each doubles the letters of its automaton."""
FIRST: Final = 0
LAST: Final = 1
_MEMBER: Final = re.compile(r"(?:prev([0-9]*)\()?([A-Za-z_0-9]+)\)?", re.IGNORECASE)


def lower_formula(marked: window.MarkedWindows, conditions: Conditions) -> WindowFormula:
    """The typed form: the formula, and that the last event is not before the first.

    Raises QueryError with the place of an unknown variable, of one that is bound twice, of a condition on two events,
    of too many variables.
    """
    visible = {marked.first: (FIRST, False), marked.last: (LAST, False)}
    formula = _FormulaLowering(conditions, visible).formula(marked.formula)
    return _both((formula, _not(WindowFormula("less", first=LAST, second=FIRST))))


def _not(formula: WindowFormula) -> WindowFormula:
    return WindowFormula("not", (formula,), at=formula.at)


def _both(parts: tuple[WindowFormula, ...]) -> WindowFormula:
    return WindowFormula("and", parts, at=parts[0].at)


@dataclass(slots=True)
class _FormulaLowering:
    """`visible`: the number of each variable that is bound here, and whether it is of a set."""

    conditions: Conditions
    visible: dict[str, tuple[int, bool]]

    @property
    def text(self) -> str:
        return self.conditions.text

    def formula(self, node: object) -> WindowFormula:
        match node:
            case syntax.And(operands):
                return WindowFormula("and", tuple(map(self.formula, operands)), at=node.at)
            case syntax.Or(operands):
                return WindowFormula("or", tuple(map(self.formula, operands)), at=node.at)
            case syntax.Not(operand):
                return _not(self.formula(operand))
            case window.Implication(premise, conclusion):
                return WindowFormula("or", (_not(self.formula(premise)), self.formula(conclusion)), at=node.at)
            case window.Equivalence(left, right):
                one, other = self.formula(left), self.formula(right)
                neither = _both((_not(one), _not(other)))
                return WindowFormula("or", (_both((one, other)), neither), at=node.at)
            case window.Membership(variable, collection):
                first = self.variable(variable, node.at, False)
                return WindowFormula("in", first=first, second=self.variable(collection, node.at, True), at=node.at)
            case window.QuantifiedFormula():
                return self.quantified(node)
            case syntax.OneOf(syntax.Name()) | syntax.InRange(syntax.Name()):  # of positions
                return self.formula(written_out(node))
            case syntax.ComparisonExpression(_, syntax.Name(), _) | syntax.ComparisonExpression(_, _, syntax.Name()):
                return self.positions(node)
            case _:
                return self.atom(node)

    def quantified(self, node: window.QuantifiedFormula) -> WindowFormula:
        inner = dict(self.visible)
        numbers: list[int] = []
        for name in node.variables:
            if name in inner:
                refuse(self.text, node.at, f"expected a new variable, found {name!r}, which is bound already")
            if len(inner) >= VARIABLES_MAX:
                refuse(self.text, node.at, f"expected at most {VARIABLES_MAX} variables at one place, found more")
            numbers.append(len(inner))
            inner[name] = (len(inner), node.sets)
        body = _FormulaLowering(self.conditions, inner).formula(node.formula)
        if node.between is not None:
            low, high = (self.variable(name, node.at, False) for name in node.between)
            outside = [
                limit
                for number in numbers
                for limit in (
                    WindowFormula("less", first=number, second=low),
                    WindowFormula("less", first=high, second=number),
                )
            ]
            if node.every:
                body = WindowFormula("or", (*outside, body), at=node.at)
            else:
                body = WindowFormula("and", (*map(_not, outside), body), at=node.at)
        body = _not(body) if node.every else body
        for number in reversed(numbers):
            body = WindowFormula("exists set" if node.sets else "exists", (body,), first=number, at=node.at)
        return _not(body) if node.every else body

    def variable(self, name: str, at: int, collection: bool) -> int:
        """The number of a visible variable of one event, or of a set."""
        number, is_set = self.visible.get(name, (-1, False))
        if number < 0:
            near = suggestion(name, self.visible) or f"; expected one of {', '.join(self.visible)}"
            refuse(self.text, at, f"unknown variable {name!r}{near}")
        if is_set != collection:
            wanted, found = ("a set", "an event") if collection else ("an event", "a set")
            refuse(self.text, at, f"expected the variable of {wanted}, found {name!r}, that of {found}")
        return number

    def positions(self, node: syntax.ComparisonExpression) -> WindowFormula:
        """A comparison of the positions of two events: `x < y`, `u = z + 1`."""
        left, right, operator = node.left, node.right, node.operator
        if operator == "=" and isinstance(left, syntax.ArithmeticExpression):
            left, right = right, left
        if operator == "=" and isinstance(right, syntax.ArithmeticExpression):
            match right:
                case syntax.ArithmeticExpression("+", syntax.Name() as earlier, syntax.Number(1)):
                    first, second = self.position(earlier), self.position(left)
                    return WindowFormula("next", first=first, second=second, at=node.at)
            refuse(self.text, right.at, "expected the next position, such as z + 1")
        first, second = self.position(left), self.position(right)
        match operator:
            case "=":
                return WindowFormula("equal", first=first, second=second, at=node.at)
            case "!=":
                return _not(WindowFormula("equal", first=first, second=second, at=node.at))
            case "<":
                return WindowFormula("less", first=first, second=second, at=node.at)
            case ">":
                return WindowFormula("less", first=second, second=first, at=node.at)
            case "<=":
                return _not(WindowFormula("less", first=second, second=first, at=node.at))
            case ">=":
                return _not(WindowFormula("less", first=first, second=second, at=node.at))

    def position(self, node: syntax.Expression) -> int:
        if not isinstance(node, syntax.Name):
            refuse(self.text, node.at, "expected the variable of an event, with whose position this is compared")
        return self.variable(node.attribute, node.at, False)

    def atom(self, node: object) -> WindowFormula:
        """A condition on one event."""
        expression: syntax.Expression = node  # type: ignore[assignment]
        scope = _MarkedScope(self)
        term = condition(expression, scope)
        if not scope.variables:
            refuse(self.text, expression.at, "expected a condition on an event, such as x.price > 10")
        number = self.conditions.numbered(term, expression.at)
        return WindowFormula("holds", atom=number, first=next(iter(scope.variables)), at=expression.at)


@dataclass(slots=True)
class _MarkedScope:
    """The names in a condition: attributes of the event of one variable, and of those before it."""

    formula: _FormulaLowering
    variables: dict[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.formula.text

    def name(self, name: syntax.Name) -> NoReturn:
        known = next(iter(self.formula.visible))
        message = f"expected an attribute with its variable, such as {known}.{name.attribute}, found {name.attribute!r}"
        refuse(self.text, name.at, message)

    def member(self, member: syntax.MemberAccess) -> Term:
        found = _MEMBER.fullmatch(member.variable)
        assert found is not None, "the grammar accepts no other variable"
        back, variable = found.groups()
        number = self.formula.variable(variable, member.at, False)
        if self.variables and number not in self.variables:
            other = next(iter(self.variables.values()))
            message = (
                f"expected a condition on one event, found {other!r} and {variable!r};"
                " languages with registers compare events with each other"
            )
            refuse(self.text, member.at, message)
        self.variables[number] = variable
        before = 0 if back is None else self.formula.conditions.before(back, member.at)
        return self.formula.conditions.attribute(member.attribute, member.at, before)

    def duration(self, at: int) -> NoReturn:
        refuse(self.text, at, "expected no DUR, since windows read the time of an event alone")
