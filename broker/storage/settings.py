"""The durability settings, as values, and the meaning of each choice.

always     an answer follows the sync of its records: a power loss loses nothing that was answered
interval   an answer follows the write, and a sync follows within the interval: a power loss loses at most that much
os         an answer follows the write, and the system decides when to sync

If only the broker is killed, and the machine keeps its power, nothing that was answered is lost in any mode.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, final, get_args

from ..events.errors import DefinitionError, shown
from . import framing
from .retention import Retention

Fsync: TypeAlias = Literal["always", "interval", "os"]
FSYNC: Final[tuple[Fsync, ...]] = get_args(Fsync)
Check: TypeAlias = Literal["all", "needed"]
CHECK: Final[tuple[Check, ...]] = get_args(Check)
"""Which records a start checks: all, or those that it replays."""
_LENGTH_MAX: Final = 2**32 - 1


@final
@dataclass(frozen=True, slots=True)
class Durability:
    """The settings of a journal. Raises DefinitionError."""

    fsync: Fsync = "always"

    interval: int = 50_000
    """Microseconds between syncs, with fsync = "interval"."""

    segment_bytes: int = 64 * 1024 * 1024
    """The size at which a segment is sealed and the next one begun; its last record may exceed it."""

    growth_bytes: int = 4 * 1024 * 1024
    """The step by which a segment's room on disk is allocated in advance."""

    record_bytes: int = 4 * 1024 * 1024
    """The largest payload of a record. Room for one more of this size is always allocated, or the journal is full."""

    retention: Retention = field(default_factory=Retention)

    check: Check = "all"

    def __post_init__(self) -> None:
        if self.fsync not in FSYNC:
            raise DefinitionError(f"fsync: expected one of {', '.join(FSYNC)}, found {shown(self.fsync)}")
        if self.check not in CHECK:
            raise DefinitionError(f"check: expected one of {', '.join(CHECK)}, found {shown(self.check)}")
        for name in ("interval", "segment_bytes", "growth_bytes", "record_bytes"):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= _LENGTH_MAX:
                raise DefinitionError(f"{name}: expected a whole number from 1 to {_LENGTH_MAX}, found {shown(value)}")

    @property
    def room(self) -> int:
        """The bytes that a segment must have left for another record and the seal."""
        return framing.RECORD_HEAD_BYTES + self.record_bytes + framing.SEAL_BYTES

    @property
    def first_room(self) -> int:
        """The bytes that a new segment allocates behind its head."""
        return max(self.growth_bytes, self.room)

    def label(self) -> str:
        """The mode as an answer states it: `always`, `os`, or the interval, as `interval 50000us`."""
        return f"interval {self.interval}us" if self.fsync == "interval" else self.fsync
