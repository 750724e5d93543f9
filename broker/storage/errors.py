"""The errors of storage. Each message names the file, and the offset in it where there is one.

There are four kinds, because each has another remedy: free disk space and continue; restart the broker; restore a
backup; stop the other broker.
"""

from __future__ import annotations

from typing import ClassVar

from ..events.errors import ForetellError


class StorageError(ForetellError):
    """An error in the files of a journal, or in writing them."""

    code: ClassVar[str] = "storage"


class StorageFull(StorageError):
    """There is no room for another record. Nothing was changed; try again when there is room."""

    code = "storage-full"


class StorageFailed(StorageError):
    """Writing or syncing failed, and nothing is written any more: only a restart shows what is on disk.

    After a failed fsync the system may have dropped the data that it could not write, and the next fsync may succeed.
    """

    code = "storage-failed"


class Damaged(StorageError):
    """Durable data differs from what was written. The broker does not start, and repairs nothing by itself."""

    code = "damaged"


class Occupied(StorageError):
    """Another process works on this folder."""

    code = "occupied"
