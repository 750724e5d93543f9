"""Says what a request would do: it is carried out in a forked copy of the broker, which then ends.

So the answer is that of the request itself: the same permissions, limits and refusals, the same runs and events. Only
the copy has changed; no record, line of a log or message leaves it. The loop pays for the fork, as for that of a
checkpoint. A batch in work is completed in the copy first.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from ..events import LimitExceeded, Unsupported
from ..kernel import Kernel, MakeResults, Received, Send
from ..wire import (
    VERSION,
    Administer,
    Busy,
    Failure,
    Hello,
    Message,
    Notifications,
    Subscribe,
    Subscribed,
    Unsubscribe,
    Update,
    decode,
    decode_result,
    encode,
)
from ..wire.limits import CREDITS_MAX
from . import forking
from .inside_clients import CALLED, INSIDE, Asked

REHEARSAL_SECONDS_MAX: Final = 10.0
"""How long one may take, on the clock."""
RESULTS_SHOWN: Final = 20
"""Results that are told one by one, the first ones."""
_MADE_MAX: Final = 200
"""How often results are made of what is too much at once."""
_COPY: Final = INSIDE + b"copy"
_FIRST: Final = 1_000_000_000
"""The correlation of the request, behind those of the session."""
_RETRY_MICROSECONDS: Final = 1_000_000
_NAMED: Final = (Administer, Subscribe, Unsubscribe, Update)


def begun(kernel: Kernel, key: bytes | None, identity: str, asked: Asked, now: int) -> forking.Forked:
    """Begin a rehearsal, in the loop. `key`: the session that would ask; None: a new one.

    Raises Unsupported, Busy, and WireError for what no message can carry.
    """
    if not forking.possible():
        raise Unsupported("a dry run needs a system that can fork a process")

    request = decode(encode(asked(_FIRST)))

    def work() -> Iterator[bytes]:
        gc.freeze()  # what the parent has is not visited
        gc.enable()
        yield json.dumps(rehearsed(kernel, key, identity, request, now)).encode()

    try:
        return forking.Forked(work, REHEARSAL_SECONDS_MAX, awaited=True)
    except OSError as error:
        raise Busy(f"no process for a dry run: {error.strerror or error}", _RETRY_MICROSECONDS) from None


def ended(copy: forking.Forked) -> dict[str, Any]:
    """Wait for what a rehearsal has found, in any thread. Raises LimitExceeded, Busy."""
    try:
        with copy.result() as file:
            found: dict[str, Any] = json.loads(file.readall())
    except forking.CopyLate:
        raise LimitExceeded(
            f"REHEARSAL_SECONDS_MAX: the dry run took longer than {REHEARSAL_SECONDS_MAX:.0f} s"
        ) from None
    except (forking.CopyFailed, OSError, ValueError):
        raise Busy("the dry run was not completed", _RETRY_MICROSECONDS) from None
    return found


# ---- within the copy ----


def rehearsed(kernel: Kernel, key: bytes | None, identity: str, request: Message, now: int) -> dict[str, Any]:
    """What the request does to this kernel, which it changes.

    `refused`: the fields of the refusal, or None; `answer`: those of the answer. `before` and `after`: the condition of
    the subscription that is named. `by_subscription`: the numbers of new results by the names that the user may see;
    `retractions`: how many of those that are told withdraw an earlier one; `first`: the first of these.
    """
    session = _COPY if key is None else key
    said: list[Send] = []

    def step(made: Message) -> Message | None:
        sends = kernel.step(Received(session, made, identity), now).sends
        said.extend(sends)
        own = (each.message for each in sends if each.session == session)
        return next((each for each in own if each.correlation == made.correlation), None)

    if key is None:
        welcome = step(Hello(1, VERSION, CALLED))
        if isinstance(welcome, Failure):
            return {"refused": told(welcome)}
    consulting, name = kernel.consulting, request.name if isinstance(request, _NAMED) else ""
    before, counted = consulting.condition(name), consulting.counted(identity)
    attached = 0
    if isinstance(request, Administer | Update):  # its results are told, if the user may have them
        attached += isinstance(step(Subscribe(_FIRST - 1, name, "", None, None, None, None, CREDITS_MAX)), Subscribed)
    said.clear()
    answer = step(request)
    for _ in range(_MADE_MAX):
        if not kernel.has_work():
            break
        said += kernel.step(MakeResults(), now).sends
    if answer is None or isinstance(answer, Failure):
        return {"refused": told(answer or Failure(_FIRST, "busy", "it takes longer than a dry run may"))}
    after = consulting.condition(name)
    if after is not None:
        after["clients"] -= attached
    notes = [each.message for each in said if each.session == session and isinstance(each.message, Notifications)]
    lines = [decode_result(result) for note in notes for result in note.results]
    return {
        "refused": None,
        "answer": told(answer),
        "before": before,
        "after": after,
        "by_subscription": {
            each: value - counted.get(each, 0)
            for each, value in consulting.counted(identity).items()
            if value > counted.get(each, 0)
        },
        "retractions": sum(line.get("kind") == "retraction" for line in lines),
        "first": lines[:RESULTS_SHOWN],
    }


def told(message: Message) -> dict[str, Any]:
    """The fields of an answer, without those that only the protocol needs."""
    return {name: value for name, value in asdict(message).items() if name != "correlation" and value is not None}
