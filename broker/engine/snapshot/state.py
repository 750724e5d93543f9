"""The state that sections save and fill: the parts of an engine, and data that sections pass to later ones.

Not here: any section.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from ..executors.matches import PartialMatch

if TYPE_CHECKING:
    from ..engine import Engine


@final
class EngineState:
    """`executors` are those with saved machines, by machine number; `results` the options of subscriptions by name;
    `revising` the names of those that revise.

    `runs` are the live runs of the merged program, in the order in which their section lists them.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.catalog = engine.catalog
        self.runtime = engine.runtime
        self.program = engine.program
        self.executors: dict[int, str] = {}
        self.results: dict[str, str] = {}
        self.revising: frozenset[str] = frozenset()
        self.runs: list[PartialMatch] = engine.runtime.runs.live()
