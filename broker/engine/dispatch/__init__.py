"""Sends events to executors: the loop over a batch, symbols, lanes, timers, registration, derived events.

Here: what all executors share around them. Not here: how partial matches are stored (executors), results.
"""
