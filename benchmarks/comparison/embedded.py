"""The engine's loads on one build after the other, each in an own process. Not here: the loads, and the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, final

from ..measuring import BenchmarkError, trial
from . import counting
from .loads import Load

MODULE: Final = "benchmarks.comparison.trial"
MATCH: Final = "match"
MATCHES: Final = 20  # fewer say nothing of what one costs


@final
class EmbeddedTrials:
    """One load. Every build must find the same matches."""

    def __init__(self, name: str, load: Load, warm: int, folder: Path) -> None:
        self._name = name
        self._job = {"load": str(folder / "load.msgpack")}
        self._library = folder / counting.LIBRARY_FILE
        self._first: dict[str, Any] = {}
        load.write(folder / "load.msgpack", warm)

    def counted(self, build: Path, dumps: Path) -> dict[str, float]:
        """Instructions of each thing that is done, by phase. Raises BenchmarkError."""
        said, counts = counting.counted(MODULE, self._job, build, self._library, dumps)
        return self._each(said, counts)

    def timed(self, build: Path) -> dict[str, float]:
        """Microseconds of processor time of each thing that is done, by phase. Raises BenchmarkError."""
        said = trial(MODULE, self._job, folder=build)
        return self._each(said, {phase: 1e6 * seconds for phase, seconds in said["seconds"].items()})

    def _each(self, said: dict[str, Any], whole: dict[str, Any]) -> dict[str, float]:
        for what in ("compiled", "matches", "digest"):
            if self._first.setdefault(what, said[what]) != said[what]:
                raise BenchmarkError(f"{self._name}: {what}: {self._first[what]} and {said[what]}")
        enough = {phase: times for phase, times in said["times"].items() if times >= (MATCHES if phase == MATCH else 1)}
        return {phase: whole[phase] / times for phase, times in enough.items()}
