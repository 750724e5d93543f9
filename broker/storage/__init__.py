"""Durability: the journal, checkpoints and recovery; never a decision about what a message means.

It comes with a later release; until then this package is empty and the broker forgets everything when it stops.
"""
