"""Foretell as a data source of Spark: `spark.read.format("foretell")` and `spark.readStream.format("foretell")`.

`registration` is the entrance, `histories` reads prepared histories and journals, `notifications` follows a running
broker by way of a `spool`. What is in a history is spark_bridge.history's; how a broker is spoken to is the client's.
"""

from __future__ import annotations

from .histories import Journal, JournalReader
from .registration import register

__all__ = ["Journal", "JournalReader", "register"]
