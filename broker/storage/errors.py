"""The errors of storage. Each message names the file, and where it applies the place in it.

Four kinds, because each asks for something else: free the disk and go on; start the broker anew; restore a backup; stop
the other broker.
"""

from __future__ import annotations

from typing import ClassVar

from ..events.errors import ForetellError


class StorageError(ForetellError):
    """Something is wrong with the files of a journal, or with writing them."""

    code: ClassVar[str] = "storage"


class StorageFull(StorageError):
    """There is no room for another record. Nothing was changed; it may be tried again when there is room."""

    code = "storage-full"


class StorageFailed(StorageError):
    """Writing or syncing failed once, and nothing is written any more: what is on disk is only known after a restart.

    A system that reports a failed fsync may have dropped what it could not write, and report success the next time.
    """

    code = "storage-failed"


class Damaged(StorageError):
    """What was once durable is not what was written: a start is refused, and nothing is repaired by itself."""

    code = "damaged"


class Occupied(StorageError):
    """Another process works on this folder."""

    code = "occupied"
