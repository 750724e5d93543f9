"""SASE+ subscriptions in an engine: which machine each has, and the lanes that bring the machines events.

Here: lanes, their registry, snapshots and explanations. Not here: runs (executors.kleene).
"""
