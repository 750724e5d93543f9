"""Windows: starts as panes, equal futures as groups of panes, aggregates as differences between panes.

`tables` has what does not change, `cell` the starts of one partition, `measures` the aggregates that grow with
events, `stepping` the effect of an event, `longest` windows that wait for their end, `clock` windows of the clock,
`machine` the contract of executors.
"""
