"""Matches of a batch: rows of numbers while events are matched; sources, parts, lines and columns when they are read.

Here: the rows, what a row has for each target, and its readers. Not here: finding matches (executors), the results of
a call (results).
"""
