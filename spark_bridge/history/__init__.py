"""History: events as tables. Their one form, how foreign tables are brought into it, and how it lies on disk.

`form` is the meaning of the columns, `prepared` reads a prepared history, `writing` makes its files; `preparing` has
Spark sort what `mapping`, `tables` and `texts` have read. Nothing here knows what is subscribed to.
"""

from __future__ import annotations
