"""Durability: the journal, checkpoints and recovery. Not here: what the records mean (broker.kernel).

`Store` is a broker's folder. All disk access goes through `files.Files`; time and identity are parameters. The journal
holds the values of broker.kernel.records. docs/durability.md describes what is promised.
"""

from __future__ import annotations

from .errors import Damaged, Occupied, StorageError, StorageFailed, StorageFull
from .files import Folder
from .journal import Journal, Sync
from .recovery import Recovery
from .retention import Retention
from .settings import Durability
from .store import Store

__all__ = [
    "Damaged",
    "Durability",
    "Folder",
    "Journal",
    "Occupied",
    "Recovery",
    "Retention",
    "StorageError",
    "StorageFailed",
    "StorageFull",
    "Store",
    "Sync",
]
