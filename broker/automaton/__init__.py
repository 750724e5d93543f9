"""Register automata, which recognise subscriptions.

Here: states and arcs, one construction for each operator, the merging of equal states of many automata, diagrams.
Not here: runs, events, indexes. Everything in this package is immutable except the registry of shared states, which
counts their users.
"""
