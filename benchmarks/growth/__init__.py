"""Growth: what an event costs, in time and memory, by the number of events, of keys, and by the size of a window.

One file a kind of pattern or of state. Each asks at several sizes, in a fresh process each, and shows whether the cost
of an event stays flat; each is a command, `python -m benchmarks.growth.NAME`, that prints a table. Not here: what a
fixed load costs (the questions of `python -m benchmarks`), and whether one build is slower than another (`compare`).
"""
