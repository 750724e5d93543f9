"""How good forecasts are, on data that nobody made for it, and on the P-ToPSS paper's own; no clock is read here.

walks           real or made events as what a chain sees: for each event of a run, the state and the context
through_engine  ours: an engine that is fed with the walk, and asked
live            forecasts along a walk, and those of models that no longer learn
scores          how good they were: discrimination, losses, calibration, by blocks that are drawn again
notices         who would have been told: true and false notices by threshold and lookahead
temperatures, flights, stocks     the walks of three data sets
bands, logistic the models that ours are measured against
synthetic       the paper's generator, trained and tested on different streams
"""
