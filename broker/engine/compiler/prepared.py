"""Queries that are compiled once for any number of subscriptions with different literals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ...events.errors import DefinitionError, PatternError
from ...events.text_operators import condition_of
from ...language.marked_literals import Literals
from ...language.shapes import Literal, check_literal
from ...language.syntax import TextOperator
from ...language.wording import Wording
from ..options import Options
from ..subscribing.subscriber import CompiledQuery


@final
@dataclass(frozen=True, slots=True)
class Prepared:
    """A query that was parsed, typed and compiled, for any number of subscriptions (`Engine.prepare`).

    `literals` are its numbers, strings and durations in the order of the text, durations in microseconds. `written` is
    the text around them, `form` the form of all texts that differ only in them; each may be None. `own`: the text, if
    it is not made of these. `patterns`: the numbers of the literals that are patterns, each with its operator.
    """

    options: Options  # those of the engine that prepared it
    form: CompiledQuery | None
    written: Wording | None
    literals: Literals
    own: str | None
    language: str
    query: str
    patterns: tuple[tuple[int, TextOperator], ...] = ()

    def with_literals(self, *literals: Literal) -> Prepared:
        """The same query with other literals of the same types. Raises DefinitionError if they do not fit."""
        if self.written is None:
            raise DefinitionError(
                "this query's literals cannot be exchanged: expected one whose literals stay as they are"
            )
        if [type(literal) for literal in literals] != [type(literal) for literal in self.literals]:
            wanted, found = (", ".join(type(x).__name__ for x in side) for side in (self.literals, literals))
            raise DefinitionError(f"expected literals of the types ({wanted}), found ({found})")
        for literal in literals:
            check_literal(literal)
        for number, operator in self.patterns:
            try:
                condition_of(operator, str(literals[number]))
            except PatternError as error:
                raise DefinitionError(f"literal {number + 1}, {error}") from None
        text = self.written.text(literals)
        form = self.form
        if form is not None and form.decisive.of(literals) != form.decisive.of(self.literals):
            form = None  # the engine finds the form with these literals
        return Prepared(self.options, form, self.written, literals, None, self.language, text, self.patterns)
