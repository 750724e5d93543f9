"""Reads and checks every file of a broker's folder. It changes nothing and needs no lock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from . import checkpoint as checkpoints_of
from .checkpoint import Checkpoint, checkpoints
from .errors import Damaged
from .files import Files
from .mark import MARK, read_mark
from .scanning import head_of
from .segments import end_of, segment_names, survey


@final
@dataclass(frozen=True, slots=True)
class FileFinding:
    """A finding about one file, in one line. `damage`: a broker would not start, or has lost data."""

    name: str
    text: str
    damage: bool

    def line(self) -> str:
        return f"{self.name}: {self.text}"


def examine(files: Files) -> Iterator[FileFinding]:
    """A finding for each segment and checkpoint, then findings about how they fit together. O(bytes).

    While a broker works in the folder, the last record may be half-written, and is reported as torn.
    """
    damage = False
    for finding in (*_segments(files), *_mark(files), *_checkpoints(files)):
        damage = damage or finding.damage
        yield finding
    if not damage:
        yield from _together(files)


def _segments(files: Files) -> Iterator[FileFinding]:
    for name in segment_names(files):
        try:
            head = head_of(files, name)
            end = end_of(files, name, head)
        except Damaged as error:
            yield FileFinding(name, str(error).removeprefix(f"{name}: "), True)
            continue
        except FileNotFoundError:
            continue  # a broker at work has just removed it
        count = end.content.count
        records = f"records {head.first} to {end.position}" if count else f"no records, the next is {head.first}"
        ending = "sealed" if end.sealed else f"open, {end.torn} bytes torn" if end.torn else "open"
        yield FileFinding(name, f"{records}, {ending}", False)


def _mark(files: Files) -> Iterator[FileFinding]:
    try:
        mark = read_mark(files)
    except Damaged as error:
        yield FileFinding(MARK, str(error).removeprefix(f"{MARK}: "), True)
        return
    if mark is not None:
        begun = f"record {mark.position} was durable, a segment begins at record {mark.segment}"
        torn = f"{mark.torn} slots torn" if mark.torn else ""
        yield FileFinding(MARK, ", ".join(filter(None, ("" if mark.identity is None else begun, torn))), False)


def _checkpoints(files: Files) -> Iterator[FileFinding]:
    for _, name in sorted(checkpoints(files)):
        try:
            found = checkpoints_of.read(files, name)
        except FileNotFoundError:
            continue
        except Damaged as error:
            found = str(error)
        if isinstance(found, str):
            yield FileFinding(name, found.removeprefix(f"{name}: "), True)
        else:
            yield FileFinding(name, f"state after record {found.position}, {len(found.body)} bytes", False)


def _together(files: Files) -> Iterator[FileFinding]:
    """Findings for which a start would be refused although each file is sound."""
    there = checkpoints(files)
    try:
        found = survey(files)
    except Damaged as error:
        name, _, text = str(error).partition(": ")
        yield FileFinding(name, text, True)
        return
    if found is None:
        if there:
            yield FileFinding(there[0][1], "expected the journal of this checkpoint beside it, found none", True)
        return
    reaching = 0
    for position, name in there:
        checkpoint = checkpoints_of.read(files, name)
        if position > found.position:
            yield FileFinding(name, f"the journal ends at position {found.position}: records are missing", True)
        elif isinstance(checkpoint, Checkpoint) and checkpoint.identity != found.identity:
            yield FileFinding(name, "expected a checkpoint of this journal, found one of another", True)
        reaching = max(reaching, position)
    if reaching + 1 < found.first:
        yield FileFinding(found.last, f"records 1 to {found.first - 1} are gone, and no checkpoint holds them", True)
