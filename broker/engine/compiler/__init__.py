"""The query compiler: from the text of a subscription to its form, compiled once for all texts of a shape.

Here: known shapes and forms, templates with marked literals, prepared queries. Not here: languages
(languages), the choice of an executor (planner), marks and their replacement (broker.language.marked_literals,
broker.algebra.marked_terms, broker.automaton.binding).
"""
