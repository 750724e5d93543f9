"""The row of window expressions: windows of a partition, which have panes and groups of their own (executors/windows).

Constants decide which classes of events there are, so that each text has a form of its own.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ...algebra.window.lowering import lower
from ...automaton.automaton import Automaton
from ...automaton.constructions.windows import automaton_of_windows
from ...language.window import parse, print_query
from ...language.window.syntax import WindowQuery
from ..compiler.templates import MachineTemplate
from ..executors.machine_plan import MachinePlan
from ..options import Options
from ..planner import Wanted, plan_of
from ..subscribing.subscriber import Form
from .language import CompileRequest, Language


def _reads(query: WindowQuery) -> list[str]:
    return [query.stream]


def _compile(request: CompileRequest) -> Form:
    expression = lower(request.syntax, request.text, request.surroundings.schema_of, request.surroundings.known)
    automaton = automaton_of_windows(expression, request.text)
    windows = automaton.windows
    parts = () if windows is None else windows.parts
    return Form(
        request.definition.language,
        request.written,
        request.canonical,
        request.sources,
        expression.publish,
        automaton.schema,
        states=sum(len(part.starts) + len(part.final) for part in parts),
        template=None,
        recipes=[],
        machine=MachineTemplate(
            automaton, partial(_planned, expression.publish is not None, request.surroundings.options)
        ),
        report=request.definition.report,
        lineage=False,
    )


def _planned(published: bool, options: Options, automaton: Automaton) -> MachinePlan:
    return plan_of(Wanted(automaton, published=published), options)


WINDOW: Final = Language(
    name="window",
    parse=parse,
    print=print_query,
    reads=_reads,
    compile=_compile,
    shape=lambda text: None,
    lineage=False,
)
