"""The meaning of subscriptions: typed terms, operators, lowering and executable semantics.

Here: typed terms, the typed forms `operators` and `composite`, predicates in canonical form, and a folder a language
with its lowering from syntax to one of these forms or one of its own, and its executable meaning (`semantics`), from
which every test takes the truth. Not here: states, arcs, runs, indexes - nothing in this package knows that an
automaton will recognise the pattern.
"""
