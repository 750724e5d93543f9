"""Keyed runs: runs in cells by key, which recognise automata over epochs, merged over all subscriptions.

Here: the merged program (program), runs in cells and the effect of an event on them (runs, cells), the same by columns
(column_runs). Not here: finding what an event concerns (broker.engine.program.directory).
"""
