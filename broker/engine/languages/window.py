"""The row of window expressions: windows of a partition, which have panes and groups of their own (executors/windows).

Constants decide which classes of events there are, so that each text has a form of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...algebra.window.lowering import lower
from ...automaton.constructions.windows import automaton_of_windows, impossible
from ...language.window import parse, print_query
from ...language.window.syntax import WindowQuery
from ..subscribing.subscriber import CompiledQuery
from .language import CompileRequest, Language, SchemaOf
from .machines import machine_form


def _reads(query: WindowQuery) -> list[str]:
    return [query.stream]


def _doubts(query: WindowQuery, text: str, schema_of: SchemaOf) -> Iterator[tuple[int, str]]:
    return impossible(lower(query, text, schema_of, list), text)


def _compile(request: CompileRequest) -> CompiledQuery:
    expression = lower(request.syntax, request.text, request.surroundings.schema_of, request.surroundings.known)
    automaton = automaton_of_windows(expression, request.text)
    parts = () if automaton.windows is None else automaton.windows.parts
    states = sum(len(part.starts) + len(part.final) for part in parts)
    return machine_form(request, automaton, expression.publish, states, lineage=False)


WINDOW: Final = Language(
    name="window",
    parse=parse,
    print=print_query,
    reads=_reads,
    compile=_compile,
    shape=lambda text: None,
    lineage=False,
    doubts=_doubts,
)
