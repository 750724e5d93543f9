"""Runs in cells by key: what recognises automata over epochs, merged over all subscriptions.

Runs that one event starts in sibling states are one object over a family of thresholds. Here: the merged program
(program), what needs no states of its own (bulk), runs in cells and what an event does to them (runs, cells). Not here:
where events find them (broker.engine.directory), families and boxes as columns (broker.engine.index).
"""
