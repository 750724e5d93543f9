"""Queries that are compiled once for any number of subscriptions, which differ in their literals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ..events.errors import DefinitionError
from ..language.shapes import Literal, check_literal
from .options import Options
from .subscriber import Form
from .templates import Literals, written


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
