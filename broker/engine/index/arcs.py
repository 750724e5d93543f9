"""The index over guards: finds the arcs that an event satisfies (Cayuga 3.2; layout notes, 3).

It has two uses: the start arcs of a cell, and the arcs out of a place, where a run's registers are known too. Each
clause of a guard is filed under its witness, one condition or several of which one holds whenever the clause does, and
the rest of the clause is tested on the candidates. An equality with a constant is filed under a hash, a range in
columns sorted by its lower end with the greatest upper end of each block, a scaled register (`price > k * first.price`)
sorted by k, a text by what it wants to stand where. What is filed under several conditions is found once.

Here: filing and finding. Not here: the choice of witnesses (witness), equalities that a key space tests (spaces).
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar, final

from ...algebra.computation import Slots
from ...algebra.normal_form import Clause, Form
from ...algebra.predicate import All, SharedPredicate, condition, conjunction, holds
from ...events.networks import Network
from ...events.schema import Row, Value
from .addresses import Addresses
from .ranges import Interval, Ranges
from .scaled import Scaled, ScaledKey
from .texts import Texts
from .witness import MEASURED_MIN, SAMPLE, Filing, Selectivities, witness

TAIL_MIN: Final = 4  # arcs added since the last filing and tried one by one, and an eighth of the filed ones,
TAIL_MAX: Final = 64  # but never more than these
VAIN: Final = 32  # candidates tested in vain for an arc, on average, before witnesses are chosen anew
SAMPLED: Final = 8  # an event of so many is kept in the sample


class Guarded:
    """An entry of an index. `form` is its condition on an event, `guard` the same ready to run.

    The index itself sets `serial` and `removed`.
    """

    def __init__(self, form: Form) -> None:
        self.form = form
        self.guard: All | None = condition(form)
        self.serial = 0
        self.removed = False


A = TypeVar("A", bound=Guarded)


@final
class ArcIndex(Generic[A]):
    """`arcs` is the truth. The columns are made from it at the first search, and again after enough changes, or when
    their witnesses prove poor: each time on twice as many vain tests, so that this ends.

    So bulk loading is linear. One more arc is filed at once, but for ranges, whose columns are sorted: it is tried by
    itself until some have come together. Up to `few` arcs are tried one by one.
    """

    def __init__(self, few: int) -> None:
        self.few = few
        self.arcs: list[A] = []
        self._columns: Columns[A] | None = None
        self._tail: list[A] = []  # added since the columns were made, and not filed
        self._gone = 0  # removed arcs in the columns
        self._serial = 0
        self._vain = 0
        self._patience = VAIN
        self._sample: list[Row] = []

    def __len__(self) -> int:
        return len(self.arcs)

    def add(self, arc: A) -> None:
        arc.removed = False
        self.arcs.append(arc)
        if self._columns is not None and not self._columns.filed_at_once(arc):
            self._tail.append(arc)

    def remove(self, arc: A) -> None:
        """Remove an arc. O(arcs) list work; no filing until a quarter is gone."""
        del self.arcs[self.arcs.index(arc)]
        arc.removed = True
        if arc in self._tail:
            self._tail.remove(arc)
        elif self._columns is not None:
            self._gone += 1

    def satisfied(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> list[A]:
        """The arcs whose guard holds, each once. O(log arcs + candidates) if the witnesses are selective."""
        arcs = self.arcs
        if len(arcs) <= self.few:
            return [a for a in arcs if a.guard is None or holds(a.guard, row, bound, slots, length, span)]
        columns = self._columns
        if columns is None or self._outdated():
            columns = self._file()
        self._serial += 1
        serial = self._serial
        if serial % SAMPLED == 0:
            self._keep(row)
        found: list[A] = []
        candidates = columns.candidates(row, bound, slots)
        for filed in candidates:
            arc = filed.arc
            if arc.removed or (filed.shared and arc.serial == serial):
                continue
            if filed.rest is None or holds(filed.rest, row, bound, slots, length, span):
                arc.serial = serial
                found.append(arc)
        self._vain += len(candidates) - len(found)
        for filed in columns.plain:
            arc = filed.arc
            if not arc.removed and (filed.rest is None or holds(filed.rest, row, bound, slots, length, span)):
                found.append(arc)
        for arc in self._tail:
            if arc.guard is None or holds(arc.guard, row, bound, slots, length, span):
                found.append(arc)
        return found

    def _outdated(self) -> bool:
        size = len(self.arcs)
        filed = size - len(self._tail)
        tail = len(self._tail) > min(TAIL_MIN + (filed >> 3), TAIL_MAX)
        return tail or self._gone > (filed >> 2) or self._in_vain()

    def _in_vain(self) -> bool:
        return self._vain > self._patience * len(self.arcs) and len(self._sample) >= MEASURED_MIN

    def _file(self) -> Columns[A]:
        """File all arcs. O(arcs x sample)"""
        if self._in_vain():
            self._patience *= 2
        self._columns = Columns(self.arcs, self._sample)
        self._tail, self._gone, self._vain = [], 0, 0
        return self._columns

    def _keep(self, row: Row) -> None:
        if len(self._sample) < SAMPLE:
            self._sample.append(row)
        else:
            self._sample[self._serial // SAMPLED % SAMPLE] = row

    def indexed(self) -> bool:
        """Whether columns find the arcs, instead of trying them one by one."""
        return len(self.arcs) > self.few

    def check_invariants(self) -> None:
        assert len(self._tail) <= len(self.arcs)
        assert not any(arc.removed for arc in self.arcs)


@final
class Columns(Generic[A]):
    """Arcs filed by their clauses' witnesses; `plain` are those with a clause without one. O(arcs) to make.

    Arcs share the conditions left to test: an expensive predicate of the event alone, such as one with arithmetic or a
    function, is evaluated once for each event, however many arcs have it.
    """

    def __init__(self, arcs: list[A], sample: list[Row]) -> None:
        self.plain: list[Filed[A]] = []
        self._costs = Selectivities(sample[:])
        self._shared = SharedPredicate()
        self._ranges: list[Ranges[Filed[A]]] = []
        self._equal: dict[int, dict[Value, list[Filed[A]]]] = {}
        self._scaled: dict[ScaledKey, Scaled[Filed[A]]] = {}
        self._texts: dict[tuple[int, int], Texts[Filed[A]]] = {}
        self._addresses: dict[int, Addresses[Filed[A]]] = {}
        for arc in arcs:
            self._add(arc, self._witness(arc))

    def filed_at_once(self, arc: A) -> bool:
        """File one more arc; False if it must wait, since ranges are sorted."""
        filings = self._witness(arc)
        if any(filing.interval is not None for filing in filings):
            return False
        self._add(arc, filings)
        return True

    def candidates(self, row: Row, bound: Row, slots: Slots) -> list[Filed[A]]:
        """The clauses of whose witness a condition holds."""
        found: list[Filed[A]] = []
        for ranges in self._ranges:
            ranges.find(row, found)
        for position, by_value in self._equal.items():
            found += by_value.get(row[position], ())
        for scaled in self._scaled.values():
            scaled.find(row, bound, slots, found)
        for texts in self._texts.values():
            texts.find(row, found)
        for addresses in self._addresses.values():
            addresses.find(row, found)
        return found

    def _witness(self, arc: A) -> list[Filing]:
        """The filings of all clauses; none if one has none."""
        found: list[Filing] = []
        for clause in arc.form:
            filings = witness(clause, self._costs)
            if not filings:
                return []
            found += filings
        return found

    def _add(self, arc: A, filings: list[Filing]) -> None:
        if not filings:
            filed = Filed(arc, False)
            filed.rest = condition(arc.form, self._shared)
            self.plain.append(filed)
            return
        clause: Clause = ()
        rest: All | None = None
        for filing in filings:
            if filing.rest != clause:  # that of a list is the same for all its members
                clause = filing.rest
                rest = conjunction(clause, self._shared)
            filed = Filed(arc, len(filings) > 1)
            filed.rest = rest
            self._put(filed, filing)

    def _put(self, filed: Filed[A], filing: Filing) -> None:
        text, scaled, interval = filing.text, filing.scaled, filing.interval
        if interval is not None:
            self._ranges_for(interval).add(interval, filed)
            return
        if text is not None and isinstance(text.condition, Network):
            self._addresses.setdefault(text.position, Addresses(text.position)).add(text.condition, filed)
        elif text is not None:
            texts = self._texts.get((text.position, text.case))
            if texts is None:
                texts = Texts(self._shared.text(text.position, text.case), self._costs.sample)
                self._texts[(text.position, text.case)] = texts
            texts.add(text.kind, text.part, filed)
        elif scaled is not None:
            self._scaled.setdefault(scaled.key, Scaled(scaled.key)).add(scaled.factor, filed)
        else:
            self._equal.setdefault(filing.position, {}).setdefault(filing.value, []).append(filed)

    def _ranges_for(self, interval: Interval) -> Ranges[Filed[A]]:
        for ranges in self._ranges:
            if (ranges.position, ranges.second) == (interval.position, interval.second):
                return ranges
        ranges = Ranges[Filed[A]](interval.position, interval.second)
        self._ranges.append(ranges)
        return ranges


@final
class Filed(Generic[A]):
    """One clause of an arc under one condition; `rest` is left to test, `shared`: the arc is filed in other places."""

    __slots__ = ("arc", "rest", "shared")

    def __init__(self, arc: A, shared: bool) -> None:
        self.arc = arc
        self.shared = shared
        self.rest: All | None = None
