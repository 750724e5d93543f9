"""SASE+'s row of the table: patterns, which have runs of their own (executors/kleene)."""

from __future__ import annotations

from typing import Final

from ...algebra.sase.lowering import lower
from ...language.sase import parse, print_query
from ...language.sase.syntax import SaseQuery
from ..executors.kleene.machine_plan import PatternPlan
from ..subscriber import Form
from .language import CompileRequest, Language


def _reads(query: SaseQuery) -> list[str]:
    return list(dict.fromkeys(component.stream for component in query.components))


def _compile(request: CompileRequest) -> Form:
    pattern = lower(request.syntax, request.text, request.surroundings.schema_of, request.surroundings.known)
    return Form(
        request.definition.language,
        (request.text,),
        (print_query(request.syntax),),
        request.sources,
        pattern.publish,
        pattern.result_schema,
        states=sum(2 if component.kleene else 1 for component in pattern.components) + 1,
        template=None,
        recipes=[],
        machine=PatternPlan(pattern),
        operands=tuple(component.name for component in pattern.components),
    )


SASE: Final = Language(name="sase", parse=parse, print=print_query, reads=_reads, compile=_compile)
