"""A plan with other literals: its structure does not depend on them while the same ones are equal.

Here: putting literals into a plan. Not here: making one (kleene_plan).
"""

from __future__ import annotations

from collections.abc import Callable

from ....algebra.normal_form import Form
from ....automaton.binding import UNMARKED, BoundLiterals, MarkedParts
from .kleene_plan import ForbiddenEvents, KeyedInput, KleenePlan, OperandStep


def plan_maker(plan: KleenePlan, parts: MarkedParts) -> Callable[[BoundLiterals], KleenePlan]:
    """A function that makes the plan of the same automaton with other literals."""
    automaton = parts.automaton(plan.automaton)
    inputs = [(parts.form(given.guard), given) for given in plan.inputs]
    steps = [_step(step, parts) for step in plan.steps]
    negations = [(parts.form(each.rest), each) for each in plan.negations]
    key = plan.key

    def made(bound: BoundLiterals) -> KleenePlan:
        return KleenePlan(
            automaton(bound),
            tuple([g if n == UNMARKED else KeyedInput(g.stream, bound.forms[n], g.key) for n, g in inputs]),
            tuple([step(bound) for step in steps]),
            tuple(
                [
                    each if n == UNMARKED else ForbiddenEvents(each.place, each.input, each.parts, bound.forms[n])
                    for n, each in negations
                ]
            ),
            key,
        )

    return made


def _step(step: OperandStep, parts: MarkedParts) -> Callable[[BoundLiterals], OperandStep]:
    begin, take, end = parts.form(step.begin_rest), parts.form(step.take_rest), parts.form(step.end)
    begun, taken = parts.sources(step.begun), parts.sources(step.taken)
    if (begin, take, end) == (UNMARKED, UNMARKED, UNMARKED) and begun is None and taken is None:
        return lambda bound: step

    def made(bound: BoundLiterals) -> OperandStep:
        return OperandStep(
            step.strategy,
            step.begin,
            _form(begin, step.begin_rest, bound),
            step.begun if begun is None else begun(bound),
            step.take,
            _form(take, step.take_rest, bound),
            step.taken if taken is None else taken(bound),
            _form(end, step.end, bound),
        )

    return made


def _form(number: int, form: Form, bound: BoundLiterals) -> Form:
    return form if number == UNMARKED else bound.forms[number]
