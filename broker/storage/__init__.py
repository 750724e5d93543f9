"""Durability: the journal, checkpoints and recovery; never a decision about what a message means.

`Store` is a broker's folder. All reaches the disk through `files.Files`; time and identity come in as parameters;
what is journalled are the values of `records`. docs/durability.md says what is promised.
"""

from __future__ import annotations

from .errors import Damaged, Occupied, StorageError, StorageFailed, StorageFull
from .files import Files, Folder
from .journal import Journal, Sync
from .records import Record
from .recovery import RecoverableState, Recovery
from .retention import Retention
from .settings import Durability
from .store import Store

__all__ = [
    "Damaged",
    "Durability",
    "Files",
    "Folder",
    "Journal",
    "Occupied",
    "Record",
    "Recovery",
    "Retention",
    "RecoverableState",
    "StorageError",
    "StorageFailed",
    "StorageFull",
    "Store",
    "Sync",
]
