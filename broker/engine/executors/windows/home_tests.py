"""The conditions of a subscription on the events of its only key, as tests of attributes against constants.

Conditions are conjunctions: which attributes are compared, and how, is a *form*, which subscriptions have in common;
the constants are their own, in columns of all of them. Here: forms, and the class of an event. Hot. Not here: the key
(automaton/analyses/window_key), who has which constants (home_machine).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64

from ....algebra.comparisons import OPERATORS, related, related_floats
from ....algebra.normal_form import Form
from ....algebra.terms import Attribute, Comparison, Constant, Side
from ....events.schema import Row, Value
from ...index.columns import EXACT
from ..packed import Floats, Integers, floats, integers_of, put
from .family_constants import exact

FLOAT: Final = 0  # kinds of tests: of floats, of integers, of other values
INTEGER: Final = 1
OTHER: Final = 2
KINDS: Final = {"float": FLOAT, "int": INTEGER}

Shape: TypeAlias = tuple[int, tuple[tuple[int, int, int, int], ...]]
"""How many conditions there are; of each test the bit of its condition, attribute, operator, and kind."""


def untestable(conditions: Sequence[Form]) -> str:
    """Why conditions are no tests; "" if they are. It does not depend on the values of constants. O(their size)."""
    for form in conditions:
        if len(form) != 1:
            return "a condition has alternatives"
        for atom in form[0]:
            left = atom.left
            if not (isinstance(left, Attribute) and left.side is Side.EVENT and isinstance(atom.right, Constant)):
                return "a condition compares other things than an attribute with a constant"
    return ""


def tests_of(conditions: Sequence[Form], key: Sequence[Comparison]) -> tuple[Shape, tuple[Value, ...]]:
    """The tests that such conditions are for an event that has this key, and the constants. O(size of conditions)."""
    tests: list[tuple[int, int, int, int]] = []
    constants: list[Value] = []
    for bit, (clause,) in enumerate(conditions):
        for atom in clause:
            left, right = atom.left, atom.right
            assert isinstance(left, Attribute)
            assert isinstance(right, Constant)
            if atom not in key:
                kind = KINDS.get(left.type, OTHER) if exact(right.value) else OTHER
                tests.append((bit, left.position, OPERATORS[atom.operator], kind))
                constants.append(right.value)
    return (len(conditions), tuple(tests)), tuple(constants)


@final
class HomeTests:
    """The tests of one shape. `whole`: the class of an event that satisfies all conditions."""

    def __init__(self, shape: Shape) -> None:
        conditions, tests = shape
        self.count: i64 = len(tests)
        self.whole: i64 = (1 << conditions) - 1
        self.bits: Integers = integers_of([1 << bit for bit, _, _, _ in tests])
        self.positions: Integers = integers_of([position for _, position, _, _ in tests])
        self.operators: Integers = integers_of([operator for _, _, operator, _ in tests])
        self.kinds: Integers = integers_of([kind for _, _, _, kind in tests])


@final
class HomeConstants:
    """The constants of all subscriptions: numbers as floats, which hold them exactly; `others` has what is none."""

    def __init__(self) -> None:
        self.numbers: Floats = floats()
        self.others: list[Value] = []
        self._free: dict[i64, list[int]] = {}  # by how many there were, where constants have been

    def add(self, tests: HomeTests, constants: Sequence[Value]) -> int:
        """Keep the constants of a subscription; returns where they begin."""
        free = self._free.get(tests.count)
        begin = free.pop() if free else len(self.others)
        for at, constant in enumerate(constants, begin):
            number = tests.kinds[at - begin] != OTHER
            value: Any = constant
            self.numbers = put(self.numbers, at, float(value) if number else 0.0)
            if at == len(self.others):
                self.others.append(None)
            self.others[at] = None if number else constant
        return begin

    def drop(self, tests: HomeTests, begin: int) -> None:
        """Undo `add`."""
        if tests.count > 0:
            self._free.setdefault(tests.count, []).append(begin)

    def letter(self, tests: HomeTests, begin: i64, row: Row) -> i64:
        """The class of an event. O(tests)."""
        found = tests.whole
        numbers = self.numbers
        at: i64
        for at in range(tests.count):
            bit = tests.bits[at]
            if found & bit == 0:
                continue
            value: Any = row[tests.positions[at]]
            kind = tests.kinds[at]
            if value is None:
                found &= ~bit
            elif kind == FLOAT:
                if not related_floats(tests.operators[at], value, numbers[begin + at]):
                    found &= ~bit
            elif kind == INTEGER and -EXACT <= value <= EXACT:
                if not related_floats(tests.operators[at], float(value), numbers[begin + at]):
                    found &= ~bit
            else:
                constant: Any = numbers[begin + at] if kind == INTEGER else self.others[begin + at]
                if not related(int(tests.operators[at]), value, constant):
                    found &= ~bit
        return found
