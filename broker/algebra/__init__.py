"""The meaning of subscriptions: typed terms, operators, lowering and executable semantics.

Here: typed terms; the typed forms (`operators`, `composite`, `kleene`); predicates in canonical form; and one folder
for each language, with its lowering from syntax to one of these forms and its executable semantics (`semantics`), the
reference for every test. Not here: states, arcs, runs and indexes. Nothing in this package knows that automata find the
matches.
"""
