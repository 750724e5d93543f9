"""Window automata: a prefix automaton whose output is a state of a body automaton, both deterministic.

`window_automaton` has their form, `drawing` shows them to people. Not here: their construction (constructions/windows).
"""
