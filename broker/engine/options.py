"""The switches and admission limits of an engine.

Every optimisation has a switch here. With any of them off the results are the same; a property test checks this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

NEVER_INDEXED: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Options:
    """The switches and the limits.

    `static_index`: an index by the event's values finds start arcs. `affected_index`: such an index finds waiting runs.
    `dynamic_index`: an index finds the arcs out of a state, by the run's values too. `cohorts`: runs that one event
    starts in sibling states are one object. `templates`: texts that differ only in the values of literals are compiled
    once. `together`: AFA subscriptions that begin alike run as one, and only events with the key of their first arc
    reach them. Up to `arcs_few` arcs are tried one by one, because an index would cost more.

    `cancelling`: where late events withdraw results, those that come and go within one batch are not told.

    Limits apply to one engine. `bindings_max`, `cells_max` and `nodes_max` apply to one composite subscription in one
    partition: key values with partial matches, different partial matches of one key value, events kept for tuples.
    `runs_max`, `matches_max` and `negated_max` apply to one key value of a SASE+ subscription: runs or their compressed
    form, matches of one event, negated events that are kept; `runs_max` also to one of an AFA subscription, to the runs
    after one event. `run_bytes_max`: the bytes, estimated, of all runs and their events of one subscription of either
    kind, or of those that run as one. Of windows, `nodes_max` limits the events of open windows in one partition, and
    `runs_max` the open starts where one event may complete the windows of all.

    `column_path`: batches go by columns where single events, or two of a key, are compared by numbers
    (keyed_runs.column_runs). `machine_path`: one machine after the other takes the events of a batch, and those of a
    key before those of the next one. `shared_steps`: groups of a template share what is compiled of its steps.
    `results_later`: what a batch completes in different places is put in order when somebody reads it.
    `columns`, `merging` and `buffer` are ways to store its runs (kleene.tables).
    `work_max` and `work_earned` limit the work of one subscription of either kind (account): the most at once, and what
    each event adds. `buffered_events_max`: the events of all streams that are not final yet (disorder).
    `promised_regions_max`: kinds of events of one stream of which punctuations differ (promised). `updates_max`:
    changes of the arcs of one subscription (updating). `batches`: machines of windows take several events at once.
    `dormancy`: a machine of windows without open ones gets no event that can begin none.
    `window_keys`: where windows are in one partition only, their machine gets no event of another one.
    `composite_keys`: the same of composite subscriptions whose matches have the events of one partition only.
    `prolonging`: where all open windows stay together, an event is not taken through all that it may do to others.
    `stretches`: where there is no BY, several events that only make open windows longer are processed at once.
    `session_columns`: the partitions of SESSION are numbers, with their events in one log (windows.sessions).
    `clock_columns`: the partitions of a clock's sums are numbers, too, and sums of columns are taken at once
    (windows.packed_clock). `count_columns`: the same of windows that the number of events decides
    (windows.packed_count). `executors_off` names executors that no subscription gets: the planner takes the next one
    that can run it, and in the end the reference. `rules_off` names rules by which no automaton is rewritten
    (automaton.rewriting).
    """

    static_index: bool = True
    affected_index: bool = True
    dynamic_index: bool = True
    cohorts: bool = True
    templates: bool = True
    together: bool = True
    column_path: bool = True
    machine_path: bool = True
    shared_steps: bool = True
    results_later: bool = True
    columns: bool = True
    merging: bool = True
    buffer: bool = True
    batches: bool = True
    dormancy: bool = True
    window_keys: bool = True
    composite_keys: bool = True
    prolonging: bool = True
    stretches: bool = True
    session_columns: bool = True
    clock_columns: bool = True
    count_columns: bool = True
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
        indexed = self.static_index and self.affected_index and self.dynamic_index and self.cohorts
        kept = self.columns and self.merging and self.buffer
        return self.executors_off if indexed and kept else (*self.executors_off, "groups")

    @property
    def in_columns(self) -> bool:
        """Whether subscriptions that differ in numbers only may be members in columns, without states of their own."""
        return self.templates and self.static_index and self.cohorts

    def with_columns(self) -> Options:
        """The same with members in columns, as for those that a snapshot has."""
        return self if self.in_columns else replace(self, templates=True, static_index=True, cohorts=True)

    @property
    def static_few(self) -> int:
        """The number of start arcs of a cell up to which they are tried one by one."""
        return self.arcs_few if self.static_index else NEVER_INDEXED

    @property
    def dynamic_few(self) -> int:
        """The number of arcs out of a state up to which they are tried one by one."""
        return self.arcs_few if self.dynamic_index else NEVER_INDEXED
