"""Errors of a frame, and refusals that exist only between two ends."""

from __future__ import annotations

from typing import ClassVar, final

from ..events import ForetellError, LimitExceeded


@final
class WireError(ForetellError):
    """A frame is no message of this version, or a message fits no frame; the text says why.

    `correlation` is that of the request where the frame was readable so far, else 0.
    """

    code: ClassVar[str] = "protocol"

    def __init__(self, reason: str, correlation: int = 0) -> None:
        super().__init__(reason)
        self.correlation: int = correlation


@final
class PermissionDenied(ForetellError):
    """Who asked may not have this. Whether there is such a thing is not said."""

    code: ClassVar[str] = "permission"


@final
class Expired(ForetellError):
    """The request came after its deadline and was not begun: nothing was done. `clock`: the broker's then."""

    code: ClassVar[str] = "expired"

    def __init__(self, reason: str, clock: int = 0) -> None:
        super().__init__(reason)
        self.clock: int = clock


@final
class Busy(LimitExceeded):
    """Not now: nothing was done, and the same request may succeed after `retry` microseconds."""

    code: ClassVar[str] = "busy"

    def __init__(self, reason: str, retry: int = 0) -> None:
        super().__init__(reason)
        self.retry: int = retry
