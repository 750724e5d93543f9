"""How this installation was built: compiled or pure Python. setup.py does the building."""

from __future__ import annotations

from importlib.machinery import ExtensionFileLoader, PathFinder
from pathlib import Path
from typing import Final

COMPILED: Final = "compiled"
PURE: Final = "pure Python"
UNCOMPILED: Final = "the engine is pure Python; a compiled one is several times faster"


def build() -> str:
    """Return how the engine's inner loop is built, without importing it."""
    engine = Path(__file__).resolve().parent / "engine"
    found = PathFinder.find_spec("broker.engine.results", [str(engine)])
    return COMPILED if found and isinstance(found.loader, ExtensionFileLoader) else PURE
