"""What results lack: one line a subscription on standard error, and an exit status of its own.

A result of the kind `incomplete` is one line among many, which a program that counts matches may pass over. Here: who
told so, and when first. Not here: why a limit was hit (docs/limits.md).
"""

from __future__ import annotations

from typing import Any, Final, TextIO, final

from ..events import format_instant
from .complaint import escaped

INCOMPLETE: Final = 3
"""The exit status of a command whose results may lack some."""


@final
class Incompleteness:
    """The results of the kind `incomplete`, by subscription: the first, and their number. O(subscriptions)."""

    def __init__(self) -> None:
        self._first: dict[str, dict[str, Any]] = {}
        self._numbers: dict[str, int] = {}
        self._suspended: dict[str, dict[str, Any]] = {}

    def note(self, line: dict[str, Any]) -> None:
        """Take a result as it is written."""
        if line.get("kind") != "incomplete":
            return
        name = str(line.get("subscription", ""))
        self._first.setdefault(name, line)
        self._numbers[name] = self._numbers.get(name, 0) + 1
        if line.get("suspended"):
            self._suspended.setdefault(name, line)

    def tell(self, output: TextIO) -> int:
        """Write a line for each subscription whose results may lack some; returns the exit status."""
        for name, first in self._first.items():
            end = self._suspended.get(name)
            told = f"subscription {escaped(name)!r}: results may lack some from {format_instant(first['since'])} on"
            number = self._numbers[name]
            told += f" ({first['limit']}), told {'once' if number == 1 else f'{number} times'}"
            if end is not None:
                told += f"; suspended, without any results, since {format_instant(end['since'])} ({end['limit']})"
            print(f"foretell: {told}", file=output)
        return INCOMPLETE if self._first else 0
