"""A folder with the notifications that were received from the broker and not yet committed by Spark.

    lines-00000000000000000042.jsonl   the lines from number 42 on, one for each notification
    lock                               held by the process that writes here

Lines are numbered from 1 on, and the numbers are Spark's offsets. A line is durable before Spark gets its number, and
is removed after Spark has committed a later one. So a query that is restarted, with its checkpoint and this folder,
gets its uncommitted notifications again: each at least once.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, final

from broker.events import DefinitionError

_NAME: Final = re.compile(r"lines-([0-9]{20})\.jsonl")
_LOCK: Final = "lock"


@final
class Spool:
    """The folder of one query, locked by one process at a time. Raises DefinitionError and OSError."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise DefinitionError(f"{folder}: expected a spool of one query, found another query at it") from None
        for left in self._folder.glob("*.new"):
            left.unlink()
        self._first: dict[Path, int] = {}
        self.last = 0
        """The number of the newest line; 0 before the first."""
        self._read_names()

    def _read_names(self) -> None:
        for file in sorted(self._folder.iterdir()):
            named = _NAME.fullmatch(file.name)
            if named is not None:
                self._first[file] = int(named.group(1))
                self.last = max(self.last, self._first[file] - 1 + len(_lines(file)))

    @property
    def begun(self) -> int:
        """The number before the oldest line."""
        return min(self._first.values()) - 1 if self._first else self.last

    def begin_after(self, number: int) -> None:
        """Number lines from behind this number on, which an earlier query has reached. Raises DefinitionError."""
        self.last = max(self.last, number)

    def add(self, lines: Sequence[str]) -> int:
        """Store lines durably; the number of the last. Lines must not contain line breaks."""
        if lines:
            file = self._folder / f"lines-{self.last + 1:020}.jsonl"
            new = file.with_suffix(".new")
            with open(new, "w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(f"{line}\n" for line in lines)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(new, file)
            self._sync()
            self._first[file] = self.last + 1
            self.last += len(lines)
        return self.last

    def between(self, after: int, until: int) -> list[str]:
        """The lines behind one number, up to and including another. Raises DefinitionError if one is missing."""
        found: list[str] = []
        for file, first in self._first.items():
            lines = _lines(file) if first <= until else []
            found += lines[max(after + 1 - first, 0) : max(until + 1 - first, 0)]
        if len(found) != until - after:
            raise DefinitionError(
                f"{self._folder}: expected the notifications {after + 1} to {until}, which Spark has not committed, "
                f"found {len(found)} of them: the spool does not belong to the checkpoint"
            )
        return found

    def forget(self, until: int) -> None:
        """Remove files whose lines are all committed, except the newest, whose name keeps the number."""
        files = list(self._first.items())
        for (file, _), (_, following) in pairwise(files):
            if following > until + 1:
                break
            file.unlink(missing_ok=True)
            del self._first[file]

    def close(self) -> None:
        """Unlock the folder."""
        os.close(self._lock)

    def _sync(self) -> None:
        handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").split("\n")[:-1]
