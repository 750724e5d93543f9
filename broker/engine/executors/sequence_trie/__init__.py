"""The sequence trie: counts chains of contiguous words of all subscriptions together (P-ToPSS notes, 3).

Here: the trie, its counts, saving them. Not here: which subscriptions are words (automaton.analyses.sequences), the
symbols of an event (dispatch).
"""
