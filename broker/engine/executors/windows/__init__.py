"""Windows: starts as panes, equal futures as groups of panes, aggregates as differences between panes.

`tables` has what does not change, `cell` the starts of one partition, `pane_groups` their groups, `measures` the
aggregates that grow with events, `stepping` the effect of an event, `completing` windows that are reported as they end,
`longest` those that wait for their end, `clock` windows of the clock, `window_page` what is noted of windows,
`window_matches` their reading, `machine` the contract of executors.
"""
