"""Forms of the languages that lower to the operators of the algebra: automata, one form a text or a shape.

Here: what such a language has to give and gets. Not here: what templates are (templates), how a form is entered
without states (recipes).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

from ...algebra.operators import Query
from ...algebra.terms import LiteralUsed
from ...automaton.automaton import Automaton
from ...automaton.compilation import INTERNAL, Compiled, compile_query
from ...events.errors import LimitExceeded
from ...events.schema import Schema
from ...forecast.plan import forecast_plan
from ...language.shapes import QueryShape
from ..planner import Wanted, is_merged
from ..recipes import Recipe, recipe_of
from ..subscriber import Form
from ..templates import Template, marked, template_of
from .language import CompileRequest

Lower: TypeAlias = Callable[[Any, str, Callable[[str], Schema | None], Callable[[], list[str]]], Query]
"""From syntax and its text to operators; the other two look up a stream's schema and list the streams there are."""
Print: TypeAlias = Callable[[Any], str]


def compiling(lower: Lower, printed: Print) -> Callable[[CompileRequest], Form]:
    """A `compile` of the table: one form for one text."""

    def compiled(request: CompileRequest) -> Form:
        query, found = _compiled(lower, request.syntax, request)
        template = Template(query, _moment(found, request.since), (printed(request.syntax),))
        return _form(request, (request.text,), template, [None for _ in found.automata])

    return compiled


def compiling_shapes(lower: Lower, printed: Print) -> Callable[[CompileRequest, QueryShape], Form | None]:
    """A `compile_shape` of the table, for a language whose literals are Number and String (broker/language/syntax)."""

    def compiled(request: CompileRequest, shape: QueryShape) -> Form | None:
        with_marks = marked(request.syntax, shape)
        if with_marks is None:
            return None
        # Marked literals are all different, so that a limit may be hit which the plain text does not hit.
        with suppress(LiteralUsed, LimitExceeded):
            query, found = _compiled(lower, with_marks, request)
            template = template_of(query, found, printed(request.syntax), shape)
            if template is not None:
                options = request.surroundings.options
                recipes = [recipe_of(a, options) for a in found.automata] if query.publish is None else []
                recipes += [None] * (len(found.automata) - len(recipes))
                return _form(request, tuple(shape.pieces()), template, recipes)
        return None

    return compiled


def _compiled(lower: Lower, syntax: Any, request: CompileRequest) -> tuple[Query, Compiled]:
    query = lower(syntax, request.text, request.surroundings.schema_of, request.surroundings.known)
    return query, compile_query(query)


def _form(request: CompileRequest, written: tuple[str, ...], template: Template, recipes: list[Recipe | None]) -> Form:
    query, forecast, sources = template.query, request.definition.forecast, request.sources
    automata, options = template.compiled.automata, request.surroundings.options
    merged = [is_merged(Wanted(automaton, forecast is not None), options) for automaton in automata]
    recipes = [recipe if known else None for recipe, known in zip(recipes, merged, strict=True)]
    plan = None
    if forecast is not None:
        plan = forecast_plan(forecast, automata, sources, request.surroundings.key_of)
    return Form(
        request.definition.language,
        written,
        template.pieces,
        sources,
        query.publish,
        query.schema,
        states=sum(len(automaton.states) for automaton in automata),
        template=template,
        recipes=recipes,
        report=request.definition.report,
        forecast=forecast,
        plan=plan,
    )


def _moment(compiled: Compiled, since: int) -> Compiled:
    """Internal streams are shared by subscriptions of one moment only: their events must not be older than a reader."""

    def named(stream: str) -> str:
        return f"{stream}@{since}" if stream.startswith(INTERNAL) else stream

    def automaton(a: Automaton) -> Automaton:
        return replace(a, states=tuple(replace(s, stream=named(s.stream)) for s in a.states))

    internal = tuple((named(name), tuple(map(automaton, automata))) for name, automata in compiled.internal)
    return Compiled(tuple(map(automaton, compiled.automata)), internal)
