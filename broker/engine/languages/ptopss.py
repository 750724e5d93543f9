"""P-ToPSS's row of the table: composite subscriptions, whose tuples are counted (executors/tuple_counts)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...algebra.ptopss.lowering import lower
from ...automaton.automaton import Report
from ...automaton.constructions.composite import automaton_of, decompose
from ...automaton.machines.tree import MachineTree
from ...language.ptopss import parse, print_query
from ...language.ptopss.syntax import PtopssQuery
from ...language.subscription import REPORTS
from ..executors.table import plan_of_composite
from ..forecasts.plan import plan_of_automaton
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
    plan, own = None, request.sources[0][1]
    if forecast is not None and own is not None:
        plan = plan_of_automaton(forecast, automaton, own)
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
        machine=plan_of_composite(automaton, forecast is not None, surroundings.options),
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
