"""Recovers a state: restores the newest readable checkpoint and replays every record behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, final

from ..kernel.records import Record
from . import checkpoint as checkpoints_of
from .checkpoint import KEPT, Checkpoint, checkpoints
from .errors import Damaged
from .files import Files
from .records import decode
from .scanning import JournalEntry
from .segments import Survey


class RecoverableState(Protocol):
    """The state whose history is the journal. A new instance is the state before the first record."""

    def restore(self, body: bytes) -> None:
        """Replace the state by the one that `save` described. Raises ForetellErrors."""

    def replay(self, position: int, time: int, record: Record) -> None:
        """Apply a record again, and drop the messages that it would send."""

    def save(self) -> bytes:
        """The state as bytes that `restore` takes."""

    def digest(self) -> bytes:
        """32 bytes, equal for states with the same future, and the same before saving and after restoring."""


@final
@dataclass(frozen=True, slots=True)
class Recovery:
    """The outcome of a recovery, for the operator.

    `checkpoint`: the position of the checkpoint used, 0 if there was none. `torn`: how many bytes of the journal were
    cut off. `aside`: the reason for each checkpoint that was put aside, a line each.
    """

    checkpoint: int
    position: int
    replayed: int
    torn: int
    aside: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The lines to print at the start."""
        yield from self.aside
        if self.torn:
            yield f"cut off {self.torn:,} bytes that were being written when the broker ended"
        yield f"recovered to position {self.position:,}: checkpoint {self.checkpoint:,} and {self.replayed:,} records"


def recover(files: Files, found: Survey | None, state: RecoverableState) -> Recovery:
    """Bring a new state to the end of the journal that a survey has `found`. Changes no file. O(checkpoint + records
    behind it).

    Raises Damaged if that is impossible: no checkpoint from which the kept records continue, a journal that ends before
    a checkpoint, a checkpoint of another journal, or a restored state with a wrong digest.
    """
    if found is None:
        return Recovery(0, 0, 0, 0, ())
    newest, aside = _newest(files, found)
    after = 0
    if newest is not None:
        after = newest.position
        state.restore(newest.body)
        check_digest(newest, state)
    if after + 1 < found.first:
        raise Damaged(f"expected a checkpoint at position {found.first - 1} or later, found none: {'; '.join(aside)}")
    replayed = 0
    for entry in found.read(files, after):
        replay(state, entry)
        replayed += 1
    return Recovery(after, found.position, replayed, found.end.torn, tuple(aside))


def replay(state: RecoverableState, entry: JournalEntry) -> None:
    """Apply an entry to the state. Raises Damaged for a record that this version does not know."""
    try:
        record = decode(entry.kind, entry.payload)
    except Damaged as error:
        raise Damaged(f"record {entry.position}: {error}") from None
    state.replay(entry.position, entry.time, record)


def check_digest(checkpoint: Checkpoint, state: RecoverableState) -> None:
    """Raise Damaged if the restored state has another digest than the checkpoint."""
    found = state.digest()
    if found != checkpoint.digest:
        raise Damaged(
            f"{checkpoints_of.checkpoint_name(checkpoint.position)}: the restored state has another digest than the "
            "saved one; this version of the program may interpret it in another way"
        )


def compare(
    files: Files, read: Callable[[int, int], Iterator[JournalEntry]], make: Callable[[], RecoverableState]
) -> tuple[int, int]:
    """Replay from the older checkpoint to the newer one and compare the states; their positions. Changes no file.

    `read(after, until)` returns records. Raises Damaged if the states differ or a checkpoint cannot be read.
    """
    found = [_whole(files, name) for _, name in checkpoints(files)]
    if len(found) < KEPT:
        raise Damaged(f"expected {KEPT} checkpoints to compare, found {len(found)}")
    newer, older = found[:KEPT]
    state = make()
    state.restore(older.body)
    check_digest(older, state)
    for entry in read(older.position, newer.position):
        replay(state, entry)
    check_digest(newer, state)
    return older.position, newer.position


def _whole(files: Files, name: str) -> Checkpoint:
    found = checkpoints_of.read(files, name)
    if isinstance(found, str):
        raise Damaged(found)
    return found


def _newest(files: Files, journal: Survey) -> tuple[Checkpoint | None, list[str]]:
    """The newest readable checkpoint, and the errors of newer ones.

    Raises OSError if a checkpoint's name is that of a folder, which could not be removed or replaced later.
    """
    aside: list[str] = []
    there = checkpoints(files)
    for _, name in there:
        files.read(name, 0, 1)
    for position, name in there:
        if position > journal.position:
            raise Damaged(
                f"{name}: the journal ends at position {journal.position}, before this checkpoint: records are missing"
            )
        found = checkpoints_of.read(files, name)
        if isinstance(found, Checkpoint):
            if found.identity != journal.identity:
                raise Damaged(f"{name}: expected a checkpoint of this journal, found one of another")
            return found, aside
        aside.append(found)
    return None, aside
