"""Keyed runs: runs in cells by key, which recognise automata over epochs, merged over all subscriptions.

Runs that one event starts in sibling states are one object over a family of thresholds. Here: the merged program
(program), subscriptions without states of their own (bulk), runs in cells and the effect of an event on them (runs,
cells). Not here: finding what an event concerns (broker.engine.program.directory), families as columns
(broker.engine.index).
"""
