"""How good forecasts are over history: for every threshold and horizon, by subscription and context, in one pass.

measures    from histograms to precision, recall, lead, Brier score, log loss, reliability
task        what a worker does: events to histograms
evaluate    the two of them on Spark
"""
