"""Chains of contiguous words, of all subscriptions that are such, counted together in one trie (P-ToPSS notes, 3).

Here: the trie, its counts, saving them. Not here: which subscriptions are words, what an event satisfies (composites).
"""
