"""The normal form of automata: what is asked alike runs alike, however it was written.

`table` has the rules and applies them until nothing changes; each rule is a file with its soundness; `facts` says what
holds for every run in a state, `known` what follows from atoms. Not here: how an automaton runs (engine).
"""
