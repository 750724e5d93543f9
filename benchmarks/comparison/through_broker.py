"""The broker's loads on one build after the other: messages of one event to a thousand, with a journal or none.

Events in columns are sent as rows by a build that cannot send columns.

Phases: `message`, sent as fast as receipts allow; `message at half`, at half of that rate. Not here: the three
processes (broker_latency).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, final

from ..measuring import trial

MODULE: Final = "benchmarks.broker_latency"
LOADS: Final[Mapping[str, Mapping[str, Any]]] = {
    "broker, 1 event": {"batch": 1},
    "broker, 100 events": {"batch": 100},
    "broker, 100 events, journal": {"batch": 100, "fsync": "os"},
    "broker, 100 events in columns": {"batch": 100, "columns": True},
    "broker, 1,000 events": {"batch": 1_000},
    "broker, 1,000 events in columns": {"batch": 1_000, "columns": True},
    "broker, 1,000 events in columns, journal": {"batch": 1_000, "columns": True, "fsync": "os"},
}
PHASES: Final = {"message": "busy", "message at half": "paced"}
COUNTED, TIMED = 150, 3_000  # messages
HALF: Final = 0.5


@final
class BrokerTrials:
    """One load."""

    def __init__(self, name: str) -> None:
        self._load = LOADS[name]

    def counted(self, build: Path, dumps: Path) -> dict[str, float]:
        """The broker's instructions of a message, by phase. Raises BenchmarkError."""
        job = {**self._job(COUNTED), "dumps": str(dumps.absolute())}
        said = trial(MODULE, job, folder=build, variables={"PYTHONHASHSEED": "0"})
        return {phase: said[f"{part}_count"] for phase, part in PHASES.items()}

    def timed(self, build: Path) -> dict[str, float]:
        """The broker's microseconds of processor time of a message, by phase; Linux says hundredths of a second."""
        said = trial(MODULE, self._job(TIMED), folder=build)
        return {phase: 1e6 * said[f"{part}_seconds"]["broker"] / TIMED for phase, part in PHASES.items()}

    def _job(self, messages: int) -> dict[str, Any]:
        return {**self._load, "messages": messages, "warm": messages // 3, "load": HALF}
