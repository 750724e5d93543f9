"""SASE+'s row of the table: patterns, which have runs of their own (executors/kleene)."""

from __future__ import annotations

from functools import partial
from typing import Final

from ...algebra.sase.lowering import lower
from ...automaton.automaton import Automaton
from ...automaton.constructions.variants import automaton_of_variants
from ...language.sase import parse, print_query
from ...language.sase.syntax import SaseQuery
from ..compiler.templates import MachineTemplate
from ..executors.machine_plan import MachinePlan
from ..options import Options
from ..planner import Wanted, plan_of
from ..subscribing.subscriber import Form
from .language import EXPRESSION_LITERALS, CompileRequest, Language


def _reads(query: SaseQuery) -> list[str]:
    return list(dict.fromkeys(component.stream for component in query.components))


def _compile(request: CompileRequest) -> Form:
    variants = lower(request.syntax, request.text, request.surroundings.schema_of, request.surroundings.known)
    automaton, publish = automaton_of_variants(variants), request.syntax.publish
    return Form(
        request.definition.language,
        request.written,
        request.canonical,
        request.sources,
        publish,
        automaton.schema,
        states=len(automaton.states),
        template=None,
        recipes=[],
        machine=MachineTemplate(
            automaton, partial(_planned, publish is not None, request.surroundings.options)
        ),
        operands=automaton.operands,
        report=request.definition.report,
    )


def _planned(published: bool, options: Options, automaton: Automaton) -> MachinePlan:
    return plan_of(Wanted(automaton, published=published), options)


SASE: Final = Language(
    name="sase",
    parse=parse,
    print=print_query,
    reads=_reads,
    compile=_compile,
    literals={**EXPRESSION_LITERALS, SaseQuery: ("within", "at")},
    durations=frozenset((SaseQuery,)),
)
