"""What comes next: counts of transitions and the probabilities drawn from them; never how a pattern is matched.

    counts, model_file      how often a chain went from one state to another, and its file
    chain, level            rows of probabilities, estimated once and drawn towards larger pools
    passage, waiting        the probability of a match within n steps, and the mean number of steps to it
    combining, horizon      several machines; horizons in time
    contexts, choice,       under which circumstances is counted apart, and whether that pays
    trials
    varying, moves,         values of a context that change with the events: the chain over states and marks
    product
    forecaster, place       all of these for one subscription, and for one context
    notifying, pending      who is told when, and what became of it
    calibration, isotonic,  how far the probabilities can be trusted, corrected, and when the world has changed
    drift, uncertainty
"""
