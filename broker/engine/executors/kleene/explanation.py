"""Explains a plan to users: the key of its runs, and where the conditions of each edge are tested.

Here: lines of text. Not here: the automaton as a diagram (broker.automaton.drawing), machines of a program (dispatch).
"""

from __future__ import annotations

from typing import Final

from ....algebra.normal_form import ALWAYS, Form
from ....automaton.analyses.line import line_of
from ....automaton.automaton import Arc, Automaton, Kind, Report, Stay
from ....automaton.drawing import ANY_EVENT, event_name, standing, written
from ....events.instant import format_duration
from .kleene_plan import ForbiddenEvents, KleenePlan

STRATEGIES: Final = {
    Stay.NONE: "strict_contiguity",
    Stay.FOREIGN: "partition_contiguity",
    Stay.UNTAKEN: "skip_till_next_match",
    Stay.ALL: "skip_till_any_match",
}
OUTPUTS: Final = {Report.EACH: "all", Report.NONOVERLAP: "nonoverlap", Report.COMPRESSED: "compressed"}


def plan_lines(plan: KleenePlan) -> list[str]:
    """The key, the strategies, the part of each arc that an index tests and the rest, the negations."""
    automaton = plan.automaton
    lines = [f"runs by {_key(plan)}; {_window(automaton)}; OUTPUT {OUTPUTS[automaton.report]}"]
    for link, step in zip(line_of(automaton), plan.steps):
        strategy = STRATEGIES[automaton.states[link.begin.source].stay]
        lines.append(f"{event_name(automaton, link.begin)}, {strategy}: {_arc(plan, step.begin, step.begin_rest)}")
        if link.take is not None:
            lines.append(f"{event_name(automaton, link.take)}: {_arc(plan, step.take, step.take_rest)}")
        if step.end != ALWAYS:
            name = automaton.operands[link.begin.operand]
            lines.append(f"{name} ends: tested run by run: {written(step.end)}")
    kills = [arc for arc in automaton.arcs if arc.kind == Kind.KILL]
    for arc, negation in zip(kills, plan.negations):
        name = automaton.forbidden[arc.operand]
        lines.append(f"no {name} {standing(automaton, arc)}: {_kept(plan, arc, negation)}")
    return lines


def _arc(plan: KleenePlan, number: int, rest: Form) -> str:
    """The condition on an event alone, which the shared index tests, and the conditions on each run."""
    static = plan.inputs[number].guard
    found = f"by the index: {ANY_EVENT if static == ALWAYS else written(static)}"
    return found if rest == ALWAYS else f"{found}; tested run by run: {written(rest)}"


def _kept(plan: KleenePlan, arc: Arc, negation: ForbiddenEvents) -> str:
    """Which negated events are stored, and where."""
    given = plan.inputs[negation.input]
    schema = plan.automaton.source_of(arc).schema
    by = f" by {', '.join(schema.names[position] for position in given.key)}" if given.key else ""
    kept = "only the newest is kept" if negation.rest == ALWAYS else "those of the window are kept"
    return f"{_arc(plan, negation.input, negation.rest)}; {kept}{by}"


def _window(automaton: Automaton) -> str:
    within = automaton.within
    return "no window" if within is None else f"WITHIN {format_duration(within)} on every arc"


def _key(plan: KleenePlan) -> str:
    """The attributes that all events of a match share, named as in the first operand."""
    schema = plan.automaton.source_of(line_of(plan.automaton)[0].begin).schema
    return ", ".join(schema.names[part.positions[0]] for part in plan.key) or "nothing, all together"
