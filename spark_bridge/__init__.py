"""Everything that needs Spark, and nothing of the broker's kernel, storage or server: history in, models out.

It comes with a later release; until then this package is empty.
"""
