"""The names of the languages, so that a client can judge one without loading an engine.

What each offers is in the one table of languages, broker/engine/languages/table.py. `LANGUAGES` also has the planned
ones, which are refused as not supported yet. A test holds that the table has no other names.
"""

from __future__ import annotations

from typing import Final

DEFAULT_LANGUAGE: Final = "cayuga"
LANGUAGES: Final[list[str]] = ["cayuga", "sase", "ptopss", "afa", "window"]
"""In the order in which errors list them."""
