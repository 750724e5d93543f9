"""A row of the table of messages: what all layers know of a message beside its fields.

Here: the columns. Not here: rows (the files of messages by topic).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeAlias, final

from .shapes import FieldShape

ANSWERS: Final = 32
"""The first number of an answer; requests have smaller ones."""

UNASKED: Final = 64
"""The first number of what the broker says unasked."""

WhenFull: TypeAlias = Literal["take", "wait", "refuse"]
"""What becomes of a request while there is no room for another record: it leaves none and is taken, or it waits until
there is room, or it is refused as busy."""


@final
@dataclass(frozen=True, slots=True)
class MessageRow:
    """`shapes`: of the fields behind the correlation. `answer`: what answers a request where nothing is wrong; None: it
    is not answered. `at_once`: it may be handled while a batch is in work, as it changes nothing that the batch depends
    on. `part`: the number of a field that holds values of our own, and their type; on the wire each of them is an array
    of its fields. `means`: for docs/protocol.md, in Markdown.
    """

    number: int
    message: type[Any]
    shapes: tuple[FieldShape, ...]
    answer: type[Any] | None = None
    at_once: bool = False
    when_full: WhenFull = "take"
    part: tuple[int, type[Any]] | None = None
    means: str = ""

    @property
    def names(self) -> list[str]:
        """Of the fields behind the correlation."""
        return [each.name for each in fields(self.message)][1:]

    @property
    def request(self) -> bool:
        """Whether a client says it."""
        return self.number < ANSWERS
