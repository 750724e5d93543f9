"""Executors: ways to store partial matches, one folder each.

Here: machines, and the contract that they fulfil. Not here: choosing the events of a machine (dispatch), results. No
executor imports another.
"""
