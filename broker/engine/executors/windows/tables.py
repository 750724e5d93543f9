"""The tables of a window automaton as a machine reads them: one numbering of all parts' states, and what to measure.

Here: what does not change while events come, nor with the constants of conditions that read the event alone, so that
the machines of a template share it. Not here: their events (window_inputs), the effect of these (stepping), the
automaton (automaton/windows).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation
from ....algebra.normal_form import ALWAYS, NEVER, Form
from ....algebra.predicate import All, computation, condition
from ....algebra.terms import (
    Arithmetic,
    Attribute,
    Comparison,
    Constant,
    Register,
    Term,
    nullable,
    replace,
    walk,
)
from ....algebra.window_aggregates import WindowAggregate
from ....automaton.analyses.window_family import WindowFamily
from ....automaton.automaton import Automaton
from ....automaton.windows.window_automaton import DEAD, WindowAutomaton
from ....events.schema import Row
from ..packed import Integers, integers, integers_of
from .measures import ExtremeMeasure, FloatMeasure, IntegerMeasure, WindowMeasure

UNBOUNDED: Final = 1 << 60
NO_MEASURE: Final = -1
GAP_MAX: Final = 1 << 61  # microseconds; no duration in a query is longer
DENSE_BITS: Final = 12  # conditions up to which the columns of all classes are a list

COUNT: Final = "count"
TOTAL: Final = "total"
EXACT: Final = "exact"
LEAST: Final = "least"
GREATEST: Final = "greatest"


@final
class AggregatePlan:
    """How one aggregate is read: by the measure with the number `measure`, or from the rows of the window.

    `counter`: the measure that counts its values, if there may be fewer than events. `number`: which of the aggregates
    it is; `values`: what computes its arguments.
    """

    def __init__(self, aggregate: WindowAggregate, values: list[Computation], at: int) -> None:
        self.number = at
        self.function = aggregate.function
        self.distinct = aggregate.distinct
        self.share = aggregate.share
        self.values = values
        self.kind = ""
        self.measure = NO_MEASURE
        self.counter = NO_MEASURE


@final
class MeasurePlan:
    """Makes the measures of a kind and a term; partitions are many, so that everything is known beforehand."""

    def __init__(self, kind: str, term: Term) -> None:
        self.kind = kind
        self.value = computation(term)

    def make(self) -> WindowMeasure:
        if self.kind in (COUNT, TOTAL):
            return IntegerMeasure(self.value, self.kind == COUNT)
        if self.kind == EXACT:
            return FloatMeasure(self.value)
        return ExtremeMeasure(self.value, self.kind == GREATEST)


@final
class WindowTables:
    """`back`: how many events are kept to look back; `columns`: of the tables.

    Parts are numbered; the states of all bodies have different numbers, and so have those of all prefixes. `prefix`,
    `body`: the next state, by state times columns plus column; `first`: likewise by state of the prefix, that of the
    body behind the first event of a window, or DEAD. `initial`, `least`, `most`, `within`: by part. `final` and
    `terminal` (nothing comes after it): by state of the body, 1 if so; `part`: whose it is.

    `forgets`: a partition without open windows needs no state; `begins`: by column, whether one may begin then.
    `expires`: windows may become too long; `bounded`: or be too short; `waits`: they are told when they are over.
    `plain`: one part without bounds. `sleeps`: without open windows, an event that satisfies no condition changes
    nothing. `rows`: the rows of open windows are kept, because an aggregate may ask for them. `kinds`: those of
    measures. `marks`: of a partition that has had no event (cell). `blank`: a row of nulls.

    `order`: the conditions as machines number them; the first `plain_bits` read the event alone. `rousing`: of these,
    an event that begins a window satisfies one.

    Conditions that compare the time of an event with the one before are `gaps`, by bit the most microseconds between
    the two, or -1; all others that look back are in `tested`, and `looks` says whether there are any. `gap`: that of
    the only condition that looks back; -1 if there is none such.
    """

    def __init__(self, automaton: Automaton, family: WindowFamily | None = None) -> None:
        windows = automaton.windows
        assert windows is not None
        self.windows = windows
        (self.source,) = automaton.sources
        self.width = len(self.source.schema.attributes)
        self.blank: Row = (None,) * self.width
        self.positions: list[int] = list(self.source.key)
        self.single: i64 = self.positions[0] if len(self.positions) == 1 else -1
        self.back = windows.back
        self.columns: i64 = windows.columns
        self.keep = windows.keep
        self._read_conditions(list(windows.atoms) if family is None else family.apart(), windows.back)
        values = [] if family is None else [value for value, _ in family.values]
        self.looks = -1 in self.gaps or any(isinstance(part, Register) for value in values for part in walk(value))
        if not self.looks:
            self.back = 0  # the time of the newest event is known anyway
        self._read_classes(windows if family is None else None)
        self._read_parts(windows)
        self.sleeps = self.forgets and len(self.gaps) == 0 and windows.clock is None
        self.rousing: i64 = -1
        if family is None:
            self.sleeps = self.sleeps and not self.begins[self.column(0)]
            self.rousing = self._rousing() if self.sleeps else -1
        self._read_aggregates(windows)

    def fit(self, automaton: Automaton) -> bool:
        """Whether they are those of this automaton, too. O(conditions)."""
        known, windows = self.windows, automaton.windows
        if windows is None or windows.parts is not known.parts or windows.classes is not known.classes:
            return False
        if windows.aggregates is not known.aggregates or windows.clock is not known.clock:
            return False
        one, other = (known.back, known.keep, known.gap), (windows.back, windows.keep, windows.gap)
        return one == other and (self.source,) == automaton.sources and self._orders(windows.atoms)

    def _orders(self, conditions: Sequence[Form]) -> bool:
        """Whether of these conditions the same ones read the event alone, and the others are the same."""
        order, plain = self.order, int(self.plain_bits)
        if len(order) != len(conditions) or not all(_is_static(conditions[at]) for at in order[:plain]):
            return False
        return tuple([conditions[at] for at in order[plain:]]) == self._rest

    # --- partitions -------------------------------------------------------------------------------------------------

    def partition(self, row: Row) -> Any:
        """The key of an event: the value of the only attribute, or a tuple; None if it is in no partition. O(1)."""
        if self.single >= 0:
            return row[self.single]
        if len(self.positions) == 0:
            return ()
        key = tuple([row[position] for position in self.positions])
        return None if None in key else key

    def key_of(self, values: Sequence[Any]) -> Any:
        """The key with these values."""
        return values[0] if self.single >= 0 else tuple(values)

    def starts_max(self, runs_max: int, events_max: int) -> int:
        """The most open starts of a partition: `runs_max` if one event may complete windows of all. O(parts)."""
        single = self.keep == "earliest" or all(one.least == one.most for one in self.windows.parts)
        return events_max if single else runs_max

    def reaches(self, start: i64, begun: i64, count: i64, time: i64) -> bool:
        """Whether a window may end with the event `count` at a time that began with the event `start`. O(parts)."""
        part: i64
        for part in range(self.parts):  # noqa: SIM110  compiled code has no generators here
            if count - start < self.most[part] and time - begun <= self.within[part]:
                return True
        return False

    # --- conditions -------------------------------------------------------------------------------------------------

    def _read_conditions(self, conditions: list[Form], back: int) -> None:
        """Conditions that read the event alone are inputs; the machine tests the others."""
        plain = [at for at, form in enumerate(conditions) if _is_static(form)]
        rest = [at for at in range(len(conditions)) if at not in plain]
        self._rest = tuple([conditions[at] for at in rest])
        self.gaps: Integers = integers_of([_gap(conditions[at], back) for at in rest])
        self.tested: list[All | None] = [condition(conditions[at]) for at in rest]
        self.plain_bits: i64 = len(plain)
        self.gap: i64 = self.gaps[0] if len(rest) == 1 else -1
        self.order: list[int] = [*plain, *rest]

    def _read_classes(self, windows: WindowAutomaton | None) -> None:
        """The columns of classes; those of a family depend on the constant (family_columns)."""
        self.dense: Integers = integers()
        self.sparse: dict[int, int] = {}
        order = self.order
        for letter, column in () if windows is None else windows.classes:
            own = sum(1 << bit for bit, at in enumerate(order) if letter >> at & 1)
            self.sparse[own] = column
        if windows is not None and len(order) <= DENSE_BITS:
            self.dense = integers_of([self.sparse.get(own, 0) for own in range(1 << len(order))])

    def _rousing(self) -> int:
        """A condition without which no window begins; all of them if there is no such."""
        common = -1
        for own, column in self.sparse.items():
            if self.begins[column]:
                common &= own
        return common & -common or -1

    def column(self, letter: i64) -> i64:
        """The column of a class, in the machine's order of conditions. O(1)."""
        if len(self.dense) > 0:
            return self.dense[letter]
        return self.sparse[letter]

    # --- states -----------------------------------------------------------------------------------------------------

    def _read_parts(self, windows: WindowAutomaton) -> None:
        self.parts: i64 = len(windows.parts)
        width = int(self.columns)
        prefix: list[int] = []
        first: list[int] = []
        body: list[int] = []
        final: list[bool] = []
        part: list[int] = []
        initial: list[int] = []
        for number, one in enumerate(windows.parts):
            before, shift = len(first) // width, len(final)
            initial.append(before)
            prefix += [state + before for state in one.prefix]
            for start in one.starts:
                row = one.body[start * width : (start + 1) * width] if start != DEAD else (DEAD,) * width
                first += [DEAD if state == DEAD else state + shift for state in row]
            body += [DEAD if state == DEAD else state + shift for state in one.body]
            final += one.final
            part += [number] * len(one.final)
        self.prefix: Integers = integers_of(prefix)
        self.first: Integers = integers_of(first)
        self.body: Integers = integers_of(body)
        self.part: Integers = integers_of(part)
        self.initial: Integers = integers_of(initial)
        self.least: Integers = integers_of([one.least for one in windows.parts])
        self.most: Integers = integers_of([UNBOUNDED if one.most is None else one.most for one in windows.parts])
        self.within: Integers = integers_of([UNBOUNDED if one.within is None else one.within for one in windows.parts])
        self.states: i64 = len(final)
        self.final: Integers = integers_of([int(ends) for ends in final])
        self.terminal: Integers = integers_of(
            [
                int(all(target == DEAD for target in body[state * width : (state + 1) * width]))
                for state in range(len(final))
            ]
        )
        self.expires = any(one.most is not None or one.within is not None for one in windows.parts)
        self.bounded = self.expires or any(one.least > 1 for one in windows.parts)
        self.plain = len(windows.parts) == 1 and not self.bounded
        self.marks: Integers = integers_of([*initial, *([0] * (2 * len(initial) if self.bounded else 0))])
        self.waits = windows.keep == "longest"
        # Where a partition without open windows is as if it had had no event, most events need not be looked at.
        self.forgets = windows.back == 0 and all(len(one.starts) == 1 for one in windows.parts)
        self.begins: list[bool] = [
            any(first[state * width + column] != DEAD for state in initial) for column in range(width)
        ]

    # --- aggregates -------------------------------------------------------------------------------------------------

    def _read_aggregates(self, windows: WindowAutomaton) -> None:
        self.aggregates: list[AggregatePlan] = []
        self.rows = False
        self.timed = False
        kinds: dict[tuple[str, Term], int] = {}
        for aggregate in windows.aggregates:
            terms = [_with_time(term, self.width) for term in aggregate.arguments]
            self.timed = self.timed or any(isinstance(part, Register) for term in terms for part in walk(term))
            values = [computation(term) for term in terms]
            kind = _kind(aggregate)
            if kind == COUNT and not nullable(terms[0]):
                kind, values = "", []  # as count(*)
            plan = AggregatePlan(aggregate, values, len(self.aggregates))
            if kind:
                plan.kind, plan.measure = kind, kinds.setdefault((kind, terms[0]), len(kinds))
            if kind in (TOTAL, EXACT) and nullable(terms[0]):
                plan.counter = kinds.setdefault((COUNT, terms[0]), len(kinds))
            if values and (not kind or kind == EXACT):
                self.rows = True
            self.aggregates.append(plan)
        self._measured = list(kinds)
        if windows.keep == "longest":
            self.rows = any(aggregate.arguments for aggregate in windows.aggregates)
            self._measured = []
        self.kinds: list[str] = [kind for kind, _ in self._measured]
        self.plans = [MeasurePlan(kind, term) for kind, term in self._measured]

    def measures(self) -> WindowMeasure | None:
        """The measures of a new partition, as a chain."""
        first: WindowMeasure | None = None
        for plan in reversed(self.plans):
            measure = plan.make()
            measure.rest = first
            first = measure
        return first


def tables_of(automaton: Automaton) -> WindowTables:
    """Its tables, which the machines of one template share: the same ones as for the one before, where they fit. O(size
    of the tables) if they do not."""
    windows = automaton.windows
    assert windows is not None
    known = windows.shared.made
    if isinstance(known, WindowTables) and known.fit(automaton):
        return known
    tables = WindowTables(automaton)
    windows.shared.made = tables
    return tables


def _is_static(form: Form) -> bool:
    registers = any(isinstance(part, Register) for clause in form for atom in clause for part in walk(atom))
    return not registers and form not in (ALWAYS, NEVER)


def _with_time(term: Term, width: int) -> Term:
    """The argument of an aggregate as executors read it: the time is the only register."""

    def leaf(part: Term) -> Term:
        if isinstance(part, Attribute) and part.position == width:
            return Register(0, -1, part.type, part.name)
        return part

    return replace(term, leaf)


def _kind(aggregate: WindowAggregate) -> str:
    """Which measure says it; "" for none."""
    if aggregate.distinct or not aggregate.arguments:
        return ""
    match aggregate.function:
        case "count":
            return COUNT
        case "sum" | "avg":
            return TOTAL if aggregate.arguments[0].type == "int" else EXACT
        case "min":
            return LEAST
        case "max":
            return GREATEST
    return ""


def _gap(form: Form, back: int) -> int:
    """The constant of a condition `time - prev.time <= constant`; -1 for any other."""
    now, before = Register(back, -1, "int"), Register(back + 1, -1, "int")
    match form:
        case ((Comparison("<=", Arithmetic("-", Register() as left, Register() as right), Constant(int() as most)),),):
            same = (left.slot, left.position, right.slot, right.position)
            if same == (now.slot, now.position, before.slot, before.position) and 0 <= most <= GAP_MAX:
                return most
    return -1
