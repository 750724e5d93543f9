"""Streams whose events come late or are withdrawn: what is held back until it is final, and what is found before that.

An engine with such a stream passes all events through one buffer, which orders them, to the ordinary dispatcher. The
subscriptions that revise their results read their streams at once instead.

Here: when an event is final, the buffer, who reads what at once, and the results of both. Not here: partial matches
(executors), the effect of an event in order (dispatch).
"""
