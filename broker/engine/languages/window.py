"""The row of window expressions: windows of a partition, which have panes and groups of their own (executors/windows).

Texts that differ in constants of their conditions only have one form, if those of one attribute have the same order,
which decides which classes of events there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ...algebra.window.lowering import lower
from ...automaton.constructions.windows import automaton_of_windows, impossible
from ...language.literal_orders import first_equal
from ...language.marked_literals import numbers_in
from ...language.shapes import bracketed_shape_of
from ...language.window import parse, print_query
from ...language.window.printer import print_written_out
from ...language.window.syntax import WindowQuery
from ...language.wording import printed_around
from ..subscribing.subscriber import CompiledQuery
from .language import EXPRESSION_LITERALS, CompileRequest, Language, SchemaOf
from .machines import machine_form


def _reads(query: WindowQuery) -> list[str]:
    return [query.stream]


def _doubts(query: WindowQuery, text: str, schema_of: SchemaOf) -> Iterator[tuple[int, str]]:
    return impossible(lower(query, text, schema_of, list), text)


def _compile(request: CompileRequest) -> CompiledQuery | None:
    expression = lower(request.syntax, request.text, request.surroundings.schema_of, request.surroundings.known)
    if request.shape is not None:
        marked = numbers_in(request.syntax)  # equal literals are one
        free = [number for number, first in enumerate(first_equal(request.shape.literals)) if first in marked]
        said = printed_around(request.syntax, print_written_out, EXPRESSION_LITERALS, request.shape, free)
        if said is None:
            return None
        expression = replace(expression, said=said)
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
    shape=bracketed_shape_of,
    unites=True,
    lineage=False,
    forecasts=True,
    doubts=_doubts,
)
