"""Any automaton, run as its definition says: one plain object a run, every run looks at every event.

Here: the second truth beside each language's executable meaning, and what runs an automaton for which nothing faster is
there. Not here: anything fast, any language; what automata are (broker.automaton.automaton).
"""
