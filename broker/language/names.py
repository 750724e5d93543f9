"""The names of the languages, so that a client can check one without loading an engine.

The table of languages, broker/engine/languages/table.py, says what each language supports. `LANGUAGES` also has the
planned ones, which are refused as not supported yet. A test checks that the table has no other names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

DEFAULT_LANGUAGE: Final[Literal["cayuga"]] = "cayuga"
LANGUAGES: Final[list[str]] = ["cayuga", "sase", "ptopss", "afa", "window"]
"""In the order of error messages."""
LanguageName: TypeAlias = Literal["cayuga", "cel", "sase", "ptopss", "afa", "window"]
"""The names for type checkers."""
ALGEBRAIC: Final = "cayuga"
SEQUENTIAL: Final = "sase"
COMPOSITE: Final = "ptopss"
REGISTERED: Final = "afa"
WINDOWED: Final = "window"
"""The languages that an error may speak of: of operators on streams, of sequences, of composite subscriptions, of
automata with registers, of windows."""
ALIASES: Final[Mapping[str, str]] = MappingProxyType({"cel": "cayuga", "sase+": "sase", "p-topss": "ptopss"})
"""Other names of languages, in lower case."""

_BEHIND_FROM: Final = tuple(
    (re.compile(rf"\b{word}\b", re.IGNORECASE), language)
    for word, language in (("WINDOW", WINDOWED), ("START", REGISTERED), ("MATCH", COMPOSITE))
)


def language_named(name: str) -> str:
    """The name of a language for one of its names."""
    return ALIASES.get(name.lower(), name)


def language_meant(text: str) -> str:
    """The language that a query's first word belongs to, and those that decide behind FROM."""
    first = text.split(None, 1)[0].upper() if text.strip() else ""
    if first.startswith(("PATTERN", "SEQ")):
        return SEQUENTIAL
    for word, language in _BEHIND_FROM if first == "FROM" else ():
        if word.search(text) is not None:
            return language
    return ALGEBRAIC
