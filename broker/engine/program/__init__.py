"""The compiled program: what the dispatcher and the executors follow for each event.

Here: places, transitions, targets, the directory that finds them by value, and accounts of work. Not here: runs, names.
"""
