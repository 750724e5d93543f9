"""Parses a text with a grammar, and turns parse errors into messages. It knows no language.

A language supplies its grammar file, its reader and its words. Every mistake in a text raises QueryError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Final, final

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.visitors import merge_transformers

from ..events.errors import QueryError
from ..events.instant import UNITS
from ..events.nearest import nearest, suggestion
from .diagnostics import Misread, query_error, quoted
from .expression import KEYWORDS, ExpressionReader, place
from .limits import check_depth, check_text
from .shorthand import check_parts

_STRAY: Final[Mapping[str, str]] = MappingProxyType(
    {
        '"': "; strings are written in single quotes",
        "&": "; did you mean 'AND'?",
        "|": "; did you mean 'OR'?",
        "!": "; did you mean 'NOT'?",
        "$": "; a qualified attribute is $1.name, $2.name or $.name",
    }
)
"""The operators that users may mean by characters that no query has."""

_COMPARING: Final = frozenset({"IN", "BETWEEN", "LIKE", "MATCHES", "CIDR", "IS"})


@final
@dataclass(frozen=True, slots=True)
class Words:
    """The names of a language's terminals in errors.

    `labels` names each terminal, in the order of lists; a terminal without a label is not listed. `meant`: of some
    terminals of names, the keywords that the user may have meant instead.
    """

    labels: Mapping[str, str]
    meant: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def keywords(self) -> frozenset[str]:
        """All reserved words, each the name of its terminal."""
        return KEYWORDS | {terminal for terminal, label in self.labels.items() if label.upper() == terminal}


@cache
def parser_of(file: str, reader: type[Transformer[Any, Any]], start: str = "query") -> Lark:
    """Return the parser of the grammar `file`, a path relative to this folder; the file imports expression.lark.

    The first call takes tens of milliseconds.
    """
    merged = merge_transformers(reader(), expression=ExpressionReader())  # type: ignore[no-untyped-call]  # lark's own
    # By package, not by path: Spark's executors import this package out of an archive.
    package: str = __package__
    parser: Lark = Lark.open_from_package(
        package, file, start=start, parser="lalr", lexer="contextual", transformer=merged
    )
    return parser


def read(parser: Lark, words: Words, text: str) -> Any:
    """Return the tree of `text`. Linear in the text. Raises QueryError, and no other exception whatever the text."""
    check_text(text)
    try:
        root = parser.parse(text)
    except Misread as error:
        raise query_error(text, error.at, error.message) from None
    except UnexpectedCharacters as error:
        raise _stray(words, text, error) from None
    except UnexpectedToken as error:
        raise _unexpected(words, text, error) from None
    check_depth(text, root)
    check_parts(text, root)
    return root


def _stray(words: Words, text: str, error: UnexpectedCharacters) -> QueryError:
    character = error.char
    at: Any = error.pos_in_stream  # an int, although lark's types do not say so
    if character == "'":
        return query_error(text, at, "expected a closing ' to this string, found the end of the query")
    expected = _expected(words, _accepted(error))
    return query_error(text, at, f"{expected}, found the character {quoted(character)}{_STRAY.get(character, '')}")


def _unexpected(words: Words, text: str, error: UnexpectedToken) -> QueryError:
    token, previous, accepted = error.token, _previous(error), _accepted(error)
    if previous is not None and not nearest(token, _continuing(words, accepted)):
        meant = nearest(previous, words.meant.get(previous.type, ()))
        if meant is not None and meant != previous.upper():
            message = f"unknown keyword {quoted(previous)}; did you mean {quoted(meant)}?"
            return query_error(text, place(previous), message)
    expected, hint = _expected(words, accepted), _hint(words, token, previous, accepted)
    if token.type == "$END":  # it has the position of the last token
        return query_error(text, token.end_pos or 0, f"{expected}, found {words.labels[token.type]}{hint}")
    return query_error(text, place(token), f"{expected}, found {quoted(token)}{hint}")


def _hint(words: Words, token: Token, previous: Token | None, accepted: frozenset[str]) -> str:
    after_operand = "ADDITIVE" in accepted
    if after_operand and str(token) in _STRAY:
        return _STRAY[str(token)]
    if token.type == "COMPARISON" and after_operand:
        return "; comparisons do not chain, join them with AND"
    if previous is not None and previous.type == "PERCENTAGE" and after_operand:
        return "; digits directly before % make a percentage, a space between them a remainder"
    if previous is not None and previous.upper() in words.keywords and previous.type not in words.keywords:
        return f"; {quoted(previous)} before it was read as a name"
    return suggestion(token, _continuing(words, accepted))


def _continuing(words: Words, accepted: frozenset[str]) -> list[str]:
    """Return the words that may come next, as candidates for a misspelt one."""
    return [*sorted(words.keywords & accepted), *(UNITS if "UNIT" in accepted else ())]


def _expected(words: Words, accepted: frozenset[str]) -> str:
    """Return `expected A, B or C`, each once, in the order of the labels. `a comparison` includes those by words."""
    if "COMPARISON" in accepted:
        accepted -= _COMPARING
    names = list(dict.fromkeys(label for terminal, label in words.labels.items() if terminal in accepted))
    return "expected " + " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _accepted(error: UnexpectedInput) -> frozenset[str]:
    """Return the terminals that can continue the query: fewer than the parser's table lists at this point."""
    state: Any = error.interactive_parser
    accepted = frozenset(map(str, state.accepts()))
    # After a name, "(" may follow as well, but listing it would not help the user.
    return accepted - {"LPAR"} if "ADDITIVE" in accepted else accepted


def _previous(error: UnexpectedInput) -> Token | None:
    """Return the token before the unexpected one if it is not part of a tree yet; a misread name never is."""
    state: Any = error.interactive_parser
    values = state.parser_state.value_stack
    return values[-1] if values and isinstance(values[-1], Token) else None
