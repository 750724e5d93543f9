"""SASE+ patterns: runs of patterns with Kleene parts and negations, and their matches (SASE+ 4, 5).

Here: machines, one for each subscription, and several representations of their runs. Not here: the lanes that pass them
events (dispatch), facts about an automaton (broker.automaton.analyses).
"""
