"""Compiled queries of the languages whose automata have a machine each, and their forecasts.

Here: what the rows of such languages have in common. Not here: a language's automaton (its own row), automata
that are merged into one program (operators).
"""

from __future__ import annotations

from functools import partial

from ...automaton.automaton import Automaton
from ...automaton.rewriting.table import rewritten
from ...forecast.plan import forecast_plan
from ..compiler.foretold import ForecastPlans
from ..compiler.templates import MachineTemplate
from ..planner import Wanted, plan_of
from ..subscribing.subscriber import ArcsOf, CompiledQuery, QueryAutomata, QueryPlans, QueryResults, QueryWording
from .language import CompileRequest


def machine_form(
    request: CompileRequest,
    automaton: Automaton,
    publish: str | None,
    states: int | None = None,
    operands: tuple[str, ...] = (),
    changing: ArcsOf | None = None,
    lineage: bool = True,
) -> CompiledQuery:
    """The compiled query with this automaton. `states`: their number for users, by default the automaton's; the others
    are as in QueryResults and QueryPlans."""
    definition, options = request.definition, request.surroundings.options
    forecast, published = definition.forecast is not None, publish is not None
    rewriting = rewritten(automaton, options.rules_off, forecast)
    machine = MachineTemplate(rewriting.automaton, lambda each: plan_of(Wanted(each, forecast, published), options))
    counted = len(automaton.states) if states is None else states
    return CompiledQuery(
        query_text(request),
        QueryResults(publish, automaton.schema, operands, lineage),
        QueryAutomata(counted, (automaton,), (rewriting,), options.rules_off),
        QueryPlans(None, machine=machine, foretells=foretelling(request), changing=changing),
    )


def query_text(request: CompileRequest) -> QueryWording:
    """What the user wrote."""
    said = request.definition
    return QueryWording(said.language, request.written, request.canonical, request.sources, said.report, said.forecast)


def foretelling(request: CompileRequest) -> ForecastPlans | None:
    """The forecast plans, made from automata; None if the subscription asks for no forecasts."""
    forecast = request.definition.forecast
    if forecast is None:
        return None
    return ForecastPlans(partial(forecast_plan, forecast, sources=request.sources, key_of=request.surroundings.key_of))
