"""The switches and admission limits of an engine.

Every optimisation has a switch here, and with any of them off the results are the same (a property test says so).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NEVER_INDEXED: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Options:
    """`static_index`: start arcs are found by the event's values. `affected_index`: so are waiting runs.
    `dynamic_index`: so are the arcs out of a state, by the run's values too. `cohorts`: runs that one event starts in
    sibling states are one object. `templates`: texts that differ in the values of literals are compiled once. Up to
    `arcs_few` arcs are tried one by one, where an index would cost more.
    Limits count things in one engine; `bindings_max`, `cells_max` and `nodes_max` those of one composite subscription
    in one partition: key values with partial matches, different partial matches of one, events kept for tuples;
    `runs_max`, `matches_max` and `negated_max` those of one key value of a SASE+ subscription: runs, or what stands for
    them, matches of one event, negated events that are kept. `columns`, `merging`, `buffer` and `variants` are ways to
    keep its runs (kleene.tables). `work_max` and `work_earned` count the work of one subscription of either kind
    (account): what it may do at once, and how much more with each event. `executors_off` names executors that no
    subscription gets: the planner takes the next one that can run it, at last the reference.
    """

    static_index: bool = True
    affected_index: bool = True
    dynamic_index: bool = True
    cohorts: bool = True
    templates: bool = True
    columns: bool = True
    merging: bool = True
    buffer: bool = True
    variants: bool = True
    executors_off: tuple[str, ...] = ()
    arcs_few: int = 8
    streams_max: int = 100_000
    bindings_max: int = 1_000_000
    cells_max: int = 100_000
    nodes_max: int = 10_000_000
    runs_max: int = 100_000
    matches_max: int = 100_000
    negated_max: int = 100_000
    work_max: int = 1_000_000
    work_earned: int = 10_000
    subscriptions_max: int = 10_000_000

    @property
    def off(self) -> tuple[str, ...]:
        """The executors that no subscription gets. Groups take the place of all other ways to keep runs: with one of
        these off there are none."""
        indexed = self.static_index and self.affected_index and self.dynamic_index and self.cohorts
        kept = self.columns and self.merging and self.buffer and self.variants
        return self.executors_off if indexed and kept else (*self.executors_off, "groups")

    @property
    def static_few(self) -> int:
        """How many start arcs of a cell are tried one by one."""
        return self.arcs_few if self.static_index else NEVER_INDEXED

    @property
    def dynamic_few(self) -> int:
        """How many arcs out of a state are tried one by one."""
        return self.arcs_few if self.dynamic_index else NEVER_INDEXED
