"""Window automata: a prefix automaton whose output is a state of a body automaton, both deterministic.

`window_automaton` is the result, `constructions/windows` makes it; `regular` has regular expressions and their
derivatives, `lengths` takes lengths out of them, `marked` has the automata of formulas, `classes` the classes of
events, `determinisation` the tables and their minimisation.
"""
