"""From the text of a subscription to its form, which is compiled once for all texts of a shape, or for equal ones.

Here: reading a definition, the forms that are known, queries prepared for many subscriptions. Not here: languages
(languages), what templates are (templates), who subscribes (catalog).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from ..events.errors import DefinitionError, LimitExceeded, QueryError
from ..events.names import checked_subscription_name
from ..events.schema import Schema
from ..language.shapes import QueryShape, shape_of
from ..language.subscription import SubscriptionDefinition
from .languages.language import CompileRequest, Language, Sources, Surroundings, Syntax
from .languages.table import check_options, check_parts, language_of
from .options import Options
from .prepared import Prepared
from .subscriber import Form
from .templates import Literals, written

SHAPES_MAX: Final = 10_000  # query shapes whose parsing is kept
TEXTS_MAX: Final = 256  # texts without a shape that are kept parsed and compiled, for equal ones


@final
@dataclass(frozen=True, slots=True)
class Parsed:
    """A definition whose text is read but whose names are not yet looked up."""

    definition: SubscriptionDefinition
    language: Language
    syntax: Syntax  # of this text, or of another one of the same shape
    shape: QueryShape | None = None

    @property
    def publish(self) -> str | None:
        return self.syntax.publish

    def reads(self) -> list[str]:
        return self.language.reads(self.syntax)


@final
class Forms:
    """What is known of shapes and texts: their syntax, and their forms as long as the schemas stay as they were."""

    def __init__(
        self,
        options: Options,
        schema_of: Callable[[str], Schema | None],
        known: Callable[[], list[str]],
        key_of: Callable[[str], str | None],
    ) -> None:
        self.options = options
        self._schema_of = schema_of
        self._surroundings = Surroundings(options, schema_of, known, key_of, SHAPES_MAX)
        self._shapes: dict[tuple[str, str], Syntax] = {}  # by language and shape
        self._shape_forms: dict[tuple[str, str], Form | None] = {}
        self._texts: dict[tuple[str, str], Syntax] = {}  # by language and text
        self._text_forms: dict[tuple[str, str, str | None], Form] = {}  # and report

    def parse(self, definition: SubscriptionDefinition) -> Parsed:
        """Raises QueryError, Unsupported or DefinitionError, each naming the subscription."""
        name = checked_subscription_name(definition.name)
        language = language_of(definition)
        if definition.report is not None or definition.forecast is not None:
            check_options(definition, language)
        try:
            if language.compile_shape is None:
                return Parsed(definition, language, self._text_syntax(language, definition.query))
            shape = shape_of(definition.query)
            if shape is None:
                return Parsed(definition, language, language.parse(definition.query))
            return Parsed(definition, language, self._shape_syntax(language, definition.query, shape), shape)
        except QueryError as error:
            raise located(name, error) from None

    def _text_syntax(self, language: Language, text: str) -> Syntax:
        mark = (language.name, text)
        known = self._texts.get(mark)
        if known is None:
            if len(self._texts) >= TEXTS_MAX:
                self._texts.clear()
            known = self._texts[mark] = language.parse(text)
        return known

    def _shape_syntax(self, language: Language, text: str, shape: QueryShape) -> Syntax:
        mark = (language.name, shape.key)
        known = self._shapes.get(mark)
        if known is None:
            known = language.parse(text)
            if len(self._shapes) >= SHAPES_MAX:
                self._shapes.clear()
                self._shape_forms.clear()
            self._shapes[mark] = known
        return known

    def form(self, parsed: Parsed, since: int) -> tuple[Form, Literals]:
        """The form, and what is put into it. Raises QueryError, LimitExceeded or DefinitionError with the name."""
        name = parsed.definition.name
        try:
            if parsed.definition.forecast is not None:
                return self._predictive(parsed, since), ()
            if parsed.language.compile_shape is None:
                return self._text_form(parsed, since), ()
            form = self._shape_form(parsed)
            if form is not None and parsed.shape is not None:
                return form, parsed.shape.literals
            return self._own_form(parsed, since), ()
        except QueryError as error:
            raise located(name, error) from None
        except (LimitExceeded, DefinitionError) as error:
            raise type(error)(f"subscription {name!r}: {error}") from None

    def _predictive(self, parsed: Parsed, since: int) -> Form:
        form = self._own_form(parsed, since)
        check_parts(parsed.definition, parsed.language)
        return form

    def _own_form(self, parsed: Parsed, since: int) -> Form:
        """A form of this text alone."""
        return parsed.language.compile(self._request(parsed, since))

    def _text_form(self, parsed: Parsed, since: int) -> Form:
        """The form of all equal texts."""
        definition = parsed.definition
        mark = (definition.language, definition.query, definition.report)
        known = self._text_forms.get(mark)
        if known is not None and known.sources == self._sources(parsed):
            return known
        form = self._own_form(parsed, since)
        if form.template is None or not form.template.compiled.internal:  # else it is of this moment alone
            if len(self._text_forms) >= TEXTS_MAX:
                self._text_forms.clear()
            self._text_forms[mark] = form
        return form

    def _shape_form(self, parsed: Parsed) -> Form | None:
        """The form of the text's shape; None where there cannot be one. Raises what compiling raises."""
        shape, compile_shape = parsed.shape, parsed.language.compile_shape
        if compile_shape is None or shape is None or not shape.literals:
            return None
        mark = (parsed.language.name, shape.key)
        if mark in self._shape_forms:
            known = self._shape_forms[mark]
            if known is None or known.sources == self._sources(parsed):
                return known
        form = self._shape_forms[mark] = compile_shape(self._request(parsed, 0), shape)
        return form

    def prepare(self, language: str, query: str) -> Prepared:
        """Parse, type and compile a query for many subscriptions to come. Raises as `parse` and `form` do."""
        parsed = self.parse(SubscriptionDefinition("prepared", language, query))
        _, literals = self.form(parsed, 0)
        form = self._shape_form(parsed)
        own = None if form is None or written(form.written, literals) == query else query
        return Prepared(self.options, form, literals, own, language, query)

    def _sources(self, parsed: Parsed) -> Sources:
        return tuple((stream, self._schema_of(stream)) for stream in parsed.reads())

    def _request(self, parsed: Parsed, since: int) -> CompileRequest:
        """What the language compiles, with the syntax of this very text."""
        syntax = parsed.syntax if parsed.shape is None else parsed.language.parse(parsed.definition.query)
        return CompileRequest(parsed.definition, syntax, self._sources(parsed), since, self._surroundings)


def located(name: str, error: QueryError) -> QueryError:
    return QueryError(f"subscription {name!r}: {error}", error.line, error.column, error.excerpt)
