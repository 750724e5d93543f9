"""The reference executor: runs any automaton as its definition says, with one plain object for each run.

Here: an independent check of each language's executable meaning, and the executor of automata that no faster one can
run. Not here: optimisations, languages; the definition of automata (broker.automaton.automaton).
"""
