"""P-ToPSS's row of the table: composite subscriptions, whose tuples are counted (executors/tuple_counts)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...algebra.marked_terms import has_marks
from ...algebra.ptopss.lowering import lower
from ...automaton.automaton import Report
from ...automaton.constructions.composite import automaton_of, decompose
from ...automaton.machines.tree import MachineTree
from ...language.ptopss import parse, print_query
from ...language.ptopss.syntax import ConditionExpression, PtopssQuery
from ...language.subscription import REPORTS
from ..subscribing.subscriber import CompiledQuery
from .language import EXPRESSION_LITERALS, CompileRequest, Language, Surroundings
from .machines import machine_form


def _reads(query: PtopssQuery) -> list[str]:
    return [stream.name for stream in query.streams]


def _compile(request: CompileRequest) -> CompiledQuery:
    definition, surroundings = request.definition, request.surroundings
    composite = lower(request.syntax, request.text, surroundings.schema_of, surroundings.known)
    report = Report.COMPLETIONS if definition.report == "completions" else Report.EACH
    automaton = automaton_of(_with_shared_parts(decompose(composite), surroundings), report)
    operands = automaton.operands
    return machine_form(request, automaton, composite.publish, len(operands) + 1, operands)


def _with_shared_parts(tree: MachineTree, surroundings: Surroundings) -> MachineTree:
    """The tree with guards and machines shared with other queries, which saves most of its memory. Marked literals stay
    its own: they equal those of another text that have other values, for which rules ask."""
    shared = surroundings.shared
    primitives = [
        each if has_marks(each.guard) else shared(replace(each, guard=shared(each.guard))) for each in tree.primitives
    ]
    return replace(tree, primitives=tuple(primitives), root=shared(tree.root))


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
    durations=frozenset((PtopssQuery, ConditionExpression)),
    reports=REPORTS,
    forecasts=True,
    forecast_parts=True,
)
