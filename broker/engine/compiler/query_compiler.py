"""The query compiler: from the text of a subscription to its form, compiled once for all texts of a shape.

If another text of the same shape was parsed before, a text is not parsed: its literals are found without a grammar.
Literals that affect compilation are *fixed*: texts that differ in these have different forms.

Here: reading a definition, the known forms, queries prepared for many subscriptions. Not here: languages (languages),
templates (templates), subscribers (catalog).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

from ...algebra.terms import LiteralUsed
from ...events.errors import DefinitionError, LimitExceeded, QueryError
from ...events.instant import LARGEST
from ...events.names import checked_subscription_name
from ...events.schema import Schema
from ...language.literal_orders import Decisive, Numbers, first_equal, noting_orders
from ...language.marked_literals import Literals, literal_nodes, marked_places, with_literals
from ...language.shapes import QueryShape
from ...language.subscription import SubscriptionDefinition
from ...language.syntax import TextOperator
from ...language.text_patterns import is_pattern, tests_by_place
from ...language.wording import Wording, printed_around, wording_of
from ..languages.language import CompileRequest, Language, Sources, Surroundings, Syntax
from ..languages.table import check_options, check_parts, language_of
from ..options import Options
from ..subscribing.subscriber import CompiledQuery, Subscriber
from .prepared import Prepared
from .recently_used import Recent
from .templates import marks_in

SHAPES_MAX: Final = 10_000  # the most shapes with a stored syntax, and the most stored forms

@final
@dataclass(frozen=True, slots=True)
class ParsedShape:
    """The syntax of a text whose syntax contains every literal of its shape.

    `durations`: the numbers of the literals that have a limit because they are durations. `patterns`: those of LIKE,
    MATCHES and CIDR, each with its operator.
    """

    syntax: Syntax
    durations: Numbers
    patterns: tuple[tuple[int, TextOperator], ...]

    def fits(self, literals: Literals) -> bool:
        """Whether the parser would accept these literals."""
        for number, operator in self.patterns:
            if not is_pattern(operator, literals[number]):
                return False
        return all(literals[number] <= LARGEST for number in self.durations)  # type: ignore[operator]


@final
@dataclass(frozen=True, slots=True)
class Parsed:
    """A definition with a parsed text and unresolved names.

    If `shape` is set, `of` is the known shape, and the syntax comes from another text unless it is its `own`.
    """

    definition: SubscriptionDefinition
    language: Language
    syntax: Syntax
    shape: QueryShape | None = None
    of: ParsedShape | None = None
    own: bool = True

    @property
    def publish(self) -> str | None:
        return self.syntax.publish

    def reads(self) -> list[str]:
        return self.language.reads(self.syntax)

    def own_syntax(self) -> Syntax:
        """The syntax of its text, with its own literals."""
        return self.syntax if self.own else self.language.parse(self.definition.query)


@final
@dataclass(frozen=True, slots=True)
class _KnownForm:
    """A form, or None if these texts need one each. It is valid while the schemas do not change."""

    sources: Sources
    form: CompiledQuery | None


@final
class QueryCompiler:
    """The known shapes, with their syntax and forms."""

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
        self._shapes: Recent[tuple[str, str], ParsedShape | str] = Recent(SHAPES_MAX)  # by language and shape
        self._decisive: Recent[tuple[str, ...], Decisive] = Recent(SHAPES_MAX)  # by shape and options
        self._forms: Recent[tuple[tuple[str, ...], Decisive, tuple[Any, ...]], _KnownForm] = Recent(SHAPES_MAX)

    # --- from texts to syntax -----------------------------------------------------------------------------------

    def parse(self, definition: SubscriptionDefinition) -> Parsed:
        """Parse a definition. Raises QueryError, Unsupported or DefinitionError, each naming the subscription."""
        name = checked_subscription_name(definition.name)
        language = language_of(definition)
        if definition.report is not None or definition.forecast is not None:
            check_options(definition, language)
        text = definition.query
        try:
            shape = language.shape(text) if self.options.templates else None
            if shape is None:
                return Parsed(definition, language, language.parse(text))
            mark = (language.name, shape.key)
            known = self._shapes.get(mark)
            new = known is None
            if known is None:
                known = self._parsed_shape(language, text, shape)
                self._shapes.put(mark, known)
            if isinstance(known, ParsedShape) and known.fits(shape.literals):
                return Parsed(definition, language, known.syntax, shape, known, new)
            return Parsed(definition, language, language.parse(text))
        except QueryError as error:
            raise located(name, error) from None

    def _parsed_shape(self, language: Language, text: str, shape: QueryShape) -> ParsedShape | str:
        """The syntax of the shape, learnt from this text; or the reason why a shape cannot have one."""
        syntax = language.parse(text)
        nodes = literal_nodes(syntax, language.literals)
        durations: list[int] = []
        tests = tests_by_place(syntax)
        for number, (place, literal) in enumerate(zip(shape.places, shape.literals)):
            kind, value = nodes.get(place, (None, None))
            if kind is None or type(value) is not type(literal) or value != literal:
                return "what looks like a literal is none"
            if kind in language.durations:
                durations.append(number)
        patterns = [(number, tests[place]) for number, place in enumerate(shape.places) if place in tests]
        return ParsedShape(syntax, tuple(durations), tuple(patterns))

    # --- from syntax to forms -----------------------------------------------------------------------------------

    def form(self, parsed: Parsed, since: int) -> tuple[CompiledQuery, Literals]:
        """The form, and the literals to put into it.

        Raises QueryError, LimitExceeded or DefinitionError with the name.
        """
        name = parsed.definition.name
        try:
            form = self._shape_form(parsed)
            literals = () if form is None or parsed.shape is None else form.decisive.whole(parsed.shape.literals)
            if form is None:
                form = self._own_form(parsed, since)
            check_parts(parsed.definition, parsed.language)
            return form, literals
        except QueryError as error:
            raise located(name, error) from None
        except (LimitExceeded, DefinitionError) as error:
            raise type(error)(f"subscription {name!r}: {error}") from None

    def bound(self, subscriber: Subscriber) -> Subscriber:
        """The same subscriber with its plans. Raises LimitExceeded or DefinitionError with the name."""
        form, literals = subscriber.form, subscriber.literals
        try:
            if form.machine is not None:
                subscriber.machine = form.machine.plan(literals)
            if form.foretells is not None:
                alike = None if form.template is None else form.as_written
                subscriber.plan = form.foretells.plan(literals, form.decisive.fixed, subscriber.as_written, alike)
        except (LimitExceeded, DefinitionError) as error:
            raise type(error)(f"subscription {subscriber.name!r}: {error}") from None
        return subscriber

    def _own_form(self, parsed: Parsed, since: int) -> CompiledQuery:
        """A form for this text only."""
        text = parsed.definition.query
        syntax = parsed.own_syntax()
        form = parsed.language.compile(
            CompileRequest(
                parsed.definition,
                syntax,
                self._sources(parsed),
                since,
                self._surroundings,
                Wording((text,)),
                Wording((parsed.language.print(syntax),)),
            )
        )
        assert form is not None
        return form

    def _shape_form(self, parsed: Parsed) -> CompiledQuery | None:
        """The form of the text's shape, options and fixed literals; None if there cannot be one.

        Raises the errors of the compiler.
        """
        shape, definition = parsed.shape, parsed.definition
        if shape is None or parsed.of is None:
            return None
        sources = self._sources(parsed)
        equal = first_equal(shape.literals) if parsed.language.unites else ()
        mark = (parsed.language.name, shape.key, repr(definition.report), repr(definition.forecast), repr(equal))
        decisive = self._decisive.get(mark)
        if decisive is not None:
            known = self._forms.get((mark, decisive, decisive.of(shape.literals)))
            if known is not None and known.sources == sources:
                return known.form
        first = Decisive(unites=parsed.language.unites) if decisive is None else decisive
        form, decisive = self._template(parsed, shape, parsed.of, sources, first)
        self._decisive.put(mark, decisive)
        self._forms.put((mark, decisive, decisive.of(shape.literals)), _KnownForm(sources, form))
        return form

    def _template(
        self, parsed: Parsed, shape: QueryShape, of: ParsedShape, sources: Sources, decisive: Decisive
    ) -> tuple[CompiledQuery | None, Decisive]:
        """The form of all texts that are alike in what is decisive, and that: what was known to be, or more."""
        language, definition = parsed.language, parsed.definition
        syntax = parsed.own_syntax()
        while True:
            free = [number for number in range(len(shape.literals)) if number not in decisive.fixed]
            canonical = printed_around(syntax, language.print, language.literals, shape, free)
            if canonical is None:
                return None, decisive
            marks = marked_places(free, shape.places, shape.literals, of.durations)
            first = first_equal(shape.literals) if language.unites else tuple(range(len(shape.literals)))
            united = [number for number in free if first[number] != number and first[number] in free]
            for number in united:
                marks[shape.places[number]] = marks[shape.places[first[number]]]
            with_marks = with_literals(syntax, language.literals, marks)
            try:
                with noting_orders(len(shape.literals), decisive.made) as asked:
                    form = language.compile(
                        CompileRequest(
                            definition,
                            with_marks,
                            sources,
                            0,
                            self._surroundings,
                            wording_of(shape),
                            canonical,
                            shape,
                        )
                    )
            except LiteralUsed as used:
                decisive = decisive.adding(asked.written([max(used.number, ~used.number)]))
                continue
            except LimitExceeded:
                return None, decisive  # marked literals are all different, so that compiling may hit a limit
            if form is None:
                return None, decisive
            ordered = decisive.adding((), asked)
            lost = set(free).difference(united, asked.written(marks_in(form.constructed)))
            # A duration of 0 is marked as another one, so that its place in an order is not its own.
            doubtful = asked.written(ordered.compared()).intersection(of.durations, free)
            lost |= {number for number in doubtful if shape.literals[number] == 0}
            if not lost:
                form.decisive = ordered
                return form, ordered
            decisive = decisive.adding(lost)

    def forget(self) -> None:
        """Forget the forms, because a stream has gone: another one of its name may have another key."""
        self._forms.clear()

    def _sources(self, parsed: Parsed) -> Sources:
        return tuple([(stream, self._schema_of(stream)) for stream in parsed.reads()])

    # --- prepared queries ---------------------------------------------------------------------------------------

    def prepare(self, language: str, query: str) -> Prepared:
        """Parse, type and compile a query for many later subscriptions. Raises as `parse` and `form` do."""
        parsed = self.parse(SubscriptionDefinition("prepared", language, query))
        form, literals = self.form(parsed, 0)
        self.bound(Subscriber("prepared", form, literals, None, None, 0, 0))
        if parsed.shape is None or not literals:
            return Prepared(self.options, None, None, (), query, language, query)
        literals = parsed.shape.literals
        own = None if form.written.says(literals, query) else query
        patterns = () if parsed.of is None else parsed.of.patterns
        return Prepared(self.options, form, form.written, literals, own, language, query, patterns)


def located(name: str, error: QueryError) -> QueryError:
    return QueryError(f"subscription {name!r}: {error}", error.line, error.column, error.excerpt)
