"""Two builds beside each other: the loads, one trial, and the count of its instructions.

Not here: the command and its table (`benchmarks.compare`), targets, and what is known to be the right answer: a build
is compared with the first one only.
"""
