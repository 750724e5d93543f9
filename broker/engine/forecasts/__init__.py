"""Forecasts at work: where predictive subscriptions are for each key, what is counted of it, and who is told.

The mathematics is broker.forecast's, what matches is decided elsewhere in the engine; here the two meet.

    settings    what a subscription asks for
    states      the chain's states and their order, for automata and for paths
    keys        whose events a forecast counts
    scope       the events of these keys, and which tracks they concern
    outlook     one subscription's forecasts; track: one key's place in its chain
    account     what became of what was foretold
    asking      the probability of one key, for whoever asks
    parts       what a large subscription is divided into; combination: where its parts are for each key;
                serial: chains one after the other as one; joint: what the parts' chains say together
    progress    where machines of composite subscriptions have got to
    pace        horizons in time
    judging     how good forecasts are at many horizons
    registry    all of them; snapshot, explanation
"""
