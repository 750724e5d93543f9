"""Questions to an engine that change nothing: its streams and subscriptions, explanations, counts, warnings.

Not here: questions about forecasts (forecasts).
"""
