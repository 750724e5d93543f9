"""What comes next: counts of transitions and the probabilities drawn from them; never how a pattern is matched.

It comes with a later release; until then this package is empty.
"""
