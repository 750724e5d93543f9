"""Divides a job so that the workers together give the broker's results. Not here: execution.

    cell          what one worker reads and owns
    properties    what a subscription allows
    scheme        dividing by key, by time, by subscription
    choice        the scheme for a job, and its cells
"""
