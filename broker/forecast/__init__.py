"""What comes next: counts, chain, first passage, contexts, calibration; never how a pattern is matched.

settings                the table `forecast` of a subscription
plan, states, parts     the compiled form of a predictive subscription's automata
subscription            its forecasts: steps, outcomes, the probability, when it is reported
model_form, model_page, models of many subscriptions at one key in columns; packing: from objects to these and back;
packed_outcomes         learning_observer: which of the two a subscription has
keyed_stream, key_state the events that are counted, by key, and where each key is; progress: how that is found
combination, joint      forecasts combined from those of a subscription's parts; series: chains one after the other
counts, versions        how often a chain went from one state to another; model_file: its file
chain, level            rows of probabilities, estimated once and drawn towards larger pools
passage, combining      the probability of a match within n steps, of one chain and of several
horizon, inter_arrival  horizons in time
contexts                circumstances that have counts of their own
forecaster              all chains of one version, by context; context_chain: one of them
notifying, pending      when a forecast is reported, and predictions without an outcome; columns: of numbers, that grow
verification, judging   the outcomes of forecasts, of one horizon and of many
calibration, isotonic,  how far the probabilities can be trusted, and how they are corrected
uncertainty
asking, explanation     answers to clients, and chains in lines and diagrams
learning, saving        models of many subscriptions, and judges; all of it as plain data
"""
