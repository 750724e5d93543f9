"""AFA's row of the table: register automata, whose arcs may change while they run (executors/speculative)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, final

from ...algebra.afa.lowering import lower, lower_arcs
from ...automaton.automaton import Automaton
from ...automaton.constructions.registers import automaton_of_registers
from ...events.errors import DefinitionError
from ...events.nearest import suggestion
from ...language.afa import parse, parse_arc, print_query
from ...language.afa.syntax import AfaQuery
from ..executors.machine_plan import MachinePlan
from ..options import Options
from ..planner import Wanted, plan_of
from ..subscriber import Form
from ..templates import MachineTemplate
from ..updates import ArcUpdate, ChangingArcs
from .language import CompileRequest, Language


def _reads(query: AfaQuery) -> list[str]:
    return [stream.name for stream in query.streams]


@final
class _RegisterArcs(ChangingArcs):
    """The typed form of a subscription (algebra.afa)."""

    def __init__(self, typed: Any, automaton: Automaton | None = None) -> None:
        self.typed = typed
        self._automaton = automaton_of_registers(typed) if automaton is None else automaton

    @property
    def automaton(self) -> Automaton:
        return self._automaton

    def updated(self, update: ArcUpdate) -> ChangingArcs:
        typed = self.typed
        names = [arc.name for arc in typed.arcs if arc.name]
        for name in update.delete:
            if name not in names:
                raise DefinitionError(f"expected the name of an arc to delete, found {name!r}{suggestion(name, names)}")
            typed = typed.deleted(name, update.begin, update.end)
        for text in update.insert:
            arcs = lower_arcs(typed, parse_arc(text), text)
            self._check_left(typed.states[arcs[0].source], arcs[0].source)
            typed = typed.inserted(arcs, update.begin, update.end)
        return _RegisterArcs(typed)

    def _check_left(self, name: str, state: int) -> None:
        """Refuse an arc out of a final state from which no arc led on: its runs were reported and are not kept."""
        if state in self.typed.finals and all(arc.source != state for arc in self.typed.arcs):
            raise DefinitionError(
                f"expected an arc out of a state whose runs go on, found one out of the final state {name!r}, where "
                f"runs end: a text with '{name} -> {name} WHEN FALSE' keeps them"
            )


def _compile(request: CompileRequest) -> Form:
    typed = lower(request.syntax, request.text, request.surroundings.schema_of, request.surroundings.known)
    automaton = automaton_of_registers(typed)
    return Form(
        request.definition.language,
        request.written,
        request.canonical,
        request.sources,
        typed.publish,
        automaton.schema,
        states=len(automaton.states),
        template=None,
        recipes=[],
        machine=MachineTemplate(automaton, partial(_planned, request.surroundings.options)),
        changing=_RegisterArcs(typed, automaton),
    )


def _planned(options: Options, automaton: Automaton) -> MachinePlan:
    return plan_of(Wanted(automaton), options)


def _no_shape(text: str) -> None:
    """Each text has a form of its own, since its arcs may change."""


AFA: Final = Language(name="afa", parse=parse, print=print_query, reads=_reads, compile=_compile, shape=_no_shape)
