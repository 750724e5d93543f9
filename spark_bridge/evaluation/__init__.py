"""Evaluates forecasts over history: for every threshold and horizon, by subscription and context, in one pass.

measures    from histograms to precision, recall, lead, Brier score, log loss, reliability
task        from events to histograms, in a worker
evaluate    both on Spark
"""
