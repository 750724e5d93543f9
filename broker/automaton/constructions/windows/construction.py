"""Constructs the automaton of a window subscription (semantics 5.2 and 5.3).

Here: from pairs or a formula to tables of a prefix and a body automaton, minimised and numbered breadth first, so that
equal windows written in different ways are one automaton. Not here: derivatives (regular), formulas (marked), tables
(determinisation).

The prefix automaton of a union has a derivative of each prefix as its state; where prefixes match, the body that begins
is the union of their bodies. So no window comes out twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from ....algebra.normal_form import Form, normalise
from ....algebra.terms import Attribute, Register, Side, Term, replace
from ....algebra.window.window_expression import WindowExpression, WindowFormula, WindowPair, WindowRegex
from ....events.errors import LimitExceeded
from ....language.diagnostics import query_error
from ...automaton import Automaton, TimeModel
from ...windows.window_automaton import DEAD, WindowAutomaton, WindowPart
from .classes import TooManyClasses, classes_of
from .determinisation import (
    WINDOW_STATES_MAX,
    Table,
    TooManyStates,
    explored,
    live,
    merged,
    minimal,
)
from .lengths import bounded
from .marked import (
    LETTERS_MAX,
    MARKED_STATES_MAX,
    MarkedAutomata,
    TooManyLetters,
    TooManyMarkedStates,
)
from .regular import NOTHING, STEPS_MAX, RegularExpressions, TooManySteps

ALONE: Final = WINDOW_STATES_MAX // 4
STEPS_ALONE: Final = STEPS_MAX // 100
"""States, and steps, from which on a part is said to be the reason for too many."""
TOO_LARGE: Final = (TooManyStates, TooManySteps, RecursionError)
"""What making tables of a regular expression raises if it has too many states, or too large ones."""
WINDOW_EVENTS_MAX: Final = 1_000_000_000_000
"""The greatest bound on the events of a window that an expression may come to."""
OPERANDS: Final = ()
"""The events of a window have no names."""


def automaton_of_windows(expression: WindowExpression, text: str) -> Automaton:
    """The automaton of a typed subscription.

    `text`: the query, for the place of an error. Raises LimitExceeded for too many states or classes.
    """
    return Automaton(
        (),
        (),
        expression.schema,
        (expression.source,),
        OPERANDS,
        _within(expression),
        TimeModel.WINDOWS,
        windows=_windows(expression, text),
    )


def _within(expression: WindowExpression) -> int | None:
    if expression.clock is not None:
        return expression.clock.size
    bounds = [pair.within for pair in expression.pairs]
    known = [bound for bound in bounds if bound is not None]
    return max(known) if known and len(known) == len(bounds) else None


def conditions_of(expression: WindowExpression) -> tuple[Form, ...]:
    """The conditions on events, as executors read them."""
    return tuple(normalise(_with_registers(atom, expression)) for atom in expression.atoms)


def _windows(expression: WindowExpression, text: str) -> WindowAutomaton:
    atoms = conditions_of(expression)
    try:
        classes = classes_of(atoms)
    except TooManyClasses as error:
        raise LimitExceeded(str(query_error(text, _place_of(error.condition, expression), str(error)))) from None
    if expression.clock is not None:
        parts: list[_UnnumberedPart] = []
    elif expression.formula is not None:
        parts = [_of_formula(expression, classes, text)]
    else:
        parts = _of_pairs(expression.pairs, classes, text)
    columns = _columns(parts, len(classes))
    return WindowAutomaton(
        atoms,
        expression.back,
        tuple(zip(classes, columns)),
        tuple(part.numbered(columns) for part in parts),
        expression.clock,
        expression.keep,
        expression.aggregates,
        expression.gap,
        expression.said,
    )


def _place_of(condition: int, expression: WindowExpression) -> int:
    """The place of a condition in the text: of the first part that is it."""
    waiting: list[WindowRegex | WindowFormula] = [] if expression.formula is None else [expression.formula]
    waiting += [regex for pair in expression.pairs for regex in (pair.prefix, pair.body)]
    while waiting[0].atom != condition:
        waiting = [*waiting[0].parts, *waiting[1:]]
    return waiting[0].at


def _with_registers(term: Term, expression: WindowExpression) -> Term:
    """The condition as executors read it: events before this one, and times, are in registers."""
    width, back = expression.width, expression.back

    def leaf(part: Term) -> Term:
        if not isinstance(part, Attribute):
            return part
        before, position = divmod(part.position, width)
        before += part.side is Side.LAST
        timed = position == width - 1
        if before == 0 and not timed:
            return part
        if timed:
            return Register(back + before, -1, part.type, _named(part.name, before), before > 0)
        return Register(before - 1, position, part.type, _named(part.name, before), True)

    return replace(term, leaf)


def _named(name: str, before: int) -> str:
    return name if before == 0 else f"prev{'' if before == 1 else before}.{name}"


class _UnnumberedPart:
    """Tables with a column for each class: rows of the prefix, the body's state that each begins, rows of the body."""

    def __init__(self, prefix: Table, begins: list[int], body: Table, final: list[bool]) -> None:
        alive = live(body, final)
        body = [[target if target != DEAD and alive[target] else DEAD for target in row] for row in body]
        # A beginning from which the first event leads nowhere begins nothing.
        begins = [b if b != DEAD and any(target != DEAD for target in body[b]) else DEAD for b in begins]
        same = minimal(body, final)
        kinds = [DEAD if b == DEAD else same[b] for b in begins]
        self.prefix, states, _ = merged(prefix, minimal(prefix, kinds), [0])
        used = [begins[state] for state in states]
        self.body, kept, numbers = merged(body, same, [b for b in used if b != DEAD])
        self.starts = [DEAD if b == DEAD else numbers[same[b]] for b in used]
        self.final = [final[state] for state in kept]
        self.least = 1
        self.most: int | None = None
        self.within: int | None = None

    def column(self, number: int) -> tuple[int, ...]:
        return tuple(row[number] for table in (self.prefix, self.body) for row in table)

    def numbered(self, columns: list[int]) -> WindowPart:
        """With one column for all classes that no part tells apart."""
        chosen = [columns.index(column) for column in range(max(columns) + 1)]
        prefix = tuple(row[at] for row in self.prefix for at in chosen)
        body = tuple(row[at] for row in self.body for at in chosen)
        return WindowPart(prefix, tuple(self.starts), body, tuple(self.final), self.least, self.most, self.within)


def _columns(parts: Sequence[_UnnumberedPart], classes: int) -> list[int]:
    known: dict[Hashable, int] = {}
    return [known.setdefault(tuple(part.column(at) for part in parts), len(known)) for at in range(classes)]


# --- pairs ------------------------------------------------------------------------------------------------------


def _of_pairs(pairs: Sequence[WindowPair], classes: list[int], text: str) -> list[_UnnumberedPart]:
    """A part for all pairs with the same bounds."""
    together: dict[Hashable, list[tuple[WindowRegex, WindowRegex]]] = {}
    for pair in pairs:
        body, interval = bounded(pair.body)
        least, most = interval
        if max(least, most or 0) > WINDOW_EVENTS_MAX:
            message = f"expected windows of at most {WINDOW_EVENTS_MAX} events, or of any number of them"
            raise LimitExceeded(str(query_error(text, pair.body.at, f"{message}, found {max(least, most or 0)}")))
        together.setdefault((interval, pair.within), []).append((pair.prefix, body))
    found: list[_UnnumberedPart] = []
    for pair in pairs:
        _, interval = bounded(pair.body)
        group = together.pop((interval, pair.within), None)
        if group is None:
            continue
        part = _union(group, classes, text)
        part.least, part.most = interval
        part.within = pair.within
        found.append(part)
    return found


def _union(group: list[tuple[WindowRegex, WindowRegex]], classes: list[int], text: str) -> _UnnumberedPart:
    space = RegularExpressions()
    try:
        prefixes = tuple(space.of(prefix) for prefix, _ in group)
    except TOO_LARGE as error:
        raise _too_large([prefix for prefix, _ in group], "AFTER", classes, text, error) from None
    try:
        bodies = [space.of(body) for _, body in group]
    except TOO_LARGE as error:
        raise _too_large([body for _, body in group], "MATCHING", classes, text, error) from None

    def after(state: tuple[int, ...]) -> list[tuple[int, ...]]:
        decisive = 0
        for node in state:
            decisive |= space.first(node)
        made: dict[int, tuple[int, ...]] = {}
        for letter in classes:
            if letter & decisive not in made:
                made[letter & decisive] = tuple(space.derivative(node, letter) for node in state)
        return [made[letter & decisive] for letter in classes]

    def within(node: int) -> list[int]:
        decisive = space.first(node)
        made: dict[int, int] = {}
        for letter in classes:
            if letter & decisive not in made:
                made[letter & decisive] = space.derivative(node, letter)
        return [made[letter & decisive] for letter in classes]

    try:
        states, prefix = explored([prefixes], after)
    except TOO_LARGE as error:
        raise _too_large([prefix for prefix, _ in group], "AFTER", classes, text, error) from None
    try:
        begins = [space.either([b for node, b in zip(state, bodies) if space.nullable(node)]) for state in states]
        nodes, body = explored([node for node in dict.fromkeys(begins) if node != NOTHING], within)
    except TOO_LARGE as error:
        raise _too_large([body for _, body in group], "MATCHING", classes, text, error) from None
    numbers = {node: at for at, node in enumerate(nodes)}
    final = [space.nullable(node) for node in nodes]
    return _UnnumberedPart(prefix, [numbers.get(node, DEAD) for node in begins], body, final)


def _too_large(
    regexes: list[WindowRegex], where: str, classes: list[int], text: str, error: Exception
) -> LimitExceeded:
    """The error, with the place of the smallest part that needs too many states, or steps, by itself."""
    culprit = next((regex for regex in regexes if not _fits(regex, classes)), regexes[0])
    while True:
        inner = next((part for part in culprit.parts if not _fits(part, classes)), None)
        if inner is None:
            break
        culprit = inner
    message = f"expected an expression after {where} with at most {WINDOW_STATES_MAX} states, found one with more"
    if isinstance(error, TooManySteps):
        most = f"whose states take at most {STEPS_MAX} steps to find"
        message = f"expected an expression after {where} {most}, found one that takes more"
    return LimitExceeded(str(query_error(text, culprit.at, message)))


def _fits(regex: WindowRegex, classes: list[int]) -> bool:
    space = RegularExpressions(STEPS_ALONE)
    try:
        explored([space.of(regex)], lambda node: [space.derivative(node, one) for one in classes], ALONE)
    except TOO_LARGE:
        return False
    return True


# --- formulas ---------------------------------------------------------------------------------------------------


def _of_formula(expression: WindowExpression, classes: list[int], text: str) -> _UnnumberedPart:
    formula = expression.formula
    assert formula is not None
    try:
        tracks = 1 + max(_variables(formula))
        prefix, begins, states, body, final = MarkedAutomata(classes, tracks).windows(formula)
    except TooManyLetters:
        message = f"expected a formula with at most {LETTERS_MAX} letters (classes of events times 2 for each variable)"
        raise LimitExceeded(str(query_error(text, formula.at, message + ", found more"))) from None
    except TooManyMarkedStates as error:
        message = f"expected a part of the formula with at most {MARKED_STATES_MAX} states, found one with more"
        raise LimitExceeded(str(query_error(text, error.at, message))) from None
    except TooManyStates:
        message = f"expected a formula with at most {WINDOW_STATES_MAX} states, found one with more"
        raise LimitExceeded(str(query_error(text, formula.at, message))) from None
    numbers = {state: at for at, state in enumerate(states)}
    return _UnnumberedPart(prefix, [numbers[begin] for begin in begins], body, final)


def _variables(formula: WindowFormula) -> list[int]:
    """The numbers of all variables of a formula."""
    found = [0, 1, formula.first, formula.second]
    for part in formula.parts:
        found += _variables(part)
    return found
