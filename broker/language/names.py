"""The names of the languages, so that a client can check one without loading an engine.

The table of languages, broker/engine/languages/table.py, says what each language supports. `LANGUAGES` also has the
planned ones, which are refused as not supported yet. A test checks that the table has no other names.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

DEFAULT_LANGUAGE: Final = "cayuga"
LANGUAGES: Final[list[str]] = ["cayuga", "sase", "ptopss", "afa", "window"]
"""In the order of error messages."""
ALIASES: Final[Mapping[str, str]] = MappingProxyType({"cel": "cayuga", "sase+": "sase", "p-topss": "ptopss"})
"""Other names of languages, in lower case."""


def language_named(name: str) -> str:
    """The name of a language for one of its names."""
    return ALIASES.get(name.lower(), name)
