"""Who gets which event: the loop over a batch, the static index's symbols, lanes, timers, registration, derived events.

Here: what all executors share around them. Not here: how partial matches are kept (executors), results.
"""
