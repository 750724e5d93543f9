"""Keeps the last notes under each name, for operators who look at a running broker: what was refused, what was changed.

Notes are in memory only and begin anew with the broker; no match depends on them. Not here: what is noted (kernel).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final, final

NOTES_OF_A_NAME_MAX: Final = 20
"""Notes under one name; the oldest goes."""
NOTED_NAMES_MAX: Final = 500
"""Names with notes; the one without a new note for longest goes, with all of its own."""
NOTE_CHARACTERS_MAX: Final = 2_000
"""Characters of a text in a note; the rest is cut."""


@final
class RecentNotes:
    """Notes by name: at most NOTES_OF_A_NAME_MAX * NOTED_NAMES_MAX of them, each with few and short texts."""

    __slots__ = ("_notes",)

    def __init__(self) -> None:
        self._notes: dict[str, deque[Mapping[str, Any]]] = {}

    def add(self, name: str, note: Mapping[str, Any]) -> None:
        """Add a note of plain values under a name. O(its texts)."""
        notes = self._notes.pop(name, None)
        if notes is None:
            notes = deque(maxlen=NOTES_OF_A_NAME_MAX)
            if len(self._notes) >= NOTED_NAMES_MAX:
                del self._notes[next(iter(self._notes))]
        self._notes[name] = notes
        notes.append({each: _cut(value) for each, value in note.items()})

    def of(self, name: str) -> list[Mapping[str, Any]]:
        """The notes under a name, the newest first."""
        return list(reversed(self._notes.get(name, ())))

    def count(self, name: str) -> int:
        """How many notes are under a name."""
        return len(self._notes.get(name, ()))

    def forget(self, name: str) -> None:
        """Forget the notes under a name."""
        self._notes.pop(name, None)

    def check_invariants(self) -> None:
        """For tests."""
        assert len(self._notes) <= NOTED_NAMES_MAX
        assert all(0 < len(notes) <= NOTES_OF_A_NAME_MAX for notes in self._notes.values())


def _cut(value: Any) -> Any:
    """A value, without the end of a long text."""
    if isinstance(value, str) and len(value) > NOTE_CHARACTERS_MAX:
        return value[: NOTE_CHARACTERS_MAX - 1] + "…"
    return value
