"""The state that sections save and fill: the parts of an engine, and data that sections pass to later ones.

Not here: any section.
"""

from __future__ import annotations

from typing import final

from ...automaton.rewriting.table import RULES
from ..matches.sources import PartialMatch
from ..parts import EngineParts


@final
class EngineState:
    """`executors` are those with saved machines, by machine number; `results` the options of subscriptions by name;
    `revising` the names of those that revise, `widths` of those that read the first attributes of streams only.
    `rules_off`: the rules by which automata were not rewritten, all where a snapshot has no rules, and `rules_off_of`
    those of the subscriptions with others.

    `runs` are the live runs of the merged program, in the order in which their section lists them.
    """

    def __init__(self, engine: EngineParts) -> None:
        self.engine = engine
        self.catalog = engine.catalog
        self.runtime = engine.runtime
        self.program = engine.program
        self.executors: dict[int, str] = {}
        self.results: dict[str, str] = {}
        self.widths: dict[str, dict[str, int]] = {}
        self.revising: frozenset[str] = frozenset()
        self.rules_off: tuple[str, ...] = tuple([rule.name for rule in RULES])
        self.rules_off_of: dict[str, tuple[str, ...]] = {}
        self.runs: list[PartialMatch] = engine.runtime.runs.live()
