"""History: events as tables in one form, the conversion of foreign tables into it, and its files.

`form` defines the columns, `prepared` reads a prepared history, `writing` makes its files; `preparing` has Spark sort
what `mapping`, `tables` and `texts` have read. Not here: subscriptions.
"""

from __future__ import annotations
