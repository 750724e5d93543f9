"""How a job is divided so that every worker's share gives what the broker would have given; nothing is executed here.

    cell          what one worker reads and owns
    properties    what a subscription allows
    scheme        dividing by key, by time, by subscription: who may, and why not
    choice        which of these for a job, and the cells that come of it
"""
