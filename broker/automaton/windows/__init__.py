"""Window automata: a prefix automaton whose output is a state of a body automaton, both deterministic.

`window_automaton` has their form, `overlap` says whether they share events, `drawing` shows them to people. Not here:
their construction (constructions/windows).
"""
