"""Tells forecasts of the events of a batch, and results of their notices.

Here: one batch. Hot. Not here: the keys that an event concerns (forecasts), the order of events (dispatcher).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ..forecasts.registry import Forecasts
from ..program.watcher import EventWatcher
from ..results import Results


@final
class ForetoldEvents(EventWatcher):
    """The events of a batch of the stream of that number."""

    def __init__(self, forecasts: Forecasts, number: int, results: Results) -> None:
        found = results.found
        self.forecasts = forecasts
        self.number = number
        self.results = results
        self.times = found.times
        self.scopes = forecasts.scopes.get(number)
        self.rows = found.batch.rows() if self.scopes is not None else []

    def begins(self, event: i64) -> None:
        scopes = self.scopes
        if scopes is not None:
            self.forecasts.begin(scopes, self.number, self.rows[event], self.times[event])

    def ends(self, event: i64) -> None:
        for target, notice in self.forecasts.finish(self.times[event]):
            self.results.notify(int(event), target, notice)
