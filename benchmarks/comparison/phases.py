"""The phases of a trial: the processor time of each, and where counting begins and ends. Not here: the counting."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time
from typing import Final, final

LIBRARY: Final = "FORETELL_PHASES"
"""The environment's variable with the compiled phases.c; without it nothing is counted."""


@final
class Phases:
    """`seconds` of processor time by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        file = os.environ.get(LIBRARY)
        self._library = None if file is None else ctypes.CDLL(file)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """What is done in it counts as this phase."""
        if self._library is not None:
            self._library.begin()
        begun = process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + process_time() - begun
        if self._library is not None:
            self._library.end(name.encode())
