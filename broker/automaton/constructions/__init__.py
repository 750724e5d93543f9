"""Constructions: what each operator of the algebra adds to an automaton (Cayuga 2.3, semantics 1.4); one for each file.

Here: functions from an operator and the fragments of its left input to fragments. Not here: the order in which they are
applied, resubscription (compilation).
"""
