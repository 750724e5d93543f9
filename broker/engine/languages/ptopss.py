"""P-ToPSS's row of the table: composite subscriptions, whose tuples are counted (executors/tuple_counts).

With time conditions, durations decide which conditions follow from others, and so the states of the automaton. So all
texts of one template share these durations.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from ...algebra.ptopss.lowering import lower
from ...automaton.automaton import Automaton, Report
from ...automaton.constructions.composite import automaton_of, decompose
from ...automaton.machines.tree import MachineTree
from ...forecast.plan import forecast_plan
from ...language.ptopss import parse, print_query
from ...language.ptopss.syntax import ConditionExpression, PtopssQuery, conditions
from ...language.subscription import REPORTS
from ..executors.machine_plan import MachinePlan
from ..planner import Wanted, plan_of
from ..subscriber import Form
from ..templates import MachineTemplate
from .language import EXPRESSION_LITERALS, CompileRequest, Language, Surroundings

DURATIONS: Final = frozenset((PtopssQuery, ConditionExpression))


def _fixes(query: PtopssQuery) -> frozenset[type]:
    return DURATIONS if any(conditions(query.pattern)) else frozenset()


def _reads(query: PtopssQuery) -> list[str]:
    return [stream.name for stream in query.streams]


def _compile(request: CompileRequest) -> Form:
    definition, surroundings = request.definition, request.surroundings
    composite = lower(request.syntax, request.text, surroundings.schema_of, surroundings.known)
    report = Report.COMPLETIONS if definition.report == "completions" else Report.EACH
    automaton = automaton_of(_with_shared_parts(decompose(composite), surroundings), report)
    forecast, foretells = definition.forecast, None
    if forecast is not None:
        foretells = partial(forecast_plan, forecast, sources=request.sources, key_of=surroundings.key_of)
    return Form(
        definition.language,
        request.written,
        request.canonical,
        request.sources,
        composite.publish,
        automaton.schema,
        states=len(automaton.operands) + 1,
        template=None,
        recipes=[],
        machine=MachineTemplate(automaton, partial(_planned, forecast is not None, surroundings)),
        operands=automaton.operands,
        report=definition.report,
        forecast=forecast,
        foretells=foretells,
    )


def _planned(forecast: bool, surroundings: Surroundings, automaton: Automaton) -> MachinePlan:
    return plan_of(Wanted(automaton, forecast=forecast), surroundings.options)


def _with_shared_parts(tree: MachineTree, surroundings: Surroundings) -> MachineTree:
    """The tree with guards and machines shared with other queries, which saves most of its memory."""
    shared = surroundings.shared
    guarded = (replace(primitive, guard=shared(primitive.guard)) for primitive in tree.primitives)
    return replace(tree, primitives=tuple([shared(primitive) for primitive in guarded]), root=shared(tree.root))


PTOPSS: Final = Language(
    name="ptopss",
    parse=parse,
    print=print_query,
    reads=_reads,
    compile=_compile,
    literals={
        **EXPRESSION_LITERALS,
        PtopssQuery: ("within", "within_at"),
        ConditionExpression: ("duration", "duration_at"),
    },
    durations=DURATIONS,
    fixes=_fixes,
    reports=REPORTS,
    forecasts=True,
    forecast_parts=True,
)
