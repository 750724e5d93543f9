"""The columns of an event for the members of a family: by ranges of their constants, in ascending order.

How a compared value stands to a constant is a *relation*: below it, equal, above it, or null. The relations of all
values are a number, and that number with the conditions that all members share leads to a column.

Here: those tables, the constants, and the ranges of an event. Hot. Not here: members (family_machine), their effect
(family_stepping).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation, Slots
from ....algebra.functions import compare
from ....algebra.predicate import computation
from ....automaton.analyses.window_family import FamilyClause, WindowFamily, apart
from ....events.schema import Row
from ..packed import Integers, integers, integers_of, lengthened, roomy
from .tables import WindowTables
from .window_inputs import WindowInputs

BELOW: Final = 0  # relations of a constant to a value
EQUAL: Final = 1
ABOVE: Final = 2
NULL: Final = 3
RELATIONS: Final = 4
NO_VALUE: Final = -2  # a null instead of where its equals are


@final
class FamilyConstants:
    """The constants of a family's members, `by_place`, in the order in which members are counted: ascending by the
    first constant, then by the next ones.

    `apart`: members differ at several places. Then `known` has the different constants of each place, ascending, and
    `ranks`, by place and member, the index of its constant among these. All three are made by `settle`.
    """

    def __init__(self, width: int) -> None:
        self.by_place: list[list[Any]] = [[] for _ in range(width)]
        self.known: list[list[Any]] = []
        self.ranks: list[Integers] = []
        self.apart = False
        self._settled = False

    def insert(self, at: int, constants: tuple[Any, ...]) -> None:
        """O(members), as of a memory move."""
        for each, constant in zip(self.by_place, constants):
            each.insert(at, constant)
        self._settled = False

    def remove(self, at: int) -> None:
        """O(members), as of a memory move."""
        for each in self.by_place:
            del each[at]
        self._settled = False

    def settle(self) -> i64:
        """Have all lists as members are now; returns how many these are. O(members log members) after a change, if
        there are several places."""
        if not self._settled and len(self.by_place) > 1:
            self.known = [sorted(set(each)) for each in self.by_place]
            self.apart = sum([len(known) > 1 for known in self.known]) > 1
            self.ranks = []
            for known, constants in zip(self.known, self.by_place):
                index = {constant: at for at, constant in enumerate(known)}
                self.ranks.append(integers_of([index[constant] for constant in constants]))
        self._settled = True
        return len(self.by_place[0])


@final
class FamilyColumns:
    """`upto` and `columns`: of the current event's first `count` ranges, the end in the order of constants, and the
    column. `first` and `end`: of each value where the constants that equal it are, in that order; where members differ
    at several places, twice the index of the known ones that equal it, or one less than that of those above it."""

    def __init__(self, family: WindowFamily, tables: WindowTables) -> None:
        windows = tables.windows
        self.values: list[Computation] = [computation(value) for value, _ in family.values]
        self.places: list[int] = [place for _, place in family.values]
        self.conditions = family.conditions
        self.letters = dict(windows.classes)
        own = {at: bit for bit, at in enumerate(tables.order)}
        self.bits = {form: own[at] for at, form in enumerate(family.apart())}
        self.relations = RELATIONS ** len(family.values)
        self.numbers: dict[int, int] = {}  # by shared conditions, of the table of all relations in `tables`
        self.tables: list[Integers] = []
        self.first: Integers = lengthened(integers(), len(self.values))
        self.end: Integers = lengthened(integers(), len(self.values))
        self.upto: Integers = integers()
        self.columns: Integers = integers()
        self.count: i64 = 0
        self.codes: Integers = integers()

    def divide(self, constants: FamilyConstants, held: i64, row: Row, slots: Slots) -> None:
        """Find the ranges of an event that satisfies the shared conditions `held`. O(log members), or O(members) if
        these differ in several constants."""
        self.count = 0
        n = constants.settle()
        if n > len(self.upto):
            self.upto = roomy(self.upto, n)
            self.columns = roomy(self.columns, n)
            self.codes = roomy(self.codes, n)
        at: i64
        for at in range(len(self.values)):
            value: Any = self.values[at].value(row, (), slots, 1, 1)
            if value is None:
                self.first[at] = NO_VALUE
                self.end[at] = NO_VALUE
                continue
            known = (constants.known if constants.apart else constants.by_place)[self.places[at]]
            first = bisect_left(known, value)
            equal = first < len(known) and known[first] == value
            if constants.apart:
                self.first[at] = 2 * first - (0 if equal else 1)
                self.end[at] = NO_VALUE
            else:
                self.first[at] = first
                self.end[at] = bisect_right(known, value, first) if equal else first
        columns = self._columns_of(held)
        if constants.apart:
            self._divide_each(constants, columns, n)
        else:
            self._divide_all(columns, n)

    def _divide_all(self, columns: Integers, n: i64) -> None:
        """Members differ at one place at most, so that ranges of them stand alike."""
        begin: i64 = 0
        while begin < n:
            cut = n
            code: i64 = 0
            at: i64
            for at in range(len(self.values)):
                relation: i64 = ABOVE
                first, end = self.first[at], self.end[at]
                if end == NO_VALUE:
                    relation = NULL
                elif begin < first:
                    relation = BELOW
                    cut = min(cut, first)
                elif begin < end:
                    relation = EQUAL
                    cut = min(cut, end)
                code |= relation << (2 * at)
            self._add(cut, columns[code])
            begin = cut

    def _divide_each(self, constants: FamilyConstants, columns: Integers, n: i64) -> None:
        """Members differ at several places."""
        codes = self.codes
        member: i64
        for member in range(n):
            codes[member] = 0
        at: i64
        for at in range(len(self.values)):
            shift = 2 * at
            equal = self.first[at]
            ranks = constants.ranks[self.places[at]]
            for member in range(n):
                rank = 2 * ranks[member]
                if equal == NO_VALUE:
                    codes[member] |= NULL << shift
                elif rank >= equal:
                    codes[member] |= (EQUAL if rank == equal else ABOVE) << shift
        for member in range(n):
            self._add(member + 1, columns[codes[member]])

    def _add(self, upto: i64, column: i64) -> None:
        """Add a range, unless it has the column of the one before."""
        at = self.count
        if at > 0 and self.columns[at - 1] == column:
            self.upto[at - 1] = upto
            return
        self.upto[at] = upto
        self.columns[at] = column
        self.count = at + 1

    def _columns_of(self, held: i64) -> Integers:
        """The column of an event that satisfies these conditions, by how its values stand to constants. Amortised O(1).
        """
        number = self.numbers.get(held)
        if number is None:
            number = self.numbers[int(held)] = len(self.tables)
            self.tables.append(integers_of([self._column(code, int(held)) for code in range(self.relations)]))
        return self.tables[number]

    def rests(self, tables: WindowTables) -> bool:
        """Whether no member can begin a window with an event that satisfies no shared condition."""
        return not any(tables.begins[self._column(code, 0)] for code in range(self.relations))

    def _column(self, code: int, held: int) -> int:
        letter = 0
        for at, alternatives in enumerate(self.conditions):
            if self._holds(alternatives, code, held):
                letter |= 1 << at
        return self.letters.get(letter, 0)  # any, if no event can have it

    def _holds(self, alternatives: tuple[FamilyClause, ...], code: int, held: int) -> bool:
        forms = apart(alternatives)
        if not any(clause.asked for clause in alternatives):
            return bool(held >> self.bits[forms[0]] & 1)
        for clause in alternatives:
            rest = not clause.rest or held >> self.bits[(clause.rest,)] & 1
            if rest and all(_stands(code >> 2 * value & 3, operator) for value, operator in clause.asked):
                return True
        return False


def tables_of_family(family: WindowFamily, keyed: bool) -> tuple[WindowTables, FamilyColumns, WindowInputs]:
    """Tables of a family, its columns, and the events that its members need: maybe those that satisfy no shared
    condition, too."""
    tables = WindowTables(family.automaton, family)
    columns = FamilyColumns(family, tables)
    tables.sleeps = tables.sleeps and columns.rests(tables)
    return tables, columns, WindowInputs(tables, family.automaton, keyed, family)


def _stands(relation: int, operator: str) -> bool:
    """Whether a comparison of the value with the constant holds."""
    return relation != NULL and compare(operator, ABOVE - relation, EQUAL)
