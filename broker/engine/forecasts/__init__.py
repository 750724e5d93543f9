"""Forecasts in the engine: the events that they count, and reports from runs and machines.

broker.forecast compiles a predictive subscription and computes its predictions; other parts of the engine find its
matches; this package connects the two.

registry                     all predictive subscriptions, and the model
subscription                 one of them: its forecaster's reports become notices
listening, progress          the keys that an event touches, and their progress, by runs or by a machine
snapshot                     which of them a snapshot has
"""
