"""The indexes: find the guards, ranges and thresholds that an event satisfies, and the keys to look under.

Here: key spaces, columns and searches in them, arcs filed by their guards. Not here: the entries found (engine), runs.
"""
