"""The sequence trie: counts chains of contiguous words of all subscriptions together (P-ToPSS notes, 3).

    a, b, c    start --a-- . --b-- . --c-- end of the first
    a, b, d                           --d-- end of the second

It keeps, for each term of the trie, how many ways lead to it that end with the last event. An event costs the terms
that its symbols continue, whatever the number of subscriptions. Here: the trie, its counts, saving them. Not here:
which subscriptions are words (automaton.analyses.sequences), the symbols of an event (dispatch).
"""
