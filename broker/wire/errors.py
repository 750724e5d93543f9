"""Errors of a frame, and refusals that exist only between client and broker."""

from __future__ import annotations

from typing import ClassVar, final

from ..events import ForetellError, LimitExceeded


@final
class WireError(ForetellError):
    """A frame is not a message of this version, or a message does not fit a frame; the text says why.

    `correlation`: that of the request, if it was readable, otherwise 0.
    """

    code: ClassVar[str] = "protocol"

    def __init__(self, reason: str, correlation: int = 0) -> None:
        super().__init__(reason)
        self.correlation: int = correlation


@final
class PermissionDenied(ForetellError):
    """The user lacks the permission. The error does not reveal whether the requested thing exists."""

    code: ClassVar[str] = "permission"


@final
class Expired(ForetellError):
    """The request came after its deadline and had no effect. `clock`: the broker's time then, in microseconds."""

    code: ClassVar[str] = "expired"

    def __init__(self, reason: str, clock: int = 0) -> None:
        super().__init__(reason)
        self.clock: int = clock


@final
class Busy(LimitExceeded):
    """The request had no effect for now; the same request may succeed after `retry` microseconds."""

    code: ClassVar[str] = "busy"

    def __init__(self, reason: str, retry: int = 0) -> None:
        super().__init__(reason)
        self.retry: int = retry
