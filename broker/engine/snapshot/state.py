"""The state that sections save and fill: the parts of an engine, and data that sections pass to later ones.

Not here: any section.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias, final

from ...automaton.arc_updates import ArcUpdate
from ...automaton.rewriting.table import RULES
from ...events.stream import StreamDefinition
from ..compiler.query_compiler import Parsed
from ..disorder.reordering import Reordering
from ..dispatch.dispatcher import Dispatcher
from ..executors.matches import PartialMatch
from ..program.program import Program
from ..subscribing.catalog import Catalog
from ..subscribing.subscriber import Subscriber

UpdateAgain: TypeAlias = Callable[[Subscriber, Sequence[ArcUpdate]], None]
"""Applies the updates of a subscription that has taken no event yet."""


class Parts(Protocol):
    """The engine that is saved or filled."""

    catalog: Catalog
    runtime: Dispatcher
    program: Program
    disorder: Reordering | None
    events: int
    matches: int

    def declare(self, definition: StreamDefinition) -> None:
        """Declare a stream."""

    def install(self, parsed: Parsed, since: int, widths: Mapping[str, int] | None = None) -> None:
        """Add a subscription as of a time."""


@final
class EngineState:
    """`executors` are those with saved machines, by machine number; `results` the options of subscriptions by name;
    `revising` the names of those that revise, `widths` of those that read the first attributes of streams only.
    `rules_off`: the rules by which automata were not rewritten, all where a snapshot has no rules, and `rules_off_of`
    those of the subscriptions with others.

    `runs` are the live runs of the merged program, in the order in which their section lists them.
    """

    def __init__(self, engine: Parts, update_again: UpdateAgain) -> None:
        self.engine = engine
        self.update_again = update_again
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
