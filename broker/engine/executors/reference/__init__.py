"""The reference executor: runs any automaton as its definition says; one plain object a run, every run sees every
event.

Here: an independent check of each language's executable meaning, and the executor of automata that no faster one can
run. Not here: optimisations, languages; the definition of automata (broker.automaton.automaton).
"""
