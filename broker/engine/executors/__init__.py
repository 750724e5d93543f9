"""Ways of keeping partial matches, a folder each: tuple counts, the sequence trie, Kleene runs.

Here: machines, and the one contract that they fulfil. Not here: who gets which event (dispatch), results. No executor
imports another.
"""
