"""How far one order of time has come: what a dispatcher needs of the streams that share it.

Streams without a relation to each other may be at different times. Each order has its own newest moment, and the
alarms, deadlines and sweeps that wait for later ones. An engine whose streams are all in order of arrival has one.

Not here: which streams share an order (disorder.related).
"""

from __future__ import annotations

from typing import Any, final

from ...events.instant import FOREVER
from ..results import Results


@final
class TimeOrder:
    """`now`: the newest epoch; `promised`: no earlier event follows; `results` of the last batch. `schedule`: when runs
    of merged automata are swept; `alarms` of machines and `deadlines` of forecasts are heaps."""

    def __init__(self) -> None:
        self.now: int | None = None
        self.promised: int | None = None
        self.results: Results | None = None
        self.schedule: Any = None
        self.alarms: list[Any] = []
        self.deadlines: list[tuple[int, int]] = []


def horizon_in(deadlines: list[tuple[int, int]]) -> int:
    """The time after which the first horizon of a forecast is over for who waits; FOREVER if there is none."""
    return deadlines[0][0] + 1 if deadlines else FOREVER  # at the horizon itself a match is in time
