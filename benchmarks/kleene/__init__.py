"""What SASE+ costs, measured: queries, plain truths, a naive rival, one process. What is asked is in questions.

Nothing here knows how the engine keeps runs: it goes through `Engine` and `Options` only.
"""
