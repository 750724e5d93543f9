"""P-ToPSS's row of the table: composite subscriptions, whose tuples are counted (executors/tuple_counts)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...algebra.ptopss.lowering import lower
from ...automaton.automaton import Report
from ...automaton.constructions.composite import automaton_of, decompose
from ...automaton.machines.tree import MachineTree
from ...forecast.plan import forecast_plan
from ...language.ptopss import parse, print_query
from ...language.ptopss.syntax import PtopssQuery
from ...language.subscription import REPORTS
from ..planner import Wanted, plan_of
from ..subscriber import Form
from .language import CompileRequest, Language, Surroundings


def _reads(query: PtopssQuery) -> list[str]:
    return [query.stream]


def _compile(request: CompileRequest) -> Form:
    definition, surroundings = request.definition, request.surroundings
    composite = lower(request.syntax, request.text, surroundings.schema_of, surroundings.known)
    report = Report.COMPLETIONS if definition.report == "completions" else Report.EACH
    automaton = automaton_of(_with_shared_parts(decompose(composite), surroundings), report)
    forecast = definition.forecast
    plan = None
    if forecast is not None:
        plan = forecast_plan(forecast, (automaton,), request.sources, surroundings.key_of)
    return Form(
        definition.language,
        (request.text,),
        (print_query(request.syntax),),
        request.sources,
        composite.publish,
        automaton.schema,
        states=len(automaton.operands) + 1,
        template=None,
        recipes=[],
        machine=plan_of(Wanted(automaton, forecast=forecast is not None), surroundings.options),
        operands=automaton.operands,
        report=definition.report,
        forecast=forecast,
        plan=plan,
    )


def _with_shared_parts(tree: MachineTree, surroundings: Surroundings) -> MachineTree:
    """The same with guards and machines that others have too: most of what many of them would occupy."""
    shared = surroundings.shared
    guarded = (replace(primitive, guard=shared(primitive.guard)) for primitive in tree.primitives)
    return replace(tree, primitives=tuple([shared(primitive) for primitive in guarded]), root=shared(tree.root))


PTOPSS: Final = Language(
    name="ptopss",
    parse=parse,
    print=print_query,
    reads=_reads,
    compile=_compile,
    reports=REPORTS,
    forecasts=True,
    forecast_parts=True,
)
