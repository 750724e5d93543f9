"""The audit log: who changed what, one JSON line each, in files that are rotated by size.

    {"time": "2026-11-26T01:02:03.000004Z", "user": "ann", "session": 7, "action": "update", "name": "rises",
     "outcome": "done", "details": {"inserted": 1, "deleted": 0}}

The lines of an input are written before its answer leaves, and reach the disk when the system writes them there; they
are not part of the journal. Not here: what is noted (kernel.auditing).
"""

from __future__ import annotations

import errno
import json
import logging
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, final

from ..events.instant import format_instant
from ..kernel import Access, Limits
from ..kernel.inputs_and_effects import Audit
from .logs import say

AUDIT_BYTES: Final = 10_000_000
AUDIT_FILES: Final = 10
MODE: Final = 0o600
LIMITS: Final = tuple([each.name for each in fields(Limits)])


@final
@dataclass(frozen=True, slots=True)
class AuditSettings:
    """`bytes`: of a file, after which the next one is begun; `files`: how many are kept, that in use among them."""

    path: Path
    bytes: int = AUDIT_BYTES
    files: int = AUDIT_FILES


@final
class AuditLog:
    """An audit log that is open. Raises OSError if it cannot be opened. Not thread-safe."""

    __slots__ = ("_file", "_settings", "_size", "lost")

    def __init__(self, settings: AuditSettings) -> None:
        self._settings: Final = settings
        self.lost = 0
        """Lines that could not be written."""
        self._file, self._size = open_audit(settings.path)

    def write(self, audits: Iterable[Audit], now: int) -> None:
        """Write lines. An error is logged, and costs these lines."""
        lines = [json.dumps(line_of(each, now), ensure_ascii=True) for each in audits]
        if not lines:
            return
        data = ("\n".join(lines) + "\n").encode()
        try:
            if self._size and self._size + len(data) > self._settings.bytes:
                self._rotate()
            _write(self._file, data)
            self._size += len(data)
        except OSError as error:
            self.lost += len(lines)
            say(logging.ERROR, "audit lines lost", lines=len(lines), reason=error.strerror or str(error))

    def _rotate(self) -> None:
        """Begin the next file: PATH.1 is the newest of those before."""
        path = self._settings.path
        if self._settings.files == 1:
            os.ftruncate(self._file, 0)
            self._size = 0
            return
        for number in range(self._settings.files - 2, 0, -1):
            older = _numbered(path, number)
            if older.exists():
                older.replace(_numbered(path, number + 1))
        path.replace(_numbered(path, 1))
        before, (self._file, self._size) = self._file, open_audit(path)
        os.close(before)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def line_of(audit: Audit, now: int) -> dict[str, Any]:
    """The line of a change, without the fields that do not apply."""
    found: dict[str, Any] = {"time": format_instant(now), "user": audit.user or None, "session": audit.session or None}
    found |= {"action": audit.action, "name": audit.name, "outcome": audit.outcome}
    if audit.code is not None:
        found["code"] = audit.code
    return {**found, "details": dict(audit.details)} if audit.details else found


def reconfigured(before: tuple[Limits, Access], after: tuple[Limits, Access]) -> Audit:
    """A configuration that was read again: the names of users and limits that differ."""
    old, new = _by_name(before[1]), _by_name(after[1])
    changed = {
        "users added": sorted(new.keys() - old.keys()),
        "users removed": sorted(old.keys() - new.keys()),
        "users changed": sorted(name for name in old.keys() & new.keys() if old[name] != new[name]),
        "limits": [
            each.name for each in fields(Limits) if getattr(before[0], each.name) != getattr(after[0], each.name)
        ],
    }
    return Audit("", 0, "reload", "configuration", {name: each for name, each in changed.items() if each}, "done")


def _by_name(access: Access) -> Mapping[str, set[tuple[str, Any]]]:
    found: dict[str, set[tuple[str, Any]]] = {}
    for key, user in access.users.items():
        found.setdefault(user.name, set()).add((key, repr(user)))
    return found


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def open_audit(path: Path) -> tuple[int, int]:
    """The file or character device, created if it is missing, and its size. It does not wait for who would read a
    named pipe. Raises OSError, also for anything else."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, MODE)
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISCHR(found.st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "expected a file, found something else")
    return file, found.st_size


def _write(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]
