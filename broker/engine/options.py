"""The switches and admission limits of an engine.

Each way to match faster has a switch here. With any of them off the results are the same; a property test checks this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NEVER_INDEXED: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Options:
    """The switches and the limits.

    `indexes`: indexes find start arcs and waiting runs by the event's values, and the arcs out of a state by the run's
    values, too. Up to `arcs_few` arcs are tried one by one, because an index would cost more. `templates`: texts that
    differ only in the values of literals are compiled once. `batches`: a batch goes by columns, or by one machine after
    the other, where that is possible, and what it completes in different places is put in order when somebody reads it.
    `together`: AFA subscriptions that begin alike run as one, and only events with the key of their first arc reach
    them. `columns`: runs of SASE+ are rows of numbers, or share their pasts, where their conditions allow it.
    `window_columns`: the partitions of windows are numbers, where that is possible.

    `cancelling`: where late events withdraw results, those that come and go within one batch are not told.

    Limits apply to one engine. `bindings_max`, `cells_max` and `nodes_max` apply to one composite subscription in one
    partition: key values with partial matches, different partial matches of one key value, events kept for tuples.
    `runs_max`, `matches_max` and `negated_max` apply to one key value of a SASE+ subscription: runs or their compressed
    form, matches of one event, negated events that are kept; `runs_max` also to one of an AFA subscription, to the runs
    after one event. `run_bytes_max`: the bytes, estimated, of all runs and their events of one subscription of either
    kind, or of those that run as one. Of windows, `nodes_max` limits the events of open windows in one partition, and
    `runs_max` the open starts where one event may complete the windows of all.

    `work_max` and `work_earned` limit the work of one subscription of either kind (account): the most at once, and what
    each event adds. `buffered_events_max`: the events of all streams that are not final yet (disorder).
    `promised_regions_max`: kinds of events of one stream of which punctuations differ (promised). `updates_max`:
    changes of the arcs of one subscription (updating). `executors_off` names executors that no subscription gets: the
    planner takes the next one that can run it, and in the end the reference. `rules_off` names rules by which no
    automaton is rewritten (automaton.rewriting).
    """

    indexes: bool = True
    templates: bool = True
    batches: bool = True
    together: bool = True
    columns: bool = True
    window_columns: bool = True
    cancelling: bool = True
    executors_off: tuple[str, ...] = ()
    rules_off: tuple[str, ...] = ()
    arcs_few: int = 8
    streams_max: int = 100_000
    bindings_max: int = 1_000_000
    cells_max: int = 100_000
    nodes_max: int = 10_000_000
    runs_max: int = 100_000
    matches_max: int = 100_000
    negated_max: int = 100_000
    run_bytes_max: int = 1 << 30
    work_max: int = 1_000_000
    work_earned: int = 10_000
    buffered_events_max: int = 10_000_000
    promised_regions_max: int = 10_000
    updates_max: int = 10_000
    subscriptions_max: int = 10_000_000

    @property
    def off(self) -> tuple[str, ...]:
        """The executors that no subscription gets.

        Groups replace all other ways to store runs, so with one of these off there are no groups.
        """
        return self.executors_off if self.indexes and self.columns else (*self.executors_off, "groups")

    @property
    def few(self) -> int:
        """The number of arcs in one place up to which they are tried one by one."""
        return self.arcs_few if self.indexes else NEVER_INDEXED
