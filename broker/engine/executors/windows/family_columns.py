"""The columns of an event for the members of a family: by ranges of their constants, in ascending order.

How a compared value stands to a constant is a *relation*: below it, equal, above it, or null. The relations of all
values are a number, and that number with the conditions that all members share leads to a column.

Here: those tables, and the ranges of an event. Hot. Not here: members (family_machine), their effect (family_stepping).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation, EventValue, Slots
from ....algebra.functions import compare
from ....algebra.predicate import computation
from ....automaton.analyses.window_family import FamilyClause, WindowFamily, apart
from ....events.schema import Row
from ...index.columns import BLOCK
from ..packed import Integers, integers, lengthened, put_integer
from .family_constants import FamilyConstants, exact
from .tables import WindowTables
from .window_inputs import WindowInputs

BELOW: Final = 0  # relations of a constant to a value
EQUAL: Final = 1
ABOVE: Final = 2
NULL: Final = 3
RELATIONS: Final = 4
DENSE_MAX: Final = 1 << 14  # classes up to which their columns are a list
UNKNOWN: Final = -1
UNLIKE: Final = 16
"""From this bit of a block's code on: to which constants of the block, by value, that value does not stand alike."""


@final
class FamilyColumns:
    """`upto` and `columns`: of the current event's first `count` ranges, the end in the order of constants, and the
    column."""

    def __init__(self, family: WindowFamily, tables: WindowTables) -> None:
        windows = tables.windows
        self.values: list[Computation] = [computation(value) for value, _ in family.values]
        self.slots: list[int] = [slot for _, slot in family.values]
        self.conditions = family.conditions
        self.letters = dict(windows.classes)
        own = {at: bit for bit, at in enumerate(tables.order)}
        self.bits = {form: own[at] for at, form in enumerate(family.apart())}
        self.held_bits: i64 = len(tables.order)
        codes: i64 = RELATIONS ** len(family.values)
        self.dense: Integers = integers()
        self.sparse: dict[int, int] = {}
        size: i64 = codes << self.held_bits if self.held_bits < 40 else DENSE_MAX + 1
        at: i64
        if size <= DENSE_MAX:
            for at in range(size):
                self.dense = put_integer(self.dense, at, UNKNOWN)
        self.only: i64 = -1  # the attribute, if one is compared and nothing else
        first = self.values[0]
        if len(self.values) == 1 and isinstance(first, EventValue):
            self.only = first.position
        self.upto: Integers = integers()
        self.columns: Integers = integers()
        self.count: i64 = 0
        self.room: i64 = 0
        self.combinations = int(codes)
        self.codes: Integers = integers()  # how the current event's values stand to each member's constants
        self.codes_of_blocks: Integers = integers()

    def divide(self, constants: FamilyConstants, held: i64, row: Row, slots: Slots) -> None:
        """Find the ranges of an event that satisfies the shared conditions `held`. O(log members), or O(members) if
        these differ in several constants."""
        self.count = 0
        n: i64 = len(constants.all)
        if n > self.room:
            self._grow(n)
        if len(self.values) == 1:
            value: Any = row[self.only] if self.only >= 0 else self.values[0].value(row, (), slots, 1, 1)
            if value is None:
                self._add(n, NULL, held)
                return
            slot = self.slots[0]
            low = constants.below(slot, value)
            high = constants.upto(slot, value, low)
            self._add(low, BELOW, held)
            self._add(high, EQUAL, held)
            self._add(n, ABOVE, held)
            return
        values: list[Any] = [each.value(row, (), slots, 1, 1) for each in self.values]
        if len(constants.unlike) > 1:
            self._divide_each(constants, held, values, n)
            return
        bounds: list[tuple[int, int] | None] = []
        cuts = [int(n)]
        for at, value in enumerate(values):
            if value is None:
                bounds.append(None)
            else:
                first = constants.below(self.slots[at], value)
                pair = (int(first), int(constants.upto(self.slots[at], value, first)))
                bounds.append(pair)
                cuts.extend(pair)
        cuts.sort()
        begin = 0
        for cut in cuts:
            if cut > begin:
                code = 0
                for bound in reversed(bounds):
                    relation = NULL
                    if bound is not None:
                        relation = BELOW if cut <= bound[0] else ABOVE if begin >= bound[1] else EQUAL
                    code = RELATIONS * code + relation
                self._add(cut, code, held)
                begin = cut

    def _grow(self, n: i64) -> None:
        """Make room for so many members, each of which may be a range. O(1) a member, amortised."""
        self.room = n + n // 4
        self.upto = lengthened(self.upto, self.room)
        self.columns = lengthened(self.columns, self.room)
        self.codes = lengthened(self.codes, self.room)
        self.codes_of_blocks = lengthened(self.codes_of_blocks, self.room // BLOCK + 1)

    def _divide_each(self, constants: FamilyConstants, held: i64, values: list[Any], n: i64) -> None:
        """The same where members differ in several constants: most blocks of members have one code."""
        self._relate_blocks(constants, values, n)
        codes = self.codes
        blocks = self.codes_of_blocks
        known: i64 = UNKNOWN
        first: i64 = 0
        block: i64 = 0
        at: i64
        while first < n:
            upto = min(first + BLOCK, n)
            code = blocks[block]
            if code >> UNLIKE != 0:
                self._relate(constants, values, code, first, upto)
                for at in range(first, upto):
                    code = codes[at]
                    if code != known:
                        if at > 0:
                            self._add(at, known, held)
                        known = code
            elif code != known:
                if first > 0:
                    self._add(first, known, held)
                known = code
            first = upto
            block += 1
        self._add(n, known, held)

    def _relate_blocks(self, constants: FamilyConstants, values: list[Any], n: i64) -> None:
        """How the values stand to each block of constants; above these bits, which ones do not stand to all alike."""
        count = (n + BLOCK - 1) // BLOCK
        blocks = self.codes_of_blocks
        block: i64
        for block in range(count):
            blocks[block] = 0
        if count > 1:
            constants.bound()
        place: i64
        for place in range(len(values)):
            value: Any = values[place]
            slot = self.slots[place]
            unlike: i64 = 1 << (UNLIKE + place)
            shift = 2 * place
            if value is None or count == 1 or constants.odd[slot] > 0 or not exact(value):  # one block says nothing
                alike = NULL << shift if value is None else unlike
                for block in range(count):
                    blocks[block] |= alike
                continue
            level = float(value)
            least = constants.least[slot]
            most = constants.most[slot]
            for block in range(count):
                if most[block] < level:
                    continue  # BELOW is 0
                low = least[block]
                if low > level:
                    blocks[block] |= ABOVE << shift
                elif low == level and most[block] == level:
                    blocks[block] |= EQUAL << shift
                else:
                    blocks[block] |= unlike

    def _relate(self, constants: FamilyConstants, values: list[Any], code: i64, first: i64, upto: i64) -> None:
        """How the values stand to each constant of a block with this code."""
        codes = self.codes
        at: i64
        for at in range(first, upto):
            codes[at] = code & ((1 << UNLIKE) - 1)
        place: i64
        for place in range(len(values)):
            if code >> (UNLIKE + place) & 1 == 0:
                continue
            value: Any = values[place]
            slot = self.slots[place]
            shift = 2 * place
            if constants.odd[slot] == 0 and exact(value):
                level = float(value)
                levels = constants.levels[slot]
                for at in range(first, upto):
                    constant = levels[at]
                    if constant >= level:
                        codes[at] |= (EQUAL if constant == level else ABOVE) << shift
            else:
                known = constants.by_slot[slot]
                for at in range(first, upto):
                    other: Any = known[at]
                    if other >= value:
                        codes[at] |= (EQUAL if other == value else ABOVE) << shift

    def _add(self, upto: i64, code: i64, held: i64) -> None:
        """Add a range, unless it is empty or has the column of the one before."""
        at = self.count
        if upto == (self.upto[at - 1] if at > 0 else 0):
            return
        column = self.column(code, held)
        if at > 0 and self.columns[at - 1] == column:
            self.upto[at - 1] = upto
            return
        self.upto[at] = upto
        self.columns[at] = column
        self.count = at + 1

    def column(self, code: i64, held: i64) -> i64:
        """The column of an event whose values stand so to the constant. O(1)."""
        at = code << self.held_bits | held
        if len(self.dense) > 0:
            known = self.dense[at]
            if known == UNKNOWN:
                known = self._column(code, held)
                self.dense[at] = known
            return known
        found = self.sparse.get(at)
        if found is None:
            found = self.sparse[int(at)] = self._column(int(code), int(held))
        return found

    def rests(self, tables: WindowTables) -> bool:
        """Whether no member can begin a window with an event that satisfies no shared condition."""
        return not any(tables.begins[self.column(code, 0)] for code in range(self.combinations))

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
