"""Chooses under what a clause of a guard is filed: its witness, conditions of which one holds whenever the clause does.

An atom that an index finds is a witness by itself. A list of alternatives has a witness if each alternative has one:
all of them together. The index takes the witness that the fewest events satisfy. It guesses that by the kind of the
condition, and counts it on a sample of events once there is one: only the stream shows how often a name occurs.

Here: filings, what each costs, and the choice. Not here: finding the filings that hold (arcs and its neighbours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, final

from ...algebra.normal_form import Clause, alternatives_in
from ...algebra.predicate import conjunction, holds
from ...algebra.terms import Attribute, Comparison, Constant, Side
from ...algebra.text_tests import PATTERN, EventText, TextAtom, held, text_atom
from ...events.networks import Network
from ...events.schema import Row, Value
from ...events.text_condition import CONTAINS, EQUALS
from .ranges import Interval, interval_of
from .scaled import ScaledAtom, scaled_of

SAMPLE: Final = 64  # events on which witnesses are measured
MEASURED_MIN: Final = 16  # with fewer ones they are guessed
UNSEEN: Final = 1e-4  # what a guess counts beside a measurement: lists of a thousand names, none seen, are good ones


@final
@dataclass(frozen=True, slots=True)
class Filing:
    """One condition that an index finds, and what remains to be tested of the clause that is filed under it: one of
    `value` at `position`, `text`, `interval` and `scaled`."""

    rest: Clause
    position: int = -1
    value: Value = None
    text: TextAtom | None = None
    interval: Interval | None = None
    scaled: ScaledAtom | None = None


def _filings(atom: Comparison, clause: Clause) -> list[Filing]:
    """The filings of which one holds where an atom does; none if no index finds it. A range takes all bounds of its
    attributes along."""
    rest = tuple([other for other in clause if other is not atom])
    match atom:
        case Comparison("=", Attribute(Side.EVENT, position), Constant(value, _)):
            return [Filing(rest, position, value)]
    text = text_atom(atom)
    if text is not None:
        return _text_filings(text, rest, clause) if text.wanted else []
    interval = interval_of(clause)
    if interval is not None and interval.holds(atom):
        return [Filing(interval.rest, interval=interval)]
    scaled = scaled_of(atom)
    return [] if scaled is None else [Filing(rest, scaled=scaled)]


def _text_filings(text: TextAtom, rest: Clause, clause: Clause) -> list[Filing]:
    """Those of a text: itself, or what a pattern needs, which is then tested as a whole."""
    condition = text.condition
    if condition is None or isinstance(condition, Network):
        return [Filing(rest, text=text)]
    needed = condition.necessary()
    return [
        Filing(clause, text=TextAtom(kind, text.position, text.case, part, True, None, text.listed))
        for kind, part in needed
    ]


def _guessed(filing: Filing) -> float:
    """The part of the events for which a filing holds, by its kind."""
    text, interval = filing.text, filing.interval
    if text is not None:
        if text.kind == CONTAINS:
            return 0.02 if len(text.part) > 3 else 0.5 ** (len(text.part) + 1)
        return 0.002 if text.kind == EQUALS else 0.02 if text.kind == PATTERN else 0.01 if text.part else 1.0
    if interval is not None:
        return 0.015 if interval.two_sided else 0.4
    return 0.001 if filing.scaled is None else 0.2


@final
class Selectivities:
    """What witnesses cost: the part of the events that each lets through, by a sample of them if there is one."""

    def __init__(self, sample: list[Row]) -> None:
        self.sample = sample if len(sample) >= MEASURED_MIN else []
        self._known: dict[Comparison, float] = {}
        self._texts: dict[tuple[int, int], tuple[list[str], str]] = {}

    def of(self, atom: Comparison, clause: Clause) -> float:
        """The cost of an atom as a witness of its clause; infinite if it is none."""
        cost = self._known.get(atom, -1.0)
        if cost < 0.0:
            cost = self._known[atom] = self._cost(atom, clause)
        return cost

    def _cost(self, atom: Comparison, clause: Clause) -> float:
        alternatives = alternatives_in(atom)
        if alternatives:
            cost = sum([self.best(each)[0] for each in alternatives])
            return math.inf if cost >= 1.0 and self.sample else cost  # then it costs less to test the clause itself
        filings = _filings(atom, clause)
        if not filings:
            return math.inf
        if not self.sample or filings[0].scaled is not None:
            return sum([_guessed(filing) for filing in filings])
        return sum([self._measured(filing, atom) for filing in filings])

    def _measured(self, filing: Filing, atom: Comparison) -> float:
        asked = filing.text
        if asked is not None:
            texts, together = self._texts_of(asked.position, asked.case)
            nowhere = asked.condition is None and asked.part not in together  # as it is of most
            hits = 0 if nowhere else sum([held(asked, text) for text in texts])
        else:
            test = conjunction((atom,) if filing.interval is None else filing.interval.atoms)
            hits = sum([holds(test, row, (), (), 0, 0) for row in self.sample])
        return hits / len(self.sample) + UNSEEN * _guessed(filing)

    def _texts_of(self, position: int, case: int) -> tuple[list[str], str]:
        """The texts of the sample, without nulls, and all of them one after the other."""
        known = self._texts.get((position, case))
        if known is None:
            text = EventText(position, case)
            texts: list[str] = []
            for row in self.sample:
                own = text.of(row)
                texts += (text.each(row) or ()) if own is None else (own,)
            known = self._texts[(position, case)] = (texts, "\n".join(texts))
        return known

    def best(self, clause: Clause) -> tuple[float, int]:
        """The least cost of a witness of a clause, and the place of the atom."""
        cost, place = math.inf, -1
        for at, atom in enumerate(clause):
            own = self.of(atom, clause)
            if own < cost:
                cost, place = own, at
        return cost, place


def witness(clause: Clause, costs: Selectivities) -> list[Filing]:
    """The filings under which a clause is filed; none if it has no witness. O(atoms x sample)."""
    _, place = costs.best(clause)
    if place < 0:
        return []
    atom = clause[place]
    alternatives = alternatives_in(atom)
    if not alternatives:
        return _filings(atom, clause)
    others = tuple([other for other in clause if other is not atom])
    found: list[Filing] = []
    for alternative in alternatives:
        for filing in witness(alternative, costs):
            found.append(replace(filing, rest=others + filing.rest) if filing.rest else replace(filing, rest=others))
    return found
