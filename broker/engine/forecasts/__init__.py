"""Forecasts at work: whose events they count, what runs and machines report to them, and what is asked of them.

What a predictive subscription is compiled to, and what comes next, is computed in broker.forecast; what matches is
decided elsewhere in the engine; here the two meet.

    registry                     all predictive subscriptions, and the model
    subscription                 one of them: its forecaster's reports become notices
    listening, progress          which keys an event touches, and how far these have got: by runs, or by a machine
    probability, explanation     what is asked
    snapshot                     saving
"""
