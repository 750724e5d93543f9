"""What groups cost an event: the mechanisms of broker.engine.executors.groups alone, without the engine.

Here: those that the engine does not use yet, and `shapes`, which measures all; `queries` and `trial`, which measure the
engine with them and without (the question `shapes`).
"""
