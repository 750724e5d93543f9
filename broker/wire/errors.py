"""Law: what is wrong with a frame; one error for everything, since a frame is either a message or it is not."""

from __future__ import annotations

from typing import ClassVar, final

from ..events import ForetellError


@final
class WireError(ForetellError):
    """A frame is no message of this version, or a message fits no frame; the text says why.

    `correlation` is that of the request where the frame was readable so far, else 0.
    """

    code: ClassVar[str] = "protocol"

    def __init__(self, reason: str, correlation: int = 0) -> None:
        super().__init__(reason)
        self.correlation: int = correlation
