"""A row of the table of messages: what every layer needs to know of a message beside its fields.

Here: the columns. Not here: rows (the files of messages by topic).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeAlias, final

from .shapes import FieldShape

ANSWERS: Final = 32
"""The first number of an answer; requests have smaller ones."""

UNASKED: Final = 64
"""The first number of an unsolicited message of the broker."""

WhenFull: TypeAlias = Literal["take", "wait", "refuse"]
"""What happens to a request while the journal has no room for another record.

`take`: it is carried out, because it writes no record. `wait`: it waits until there is room. `refuse`: it is refused as
busy."""


@final
@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message.

    `shapes`: those of the fields behind the correlation. `answer`: the answer to a successful request; None: the
    request is not answered. `at_once`: the request may be handled while a batch is in work, because it changes nothing
    that the batch depends on. `part`: the index of a field that holds records, and their class; on the wire each record
    is an array of its fields. `means`: the explanation in docs/protocol.md, in Markdown.
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
        """The names of the fields behind the correlation."""
        return [each.name for each in fields(self.message)][1:]

    @property
    def request(self) -> bool:
        """Whether it is a request: a client sends it."""
        return self.number < ANSWERS
