"""The durability settings, as values, and what each choice means.

always     an answer follows the sync of what it answers: nothing that was answered is lost with the power
interval   an answer follows the write; what was written is synced this often: so much may be lost with the power
os         an answer follows the write; the system syncs when it likes

A broker that is killed, rather than a machine that loses its power, loses nothing that was answered in any of them.
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
"""At the start: every record that is kept, or those that are replayed."""
_LENGTH_MAX: Final = 2**32 - 1


@final
@dataclass(frozen=True, slots=True)
class Durability:
    """Raises DefinitionError."""

    fsync: Fsync = "always"

    interval: int = 50_000
    """Microseconds between syncs, with fsync = "interval"."""

    segment_bytes: int = 64 * 1024 * 1024
    """From this size on a segment is sealed and the next one begun; a record may exceed it."""

    growth_bytes: int = 4 * 1024 * 1024
    """A segment's room on disk grows by so much at a time, before it is needed."""

    record_bytes: int = 4 * 1024 * 1024
    """The largest payload of a record. There is always room for one more of these, or the journal says it is full."""

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
        """Bytes that a segment must have left for another record and the seal."""
        return framing.RECORD_HEAD_BYTES + self.record_bytes + framing.SEAL_BYTES

    def label(self) -> str:
        """The mode as an answer states it: `always`, `os`, or the interval, as `interval 50000us`."""
        return f"interval {self.interval}us" if self.fsync == "interval" else self.fsync
