"""Composite subscriptions in an engine: where each of them runs, what an event does there, and what it completes.

Here: lanes, their registry, snapshots and explanations. Not here: how tuples are counted (executors), the machines of
the paper (broker.automaton.machines).
"""
