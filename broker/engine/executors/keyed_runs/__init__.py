"""Runs in cells by key: what recognises automata over epochs, merged over all subscriptions.

Runs that one event starts in sibling states are one object over a family of thresholds. Here: cells, runs, families,
boxes, and what an event does to them. Not here: where events find them (broker.engine.directory), the merged program.
"""
