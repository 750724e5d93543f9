"""The state that sections save and fill: the parts of an engine, and data that sections pass to later ones.

Not here: any section.
"""

from __future__ import annotations

from typing import final

from ..matches.sources import PartialMatch
from ..parts import EngineParts


@final
class EngineState:
    """`executors` are those with saved machines, by machine number; `revising` the names of subscriptions that revise.

    `runs` are the live runs of the merged program, in the order in which their section lists them.
    """

    def __init__(self, engine: EngineParts) -> None:
        self.engine = engine
        self.catalog = engine.catalog
        self.runtime = engine.runtime
        self.program = engine.program
        self.executors: dict[int, str] = {}
        self.revising: frozenset[str] = frozenset()
        self.runs: list[PartialMatch] = engine.runtime.runs.live()
