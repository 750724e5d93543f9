"""The indexes: which of many guards, ranges and thresholds an event satisfies, and under which keys to look.

Here: key spaces, columns and searches in them, arcs filed by their guards. Not here: what is found (engine), runs.
"""
