"""The template of a line whose repeating operand is the last, or followed by a single event, and whose constants decide
which events its runs take, each for what it is alone.

Members do not share runs there: each takes other events. But a member's runs can be read off the events of a window:
which may be the first of an operand, and which may be taken again. So the constants of every operand may differ.

Here: that. Not here: repeating operands whose runs all members share (kleene_template), what a template is (template).
"""

from __future__ import annotations

from dataclasses import replace

from ...algebra.terms import Attribute, Constant, Register, walk
from ..automaton import Accumulated, Arc, Automaton, Stay
from .coordinates import exact
from .event_constants import shared_constants
from .line import LineOperand
from .template import (
    Grouping,
    KeyedLine,
    NoTemplate,
    TemplateClause,
    TemplateConditions,
    TemplateStep,
    alternatives,
    any_value,
)

STEPS = 2  # as of any pattern of several events


def selection_grouping(keyed: KeyedLine) -> Grouping:
    """Raises NoTemplate. The automaton reports each match, and nothing is forbidden. O(its size).

    In the template, the last step is what ends a match. Its clause reads the registers of the run, which the `updates`
    fill: those of each operand's first event, and behind them those of a further one.
    """
    within, line = keyed.automaton.within, keyed.line
    window = None if within is None else exact(within)
    if window is None:
        raise NoTemplate("it has no window")
    repeated = _repeated(keyed.inner, line)
    known = shared_constants([arc.guard for arc in keyed.taking])
    steps, values = _steps(line, repeated, known)
    _demand_known(steps[-1].clauses[0], line[repeated])
    updates = [link.begin.update for link in line]
    updates += [link.take.update for link in line if link.take is not None]
    slots = tuple(range(len(updates[0])))
    template = replace(keyed.template(known, steps), window=True, slots=slots, updates=tuple(updates))
    return Grouping(template, tuple(known.values()), (*values, -window))


def _demand_known(clause: TemplateClause, link: LineOperand) -> None:
    """Demand that a condition reads nothing that all events of the operand decide, but for their number."""
    terms = [*clause.rest, *(asked.term for asked in clause.asked if asked.term is not None)]
    terms += [atom for one in clause.among for atom in one]
    for slot in {part.slot for term in terms for part in walk(term) if isinstance(part, Register)}:
        source = None if link.take is None else link.take.update[slot]
        if isinstance(source, Accumulated) and source.function != "len":
            raise NoTemplate("the end of a match computes with all events of an operand")


def _repeated(automaton: Automaton, line: tuple[LineOperand, ...]) -> int:
    """Which operand repeats."""
    *others, repeated = [number for number, link in enumerate(line) if link.take is not None]
    if others or repeated < len(line) - 2:
        raise NoTemplate("another operand repeats, or more than one event follows")
    waiting = [link.begin for link in line[1:]] + [link.take for link in line if link.take is not None]
    if any(automaton.states[arc.source].stay is not Stay.UNTAKEN for arc in waiting):
        raise NoTemplate("not every step skips till the next match")
    return repeated


def _steps(
    line: tuple[LineOperand, ...], repeated: int, known: dict[Attribute, Constant]
) -> tuple[tuple[TemplateStep, ...], list[float]]:
    """The steps, and their constants: each operand up to the one that repeats, and what ends a match."""
    conditions = TemplateConditions((), False)

    def asked(arc: Arc | None, end: Arc | None = None) -> TemplateClause:
        """What an event is asked, and a run that it ends."""
        guard, rest = (((),), ((),)) if arc is None else (arc.guard, arc.rest)
        if end is not None:
            rest = tuple((*one, *own, *more) for one in rest for own in end.guard for more in end.rest)
        each = alternatives(guard, rest, STEPS)
        if len(each) > 1:
            raise NoTemplate("a condition has alternatives")
        (found,) = conditions.of(each, known, any_value)
        if end is None and not found.alone:
            raise NoTemplate("an event is compared with an earlier one before the last operand")
        return found

    steps: list[TemplateStep] = []
    for link in line[: repeated + 1]:
        first = asked(link.begin)
        again = None if link.take is None else (asked(link.take),)
        steps.append(TemplateStep(Stay.UNTAKEN, (first,), again))
    waiting = [clause for step in steps[1:] for clause in step.clauses]
    if not any(clause.asked for clause in (*waiting, *(steps[-1].again or ()))):
        raise NoTemplate("no number that could differ decides which events its runs take")
    last = line[repeated + 1].begin if repeated + 1 < len(line) else None
    steps.append(TemplateStep(Stay.UNTAKEN, (asked(last, line[repeated].proceed),)))
    return tuple(steps), conditions.values
