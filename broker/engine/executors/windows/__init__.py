"""Windows: starts as panes, equal futures as groups of panes, aggregates as differences between panes.

    events    e1   e2   e3   e4   e5         sum up to here    5    7    12   13   20
    starts    |p1       |p2                  the window from p2 to e5 has 20 - 7

It keeps the starts that are open, in groups that are in the same state, and sums since the stream began. An event moves
groups, not windows, and costs the groups and the windows that end.

`tables` has what does not change, `cell` the starts of one partition, `pane_groups` their groups, `measures` the
aggregates that grow with events, `stepping` the effect of an event and which starts are given up beyond a limit,
`completing` windows that are reported as they end, `longest` those that wait for their end, `window_page` what is noted
of windows, `window_matches` their reading, `sliding` aggregates that no measure says, `machine` the contract of
executors, `reviser` that for events in any order, `progress` what forecasts ask.

Where the clock, the number of events or a gap decides alone, all partitions lie in one `pane_table`, and batches are
taken as a whole: `boundaries` says where panes begin and windows end, `pane_sums` has sums, `pane_matches` the reading,
`pane_machine` the contract of executors. Events stay in the batches that they came in (`batch_log`).

Subscriptions that differ in a constant are a family: `family_columns` has what an event says to whom, `family_cell`
rectangles of starts and members, `family_stepping` the effect of an event on them, `family_machine` the contract of
executors.
"""
