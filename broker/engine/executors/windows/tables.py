"""The tables of a window automaton as a machine reads them: one numbering of all parts' states, and what to measure.

Here: what does not change while events come. Not here: their effect (stepping), the automaton (automaton/windows).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation
from ....algebra.normal_form import ALWAYS, NEVER, Form
from ....algebra.predicate import All, computation, condition
from ....algebra.terms import Attribute, Register, Term, nullable, replace, walk
from ....algebra.window_aggregates import WindowAggregate
from ....automaton.automaton import Automaton
from ....automaton.windows.window_automaton import DEAD, WindowAutomaton
from ..contract import Input
from .measures import CountMeasure, ExtremeMeasure, FloatMeasure, IntegerMeasure, WindowMeasure

UNBOUNDED: Final = 1 << 60
NO_MEASURE: Final = -1
DENSE_BITS: Final = 12  # conditions up to which the columns of all classes are a list

COUNT: Final = "count"
TOTAL: Final = "total"
EXACT: Final = "exact"
LEAST: Final = "least"
GREATEST: Final = "greatest"


@final
class AggregatePlan:
    """How one aggregate is read: by the measure with the number `measure`, or from the rows of the window.

    `values`: what computes its arguments.
    """

    def __init__(self, aggregate: WindowAggregate, values: list[Computation], kind: str, measure: int) -> None:
        self.function = aggregate.function
        self.distinct = aggregate.distinct
        self.share = aggregate.share
        self.values = values
        self.kind = kind
        self.measure = measure


@final
class WindowTables:
    """`back`: how many events are kept to look back; `columns`: of the tables.

    Parts are numbered, and the states of all bodies have different numbers. `prefix`, `starts`: by part. `body`: the
    next state; `final`; `terminal`: nothing comes after the state; `part`: whose it is. `least`, `most`, `within`: by
    part. `forgets`: a partition without open windows needs no state; `begins`: by column, whether one may begin then.
    `expires`: windows may become too long; `bounded`: or be too short; `waits`: they are told when they are over.
    `rows`: the rows of open windows are kept, because an aggregate may ask for them. `measured`: there are measures.
    """

    def __init__(self, automaton: Automaton) -> None:
        windows = automaton.windows
        assert windows is not None
        self.windows = windows
        (self.source,) = automaton.sources
        self.width = len(self.source.schema.attributes)
        self.back = windows.back
        self.columns: i64 = windows.columns
        self.keep = windows.keep
        self._read_conditions(windows)
        self._read_parts(windows)
        self._read_aggregates(windows)

    # --- conditions -------------------------------------------------------------------------------------------------

    def _read_conditions(self, windows: WindowAutomaton) -> None:
        """Conditions that read the event alone are inputs; the machine tests the others."""
        plain = [at for at, form in enumerate(windows.atoms) if _is_static(form)]
        rest = [at for at in range(len(windows.atoms)) if at not in plain]
        stream = self.source.stream
        self.inputs = [Input(stream, ALWAYS), *(Input(stream, windows.atoms[at]) for at in plain)]
        self.tested: list[All | None] = [condition(windows.atoms[at]) for at in rest]
        self.plain: i64 = len(plain)
        order = [*plain, *rest]
        self.looks = len(rest) > 0
        self.dense: list[int] = []
        self.sparse: dict[int, int] = {}
        for letter, column in windows.classes:
            own = sum(1 << bit for bit, at in enumerate(order) if letter >> at & 1)
            self.sparse[own] = column
        if len(order) <= DENSE_BITS:
            self.dense = [self.sparse.get(own, 0) for own in range(1 << len(order))]

    def column(self, letter: i64) -> i64:
        """The column of a class, in the machine's order of conditions. O(1)."""
        if len(self.dense) > 0:
            return self.dense[letter]
        return self.sparse[letter]

    # --- states -----------------------------------------------------------------------------------------------------

    def _read_parts(self, windows: WindowAutomaton) -> None:
        self.parts: i64 = len(windows.parts)
        self.prefix: list[list[int]] = []
        self.starts: list[list[int]] = []
        self.body: list[int] = []
        self.final: list[bool] = []
        self.part: list[int] = []
        self.least: list[int] = []
        self.most: list[int] = []
        self.within: list[int] = []
        for number, one in enumerate(windows.parts):
            shift = len(self.final)
            self.prefix.append(list(one.prefix))
            self.starts.append([DEAD if state == DEAD else state + shift for state in one.starts])
            self.body += [DEAD if state == DEAD else state + shift for state in one.body]
            self.final += one.final
            self.part += [number] * len(one.final)
            self.least.append(one.least)
            self.most.append(UNBOUNDED if one.most is None else one.most)
            self.within.append(UNBOUNDED if one.within is None else one.within)
        width = int(self.columns)
        self.terminal: list[bool] = [
            all(target == DEAD for target in self.body[state * width : (state + 1) * width])
            for state in range(len(self.final))
        ]
        self.expires = any(most < UNBOUNDED for most in (*self.most, *self.within))
        self.bounded = self.expires or any(least > 1 for least in self.least)
        self.waits = windows.keep == "longest"
        # Where a partition without open windows is as if it had had no event, most events need not be looked at.
        self.forgets = windows.back == 0 and all(len(one.starts) == 1 for one in windows.parts)
        begins = [self.starts[number][0] for number in range(len(windows.parts))]
        self.begins: list[bool] = [
            any(state != DEAD and self.body[state * width + column] != DEAD for state in begins)
            for column in range(width)
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
            measure = NO_MEASURE
            if kind:
                measure = kinds.setdefault((kind, terms[0]), len(kinds))
            if values and (not kind or kind == EXACT):
                self.rows = True
            self.aggregates.append(AggregatePlan(aggregate, values, kind, measure))
        self._measured = [(kind, computation(term), nullable(term)) for kind, term in kinds]
        if windows.keep == "longest":
            self.rows = any(aggregate.arguments for aggregate in windows.aggregates)
            self._measured = []
        self.measured = len(self._measured) > 0

    def measures(self) -> list[WindowMeasure]:
        """The measures of a new partition."""
        return [_measure(kind, value, may_be_null) for kind, value, may_be_null in self._measured]


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


def _measure(kind: str, value: Computation, may_be_null: bool) -> WindowMeasure:
    if kind == COUNT:
        return CountMeasure(value)
    if kind == TOTAL:
        return IntegerMeasure(value, may_be_null)
    if kind == EXACT:
        return FloatMeasure(value, may_be_null)
    return ExtremeMeasure(value, kind == GREATEST)
