"""The state that sections save and fill: the parts of an engine, and data that sections pass to later ones.

Not here: any section.
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
    """`install` activates a subscription as of a time; `executors` are those with saved machines, by machine number.

    `runs` are the live runs of the merged program, in the order in which their section lists them.
    """

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
