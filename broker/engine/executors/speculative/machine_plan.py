"""The plan of a register automaton, for events in order and for events in any order.

Here: what the dispatcher needs, and descriptions for users. Not here: runs (speculation).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Final, final

from ....algebra.timed_stream import untimed
from ....automaton.analyses.cycles import unbounded_cycles
from ....automaton.analyses.event_constants import first_key
from ....automaton.arc_updates import ChangedArcs
from ....automaton.automaton import Arc, Automaton, Kind, describe_arc
from ....automaton.binding import AutomatonMaker, BoundLiterals, MarkedParts
from ....automaton.diagram import Edge, Graph, Node
from ....events.instant import format_duration
from ....language.marked_literals import Literals, chosen, number_in, numbers_in
from ...compiler.recently_used import Recent
from ...options import Options
from ...program.target import Outcome, Target
from ..contract import EventKey, Executor, Input, Member
from ..machine_plan import Known, MachinePlan, PlanMaker, counted, kept_by
from ..revising import Reviser
from .constants import RegisterForm, RegisterText, as_constant, is_exact, text_of
from .machine import RegisterMachine, inputs_of
from .operations import as_float
from .owners import RegisterMember
from .reviser import SpeculativeReviser

LIMITS: Final = "work_max, runs_max or run_bytes_max"
FORMS_MAX: Final = 10_000  # the most forms of one shape that are kept


class RegisterPlan(MachinePlan):
    """An automaton whose events live for a time."""

    __slots__ = ("text",)

    executor = "speculative"
    version = 2
    figures = (
        *("speculative", "speculative_keys", "speculative_events", "speculative_nodes"),
        "speculative_repairs",
    )
    kind = "registers"
    same_inputs = True

    def __init__(self, text: RegisterText) -> None:
        self.text = text

    @property
    def automaton(self) -> Automaton:
        return self.text.automaton

    @automaton.setter
    def automaton(self, other: Automaton) -> None:
        raise AssertionError("the automaton of a plan does not change")

    def inputs(self) -> list[Input]:
        return inputs_of(self.text.form.blank)

    def streams(self) -> tuple[str, ...]:
        return tuple(sorted(self.text.form.blank.streams()))

    def filed(self, options: Options) -> EventKey | None:
        return _event_key(self.automaton) if options.together else None

    def outcome(self) -> Outcome:
        return Outcome(self.text.form.blank.schema.names, (), (), LIMITS)

    def maker(self, parts: MarkedParts) -> PlanMaker:
        return RegisterTexts(self.automaton, parts).plan

    def alike(self, options: Options) -> Hashable:
        return (self.executor, self.text.beginning()) if options.together else None

    def make(self, options: Options) -> Executor:
        limits = options.work_max, options.work_earned, options.runs_max, options.run_bytes_max
        return RegisterMachine(self.automaton, *limits)

    def join(self, machine: Executor, symbols: list[int]) -> Member:
        return self.rejoin(machine, symbols, None)

    def leave(self, machine: Executor, member: Member, symbols: list[int]) -> None:
        assert isinstance(machine, RegisterMachine)
        assert isinstance(member, RegisterMember)
        machine.leave(member)

    def saved(self, machine: Executor, member: Member, symbols: list[int]) -> Any:
        assert isinstance(member, RegisterMember)
        return member.number

    @property
    def revises(self) -> bool:
        return True

    def rejoin(self, machine: Executor, symbols: list[int], saved: Any) -> Member:
        assert isinstance(machine, RegisterMachine)
        return machine.join(Target(self.outcome(), None), self.text, -1 if saved is None else saved)

    def reviser(self, options: Options) -> Reviser:
        limits = options.work_max, options.work_earned, options.runs_max, options.run_bytes_max
        return SpeculativeReviser(self.outcome(), self.automaton.within, *limits)

    def rewrite(self, machine: Any, member: Any, changed: ChangedArcs) -> EventKey | None:
        machine.write(member, changed)
        return _event_key(changed.automaton)

    def advice(self) -> list[str]:
        """Cycles on which too many runs may stay."""
        within = self.automaton.within
        until = "for ever" if within is None else f"until WITHIN {format_duration(within)} has passed"
        return [
            f"runs stay {until} on the cycle of {_listed(cycle)}: no condition there compares a register by <, <=, =,"
            f" >= or >; the cost of an event grows with their number"
            for cycle in unbounded_cycles(self.automaton)
        ]

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """The size of each automaton, and how its runs are stored."""
        lines: list[str] = []
        for name, plan, machine in known:
            automaton: Automaton = plan.automaton
            size = f"{counted(len(automaton.states), 'state')}, {counted(len(automaton.arcs), 'arc')}"
            method = kept_by(machine)
            registers = counted(len(automaton.initial), "register")
            lines.append(f"{name}: {size}, {registers}; runs are kept {method}")
            lines += [f"{name}: {advice}" for advice in plan.advice()]
        return lines

    @classmethod
    def drawn(cls, known: list[Known]) -> Graph:
        """Each automaton: its states, and its arcs with their conditions."""
        nodes: list[Node] = []
        edges: list[Edge] = []
        for name, plan, _ in known:
            automaton: Automaton = plan.automaton
            several = len(plan.streams()) > 1
            key = [f"{name} state {at}" for at in range(len(automaton.states) + len(automaton.operands))]
            used = {0, *(arc.source for arc in automaton.arcs), *(arc.target for arc in automaton.arcs)}
            for at in [state for state in range(automaton.final) if state in used]:
                nodes.append(Node(key[at], str(at) if at else ", ".join(plan.streams()), "state" if at else "start"))
            for at, operand in enumerate(automaton.operands):
                nodes.append(Node(key[automaton.final + at], f"{name}: {operand}", "end"))
            for arc in automaton.arcs:
                target = arc.target if arc.target < automaton.final else automaton.final + arc.operand
                text = describe_arc(arc)
                if several and arc.kind is not Kind.EPSILON:
                    text = f"on {untimed(arc.stream)}; {text}" if text else f"on {untimed(arc.stream)}"
                label = f"{arc.name}: {text}" if arc.name else text
                loops = arc.kind is Kind.LOOP and arc.target == arc.source
                edges.append(Edge(key[arc.source], key[target], label, "rebind" if loops else "forward"))
        return Graph("", tuple(nodes), tuple(edges))


@final
class RegisterTexts:
    """The plans of all texts of a shape, from an automaton whose literals are marked.

    The constants of a text are some of its literals. Texts that have the others in common are of one form, which is
    made of the first one of them.
    """

    def __init__(self, automaton: Automaton, parts: MarkedParts) -> None:
        self._make = parts.automaton(automaton)
        self._parts = parts
        form = RegisterForm(automaton)
        self._lifetime = form.lifetime
        self._constants = [each.in_automaton(automaton) for each in form.constants]
        self._whole = [not each.of_float(automaton) for each in form.constants]
        self._numbers = [number_in(constant) for constant in self._constants]
        blank = replace(form.blank, arcs=tuple([replace(arc, conjuncts=()) for arc in form.blank.arcs]))
        self._others = sorted(numbers_in(blank))
        self._forms: Recent[Literals, RegisterForm] = Recent(FORMS_MAX)

    def plan(self, bound: BoundLiterals, automaton: AutomatonMaker) -> RegisterPlan:
        """O(literals), and for the first text of a form O(arcs x places)."""
        literals = bound.literals
        values = [
            constant if number is None else chosen(literals, number)
            for number, constant in zip(self._numbers, self._constants)
        ]
        if not all(isinstance(value, str) or is_exact(value, whole) for value, whole in zip(values, self._whole)):
            return RegisterPlan(text_of(automaton(bound)))
        constants = tuple(map(as_constant, values))
        if self._lifetime >= 0 and as_float(constants[self._lifetime]) <= 0:
            return RegisterPlan(text_of(automaton(bound)))
        others = tuple([literals[number] for number in self._others])
        form = self._forms.get(others)
        if form is None:
            form = RegisterForm(automaton(bound))
            self._forms.put(others, form)
        return RegisterPlan(RegisterText(form, constants, None, self.automaton, literals))

    def automaton(self, literals: Literals) -> Automaton:
        """O(size of the parts with marks)."""
        return self._make(self._parts.bind(literals))


def plan_of_registers(automaton: Automaton) -> RegisterPlan:
    """The plan of an automaton without others of its shape."""
    return RegisterPlan(text_of(automaton))


def _event_key(automaton: Automaton) -> EventKey | None:
    known = sorted(first_key(automaton).items())
    if not known:
        return None
    return EventKey(tuple([position for position, _ in known]), tuple([value.value for _, value in known]))


def _listed(cycle: tuple[Arc, ...]) -> str:
    """Arcs by name, or by condition where they have none."""
    return ", ".join(dict.fromkeys([arc.name or f"({describe_arc(arc) or 'any event'})" for arc in cycle]))
