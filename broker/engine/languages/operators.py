"""Compiled queries of the languages that lower to the operators of the algebra, whose automata are merged.

Here: the functions that such a language provides, and those that it gets. Not here: templates (templates).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from ...algebra.operators import Query
from ...algebra.timed_stream import timed
from ...automaton.automaton import Automaton
from ...automaton.compilation import INTERNAL, Compiled, compile_query
from ...automaton.rewriting.table import rewritten
from ...events.schema import Schema
from ..compiler.templates import MachineTemplate, Template
from ..executors.machine_plan import MachinePlan
from ..planner import Wanted, plan_of
from ..subscribing.subscriber import CompiledQuery, QueryAutomata, QueryPlans, QueryResults
from .language import CompileRequest
from .machines import foretelling, query_text

Lower: TypeAlias = Callable[[Any, str, Callable[[str], Schema | None], Callable[[], list[str]]], Query]
"""From syntax and its text to operators; the two functions look up a stream's schema and list the known streams."""


def compiling(lower: Lower) -> Callable[[CompileRequest], CompiledQuery | None]:
    """A `compile` of the table."""

    def compiled(request: CompileRequest) -> CompiledQuery | None:
        surroundings, definition = request.surroundings, request.definition
        options, forecast = surroundings.options, definition.forecast is not None

        def planned(automaton: Automaton) -> MachinePlan:
            return plan_of(Wanted(automaton, forecast), options)

        query = lower(request.syntax, request.text, surroundings.schema_of, surroundings.known)
        found = compile_query(query)
        if found.internal and request.shape is not None:
            return None  # the names of internal streams are digests of everything that feeds them
        written = found if request.shape is not None else _moment(found, request.since)
        widths = {timed(stream): len(schema) for stream, schema in request.sources if schema is not None}
        rewritings = [rewritten(automaton, options.rules_off, forecast, widths) for automaton in written.automata]
        found = Compiled(tuple([rewriting.automaton for rewriting in rewritings]), written.internal)
        template = Template(query, found)
        states = sum(len(automaton.states) for automaton in found.automata)
        branches = [MachineTemplate(automaton, planned) for automaton in template.automata]
        return CompiledQuery(
            query_text(request),
            QueryResults(query.publish, query.schema),
            QueryAutomata(states, written.automata, rewritings, options.rules_off),
            QueryPlans(template, branches, foretells=foretelling(request)),
        )

    return compiled


def _moment(compiled: Compiled, since: int) -> Compiled:
    """Only subscriptions of one moment share internal streams: their events must not be older than a reader."""

    def named(stream: str) -> str:
        return f"{stream}@{since}" if stream.startswith(INTERNAL) else stream

    def automaton(a: Automaton) -> Automaton:
        return replace(a, states=tuple(replace(s, stream=named(s.stream)) for s in a.states))

    internal = tuple((named(name), tuple(map(automaton, automata))) for name, automata in compiled.internal)
    return Compiled(tuple(map(automaton, compiled.automata)), internal)
