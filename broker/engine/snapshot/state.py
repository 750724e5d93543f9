"""The state that sections save and fill: the parts of an engine, and data that sections pass to later ones.

Not here: any section.
"""

from __future__ import annotations

from typing import Any, final

from ..catalog import Catalog
from ..dispatch.dispatcher import Dispatcher
from ..executors.matches import PartialMatch
from ..program import Program


@final
class EngineState:
    """`engine` is the Engine, which this layer does not know. `executors` are those with saved machines, by machine
    number; `results` the options of subscriptions by name; `revising` the names of those that revise.

    `runs` are the live runs of the merged program, in the order in which their section lists them.
    """

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.catalog: Catalog = engine.catalog
        self.runtime: Dispatcher = engine.runtime
        self.program: Program = engine.program
        self.executors: dict[int, str] = {}
        self.results: dict[str, str] = {}
        self.revising: frozenset[str] = frozenset()
        self.runs: list[PartialMatch] = engine.runtime.runs.live()
