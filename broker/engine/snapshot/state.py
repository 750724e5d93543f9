"""What sections save and fill: the parts of an engine, and what sections hand to later ones.

Here: that. Not here: any section.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from ..catalog import Catalog
from ..dispatch.dispatcher import Dispatcher
from ..executors.matches import PartialMatch
from ..forms import Parsed


@final
class EngineState:
    """`install` puts a subscription in force as of a time; `executors` are those that have saved machines, by the
    numbers of these. `runs` are the live ones of the merged program, in the order in which their section lists them."""

    def __init__(
        self,
        catalog: Catalog,
        runtime: Dispatcher,
        events: int = 0,
        matches: int = 0,
        install: Callable[[Parsed, int], None] | None = None,
    ) -> None:
        self.catalog = catalog
        self.runtime = runtime
        self.program = runtime.program
        self.events = events
        self.matches = matches
        self.install = install
        self.executors: dict[int, str] = {}
        self.runs: list[PartialMatch] = runtime.runs.live()
