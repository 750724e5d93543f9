"""From the text of a subscription to its form: read, typed and compiled once for all texts of a shape.

Here: reading a definition, the forms that are known, queries prepared for many subscriptions. Not here: what templates
are (templates), who subscribes (catalog).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, final

from ..algebra.composite import Composite
from ..algebra.lowering_cayuga import lower
from ..algebra.lowering_ptopss import lower as lower_ptopss
from ..algebra.lowering_sase import lower as lower_sase
from ..algebra.operators import Query
from ..algebra.terms import LiteralUsed
from ..automaton.automaton import Automaton
from ..automaton.compilation import INTERNAL, Compiled, compile_query
from ..events.errors import DefinitionError, LimitExceeded, QueryError, Unsupported
from ..events.names import checked_subscription_name
from ..events.schema import Schema
from ..language import cayuga, cayuga_syntax, ptopss, ptopss_printing, ptopss_syntax, sase, sase_printing, sase_syntax
from ..language.printing import print_query
from ..language.shapes import Literal, Shape, check_literal, shape_of
from ..language.subscription import SubscriptionDefinition
from .composites.registry import Assembly
from .forecasts.plan import plan_of_automata, plan_of_paths
from .kleene.registry import KleeneAssembly
from .options import Options
from .recipes import Recipe, recipe_of
from .subscriber import Form
from .templates import Literals, Template, marked, template_of, written

SHAPES_MAX: Final = 10_000  # query shapes whose parsing is kept
COMPOSITES_MAX: Final = 256  # texts of composite subscriptions that are kept parsed and compiled, for equal ones

Schemas: TypeAlias = tuple[tuple[str, Schema | None], ...]


@final
@dataclass(frozen=True, slots=True)
class Parsed:
    """A definition whose text is read but whose names are not yet looked up."""

    definition: SubscriptionDefinition
    # Of this text, or of another one of the same shape.
    syntax: cayuga_syntax.Query | ptopss_syntax.Query | sase_syntax.Query
    shape: Shape | None = None

    @property
    def publish(self) -> str | None:
        return self.syntax.publish

    def reads(self) -> list[str]:
        if isinstance(self.syntax, ptopss_syntax.Query):
            return [self.syntax.stream]
        if isinstance(self.syntax, sase_syntax.Query):
            return list(dict.fromkeys(component.stream for component in self.syntax.components))
        return _stream_names(self.syntax.source)


@final
@dataclass(frozen=True, slots=True)
class Prepared:
    """A query that is parsed, typed and compiled already, for any number of subscriptions (`Engine.prepare`).

    `literals` are its numbers and strings in the order of the text.
    """

    options: Options  # of the engine that prepared it
    form: Form | None
    literals: Literals
    own: str | None
    language: str
    query: str

    def with_literals(self, *literals: Literal) -> Prepared:
        """The same query with other literals, of the same types. Raises DefinitionError where they do not fit."""
        if self.form is None:
            raise DefinitionError(
                "this query's literals cannot be exchanged: expected one whose literals stay as they are"
            )
        if [type(literal) for literal in literals] != [type(literal) for literal in self.literals]:
            wanted, found = (", ".join(type(x).__name__ for x in side) for side in (self.literals, literals))
            raise DefinitionError(f"expected literals of the types ({wanted}), found ({found})")
        for literal in literals:
            check_literal(literal)
        text = written(self.form.written, literals)
        return Prepared(self.options, self.form, literals, None, self.language, text)


def _stream_names(node: cayuga_syntax.StreamExpression) -> list[str]:
    match node:
        case cayuga_syntax.Source(stream):
            return [stream]
        case cayuga_syntax.Filter() | cayuga_syntax.Select():
            return _stream_names(node.source)
        case _:
            return _stream_names(node.left) + _stream_names(node.right)


@final
class Forms:
    """What is known of shapes: their syntax, and their forms as long as the schemas stay as they were."""

    def __init__(
        self,
        options: Options,
        schema_of: Callable[[str], Schema | None],
        known: Callable[[], list[str]],
        key_of: Callable[[str], str | None],
    ) -> None:
        self.options = options
        self._key_of = key_of
        self._schema_of = schema_of
        self._known = known
        self._syntaxes: dict[str, cayuga_syntax.Query] = {}  # by shape
        self._forms: dict[str, Form | None] = {}
        self._composite_syntaxes: dict[str, ptopss_syntax.Query] = {}  # by text
        self._composites: dict[str, Form] = {}  # by report and text
        self._parts: dict[Any, Any] = {}  # equal guards and structures are one object

    def parse(self, definition: SubscriptionDefinition) -> Parsed:
        """Raises QueryError, Unsupported or DefinitionError, each naming the subscription."""
        name = checked_subscription_name(definition.name)
        if definition.language not in ("cayuga", "ptopss", "sase"):
            raise Unsupported(f"subscription {name!r}: language {definition.language!r} is not supported yet")
        if definition.language == "ptopss":
            text = definition.query
            try:
                if text not in self._composite_syntaxes:
                    if len(self._composite_syntaxes) >= COMPOSITES_MAX:
                        self._composite_syntaxes.clear()
                    self._composite_syntaxes[text] = ptopss.parse(text)
                return Parsed(definition, self._composite_syntaxes[text])
            except QueryError as error:
                raise located(name, error) from None
        if definition.report is not None:
            found = f"not to {definition.language!r}"
            raise DefinitionError(f"subscription {name!r}: report belongs to the language 'ptopss', {found}")
        if definition.language == "sase":
            return self._parse_sase(definition)
        shape = shape_of(definition.query)
        known = None if shape is None else self._syntaxes.get(shape.key)
        if known is not None:
            return Parsed(definition, known, shape)
        try:
            syntax = cayuga.parse(definition.query)
        except QueryError as error:
            raise located(name, error) from None
        if shape is not None:
            if len(self._syntaxes) >= SHAPES_MAX:
                self._syntaxes.clear()
                self._forms.clear()
            self._syntaxes[shape.key] = syntax
        return Parsed(definition, syntax, shape)

    def _parse_sase(self, definition: SubscriptionDefinition) -> Parsed:
        if definition.forecast is not None:
            raise Unsupported(
                f"subscription {definition.name!r}: forecasts of the language 'sase' are not supported yet"
            )
        try:
            return Parsed(definition, sase.parse(definition.query))
        except QueryError as error:
            raise located(definition.name, error) from None

    def form(self, parsed: Parsed, since: int) -> tuple[Form, Literals]:
        """The form, and what is put into it. Raises QueryError, LimitExceeded or DefinitionError with the name."""
        name, text = parsed.definition.name, parsed.definition.query
        try:
            if isinstance(parsed.syntax, ptopss_syntax.Query):
                if parsed.definition.forecast is not None:
                    return self._ptopss(parsed, parsed.syntax), ()
                return self._known_composite(parsed, parsed.syntax), ()
            if isinstance(parsed.syntax, sase_syntax.Query):
                return self._sase(parsed, parsed.syntax), ()
            form = self._shared(parsed) if parsed.definition.forecast is None else None
            if form is not None and parsed.shape is not None:
                return form, parsed.shape.literals
            syntax = cayuga.parse(text)
            query, compiled = self._compiled(syntax, text)
        except QueryError as error:
            raise located(name, error) from None
        except (LimitExceeded, DefinitionError) as error:
            raise type(error)(f"subscription {name!r}: {error}") from None
        template = Template(query, _moment(compiled, since), (print_query(syntax),))
        recipes: list[Recipe | None] = [None for _ in compiled.automata]
        try:
            return self._cayuga(parsed, (text,), template, recipes), ()
        except (LimitExceeded, DefinitionError) as error:
            raise type(error)(f"subscription {name!r}: {error}") from None

    def _cayuga(
        self, parsed: Parsed, pieces: tuple[str, ...], template: Template, recipes: list[Recipe | None]
    ) -> Form:
        query, forecast = template.query, parsed.definition.forecast
        states = sum(len(a.states) for a in template.compiled.automata)
        sources = self._schemas(parsed)
        plan = None
        if forecast is not None:
            plan = plan_of_automata(forecast, template.compiled.automata, sources, self._key_of)
        return Form(
            "cayuga",
            pieces,
            template.pieces,
            sources,
            query.publish,
            query.schema,
            states,
            template,
            recipes,
            forecast=forecast,
            plan=plan,
        )

    def _known_composite(self, parsed: Parsed, syntax: ptopss_syntax.Query) -> Form:
        """The form of a composite subscription, made once for equal texts."""
        definition = parsed.definition
        mark = f"{definition.report}\0{definition.query}"
        known = self._composites.get(mark)
        if known is None or known.sources != self._schemas(parsed):
            if len(self._composites) >= COMPOSITES_MAX:
                self._composites.clear()
            known = self._composites[mark] = self._ptopss(parsed, syntax)
        return known

    def _ptopss(self, parsed: Parsed, syntax: ptopss_syntax.Query) -> Form:
        definition, text = parsed.definition, parsed.definition.query
        composite = self._shared_parts(lower_ptopss(syntax, text, self._schema_of, self._known))
        forecast = definition.forecast
        assembly = Assembly(composite, definition.report != "completions", forecast is not None)
        schema, publish, sources = composite.result_schema, composite.publish, self._schemas(parsed)
        canonical = (ptopss_printing.print_query(syntax),)
        report, names = definition.report, tuple(operand.name for operand in composite.operands)
        states, plan, own = len(names) + 1, None, sources[0][1]
        if forecast is not None and assembly.paths is not None and own is not None:
            plan = plan_of_paths(forecast, composite, assembly.paths, own)
        return Form(
            "ptopss",
            (text,),
            canonical,
            sources,
            publish,
            schema,
            states,
            None,
            [],
            assembly,
            names,
            report,
            forecast,
            plan,
        )

    def _sase(self, parsed: Parsed, syntax: sase_syntax.Query) -> Form:
        text = parsed.definition.query
        pattern = lower_sase(syntax, text, self._schema_of, self._known)
        assembly = KleeneAssembly(pattern)
        canonical = (sase_printing.print_query(syntax),)
        names = tuple(component.name for component in pattern.components)
        states = sum(2 if component.kleene else 1 for component in pattern.components) + 1
        schema, sources = pattern.result_schema, self._schemas(parsed)
        return Form("sase", (text,), canonical, sources, pattern.publish, schema, states, None, [], assembly, names)

    def _shared_parts(self, composite: Composite) -> Composite:
        """The same with guards and structure that other composites have too: most of what many of them would occupy."""
        if len(self._parts) >= SHAPES_MAX:
            self._parts.clear()
        parts = self._parts
        guarded = (replace(o, guard=parts.setdefault(o.guard, o.guard)) for o in composite.operands)
        operands = tuple(parts.setdefault(operand, operand) for operand in guarded)
        structure = parts.setdefault(composite.structure, composite.structure)
        return replace(composite, operands=operands, structure=structure)

    def prepare(self, language: str, query: str) -> Prepared:
        """Parse, type and compile a query for many subscriptions to come. Raises as `parse` and `form` do."""
        parsed = self.parse(SubscriptionDefinition("prepared", language, query))
        _, literals = self.form(parsed, 0)
        form = self._shared(parsed)
        own = None if form is None or written(form.written, literals) == query else query
        return Prepared(self.options, form, literals, own, language, query)

    def _compiled(self, syntax: cayuga_syntax.Query, text: str) -> tuple[Query, Compiled]:
        query = lower(syntax, text, self._schema_of, self._known)
        return query, compile_query(query)

    def _schemas(self, parsed: Parsed) -> Schemas:
        return tuple((stream, self._schema_of(stream)) for stream in parsed.reads())

    def _shared(self, parsed: Parsed) -> Form | None:
        """The form of the text's shape; None where there cannot be one. Raises what compiling raises."""
        shape = parsed.shape
        if shape is None or not shape.literals:
            return None
        if shape.key in self._forms:
            known = self._forms[shape.key]
            if known is None or known.sources == self._schemas(parsed):
                return known
        form: Form | None = None
        syntax = cayuga.parse(parsed.definition.query)
        with_marks = marked(syntax, shape)
        if with_marks is not None:
            # Marked literals are all different, so that a limit may be hit which the plain text does not hit.
            with suppress(LiteralUsed, LimitExceeded):
                query, compiled = self._compiled(with_marks, parsed.definition.query)
                template = template_of(query, compiled, syntax, shape)
                if template is not None:
                    recipes = [recipe_of(a, self.options) for a in compiled.automata] if query.publish is None else []
                    recipes += [None] * (len(compiled.automata) - len(recipes))
                    form = self._cayuga(parsed, tuple(shape.pieces()), template, recipes)
        self._forms[shape.key] = form
        return form


def located(name: str, error: QueryError) -> QueryError:
    return QueryError(f"subscription {name!r}: {error}", error.line, error.column, error.excerpt)


def _moment(compiled: Compiled, since: int) -> Compiled:
    """Internal streams are shared by subscriptions of one moment only: their events must not be older than a reader."""

    def named(stream: str) -> str:
        return f"{stream}@{since}" if stream.startswith(INTERNAL) else stream

    def automaton(a: Automaton) -> Automaton:
        return replace(a, states=tuple(replace(s, stream=named(s.stream)) for s in a.states))

    internal = tuple((named(name), tuple(map(automaton, automata))) for name, automata in compiled.internal)
    return Compiled(tuple(map(automaton, compiled.automata)), internal)
