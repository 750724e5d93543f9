"""SASE+'s row of the table: patterns, which have runs of their own (executors/kleene)."""

from __future__ import annotations

from typing import Final

from ...algebra.sase.lowering import lower
from ...automaton.constructions.variants import automaton_of_variants
from ...language.sase import parse, print_query
from ...language.sase.syntax import SaseQuery
from ..subscribing.subscriber import CompiledQuery
from .language import EXPRESSION_LITERALS, CompileRequest, Language
from .machines import machine_form


def _reads(query: SaseQuery) -> list[str]:
    return list(dict.fromkeys(component.stream for component in query.components))


def _compile(request: CompileRequest) -> CompiledQuery:
    variants = lower(request.syntax, request.text, request.surroundings.schema_of, request.surroundings.known)
    automaton = automaton_of_variants(variants)
    return machine_form(request, automaton, request.syntax.publish, operands=automaton.operands)


SASE: Final = Language(
    name="sase",
    parse=parse,
    print=print_query,
    reads=_reads,
    compile=_compile,
    literals={**EXPRESSION_LITERALS, SaseQuery: ("within", "at")},
    durations=frozenset((SaseQuery,)),
)
