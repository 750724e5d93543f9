"""P-ToPSS's row of the table: composite subscriptions, whose tuples are counted (executors/tuple_counts)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...algebra.composite import Composite
from ...algebra.ptopss.lowering import lower
from ...language.ptopss import parse, print_query
from ...language.ptopss.syntax import PtopssQuery
from ...language.subscription import REPORTS
from ..executors.table import plan_of_composite
from ..executors.tuple_counts.machine_plan import CountsPlan
from ..forecasts.plan import plan_of_paths
from ..subscriber import Form
from .language import CompileRequest, Language, Surroundings


def _reads(query: PtopssQuery) -> list[str]:
    return [query.stream]


def _compile(request: CompileRequest) -> Form:
    definition, surroundings = request.definition, request.surroundings
    lowered = lower(request.syntax, request.text, surroundings.schema_of, surroundings.known)
    composite = _with_shared_parts(lowered, surroundings)
    forecast = definition.forecast
    machine = plan_of_composite(composite, definition.report != "completions", forecast is not None)
    plan, own = None, request.sources[0][1]
    if forecast is not None and isinstance(machine, CountsPlan) and own is not None:
        plan = plan_of_paths(forecast, composite, machine.paths, own)
    return Form(
        definition.language,
        (request.text,),
        (print_query(request.syntax),),
        request.sources,
        composite.publish,
        composite.result_schema,
        states=len(composite.operands) + 1,
        template=None,
        recipes=[],
        machine=machine,
        operands=tuple(operand.name for operand in composite.operands),
        report=definition.report,
        forecast=forecast,
        plan=plan,
    )


def _with_shared_parts(composite: Composite, surroundings: Surroundings) -> Composite:
    """The same with guards and structure that other composites have too: most of what many of them would occupy."""
    shared = surroundings.shared
    guarded = (replace(operand, guard=shared(operand.guard)) for operand in composite.operands)
    operands = tuple(shared(operand) for operand in guarded)
    return replace(composite, operands=operands, structure=shared(composite.structure))


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
