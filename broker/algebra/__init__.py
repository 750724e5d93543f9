"""What a subscription means.

Here: typed terms, the operators of the algebra, predicates in canonical form, the lowering of each language's
syntax to operators, and the executable meaning of all of it (`semantics`), from which every test takes the truth.
Not here: states, arcs, runs, indexes - nothing in this package knows that an automaton will recognise the pattern.
"""
