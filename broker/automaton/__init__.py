"""How a subscription is recognised: register automata.

Here: states and arcs, one construction an operator, the merging of equal states of many automata, diagrams.
Not here: runs, events, indexes - nothing in this package moves. Everything in it is immutable but the registry of
shared states, which says who still needs which.
"""
