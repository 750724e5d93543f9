"""Foretell as a data source of Spark: `spark.read.format("foretell")` and `spark.readStream.format("foretell")`.

`registration` registers it, `histories` reads prepared histories and journals, `notifications` follows a running broker
through a `spool`. Not here: the content of a history (spark_bridge.history), the protocol of a broker (client).
"""

from __future__ import annotations

from .histories import Journal, JournalReader
from .registration import register

__all__ = ["Journal", "JournalReader", "register"]
