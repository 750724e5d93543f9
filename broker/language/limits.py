"""The limits on the size of a text, as named numbers with units, and their checks.

They keep hostile texts cheap: the size of a text is checked before anything reads it, its brackets are counted before
the parser runs, and the depth of the tree is checked before any recursion walks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .diagnostics import query_error

TEXT_BYTES_MAX: Final = 64 * 1024
"""The most bytes of a query's text in UTF-8."""
NESTING_LEVELS_MAX: Final = 100
"""The most levels of nested brackets, and of nested nodes in the syntax tree."""
STRING_BYTES_MAX: Final = 4 * 1024
"""The most bytes of a string literal's value in UTF-8."""
NUMBER_DIGITS_MAX: Final = 40
"""The most digits of a number literal, including those of its exponent."""
INTEGER_BITS_MAX: Final = 63
"""The most bits of an integer literal's magnitude: its value is below 2**63."""
NAME_CHARACTERS_MAX: Final = 128
"""The most characters of a name in a query."""
PARTS_MAX: Final = 100_000
"""The most parts of a query's conditions with IN and BETWEEN as the comparisons that they stand for."""
ITEMS_MAX: Final = 1_000
"""The most items of one SELECT or RETURN, aggregates of one FOLD, and conditions of one WHERE."""
OPERANDS_MAX: Final = 60
"""The most operands of one MATCH and components of one SEQ: each is one bit of a machine integer."""
VARIANTS_MAX: Final = 64
"""The most variants of one SEQ: combinations of the elements that a match may lack."""
REPETITIONS_MAX: Final = 1_000_000
"""The greatest number in a quantifier or of a Kleene component, and the most events of a window's size."""
FILE_BYTES_MAX: Final = 64 * 1024 * 1024
"""The most bytes of a subscription file in UTF-8."""

# Strings and comments are matched so that the brackets in them do not count.
_BRACKET: Final = re.compile(r"'[^']*'?|--[^\n]*|([({])|([)}])")


def byte_length(text: str) -> int:
    """Return the length of `text` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def check_text(text: str) -> None:
    """Refuse a text that is too long, is not valid Unicode or nests too deeply, before it is parsed.

    O(1) for a text of far too many characters, else linear. Raises QueryError.
    """
    if len(text) > TEXT_BYTES_MAX or byte_length(text) > TEXT_BYTES_MAX:
        message = f"expected at most {TEXT_BYTES_MAX} bytes of text, found {len(text)} characters"
        raise query_error(text[:NAME_CHARACTERS_MAX], 0, message)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise query_error(text, error.start, "expected Unicode text, found half of a surrogate pair") from None
    if text.count("(") + text.count("{") > NESTING_LEVELS_MAX:
        _check_brackets(text)


def _check_brackets(text: str) -> None:
    depth = 0
    for match in _BRACKET.finditer(text):
        if match.group(1):
            depth += 1
            if depth > NESTING_LEVELS_MAX:
                raise _too_deep(text, match.start())
        elif match.group(2) and depth:
            depth -= 1


def check_depth(text: str, root: object) -> None:
    """Refuse a syntax tree, read from `text`, that is deeper than NESTING_LEVELS_MAX.

    Walks without recursion, linear in the tree. Raises QueryError at a node that is too deep.
    """
    level = [root]
    for _ in range(NESTING_LEVELS_MAX):
        level = [child for node in level for child in _children(node)]
        if not level:
            return
    raise _too_deep(text, getattr(level[0], "at", 0))


def _children(node: object) -> Iterator[object]:
    for slot in getattr(node, "__slots__", ()):
        value = getattr(node, slot)
        if isinstance(value, tuple):
            yield from value
        elif hasattr(value, "at"):
            yield value


def _too_deep(text: str, at: int) -> Exception:
    return query_error(text, at, f"expected at most {NESTING_LEVELS_MAX} levels of nesting, found more")
