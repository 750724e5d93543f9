"""The meaning of subscriptions: typed terms, operators, lowering and executable semantics.

Here: typed terms; the operators of the algebra; predicates in canonical form; and one folder for each language, with
its typed form, its lowering from syntax to that form and its executable semantics (`semantics`), the reference for
every test. Not here: states, arcs, runs and indexes. Nothing in this package knows that automata find the matches.
"""
