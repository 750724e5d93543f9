"""SASE+ patterns at work: runs of patterns with Kleene parts and negations, and the matches they make (SASE+ 4, 5).

Here: machines, one a subscription, and their runs in several representations. Not here: the lanes that bring them
events (dispatch), what is known of an automaton (broker.automaton.analyses).
"""
