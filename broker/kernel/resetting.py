"""Law: how the newest time is set back, when a time of a stream was none; what begins anew for it is the engine's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..wire import ResetTime, TimeReset
from .matcher import Matcher, Result
from .permissions import User
from .records import Record
from .records import TimeReset as TimeResetRecord
from .taken import Taken


def reset_time(
    matcher: Matcher, taken: Taken, user: User, request: ResetTime, record: Callable[[Record], None]
) -> tuple[TimeReset, Sequence[Iterable[Result]]]:
    """Set it back to the newest of the other streams: the answer, and what was told by what begins anew.

    Whoever reads the stream loses what has begun, so this is an administrator's. Raises PermissionDenied,
    UnknownStream, having changed nothing.
    """
    user.check_admin(f"stream {request.stream!r}")
    newest = taken.newest_but(request.stream)
    results = matcher.reset_time(request.stream, None if newest is None else newest[0])
    taken.reset_time(request.stream)
    record(TimeResetRecord(request.stream, None if newest is None else newest[0]))
    return TimeReset(request.correlation, *(newest or (None, None))), results
