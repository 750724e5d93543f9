"""How this installation was built: compiled, or as the Python that it is written in. Not here: building (setup.py)."""

from __future__ import annotations

from importlib.machinery import ExtensionFileLoader, PathFinder
from pathlib import Path
from typing import Final

COMPILED: Final = "compiled"
PURE: Final = "pure Python"
UNCOMPILED: Final = "the engine is pure Python; a compiled one is several times faster"


def build() -> str:
    """What importing the engine's inner loop would find. Imports nothing."""
    engine = Path(__file__).resolve().parent.parent / "engine"
    found = PathFinder.find_spec("broker.engine.cells", [str(engine)])
    return COMPILED if found and isinstance(found.loader, ExtensionFileLoader) else PURE
