"""What a durable subscriber asks a kernel, and what it is told, in few words."""

from __future__ import annotations

from typing import Any

from doubles.kernel_rig import ANN, Rig, subscribe

from broker.kernel import Send
from broker.kernel.cursors import first_incarnation
from broker.wire import Message, Notifications, Subscribed, decode_result

FIRST = first_incarnation(b"") + 1
"""The incarnation of the first cursor of a kernel without a secret."""


def durable(credits: int = 100, **options: Any) -> Message:
    return subscribe(credits=credits, durable="mine", **options)


def told(sends: list[Send]) -> list[tuple[int, str, bool]]:
    """Position, id (of a gap how many are missing) and whether it may have come before, of each notification."""
    found: list[tuple[int, str, bool]] = []
    for send in sends:
        if isinstance(send.message, Notifications):
            assert send.message.position is not None
            for at, result in enumerate(send.message.results, send.message.position):
                line = decode_result(result)
                said = line["id"] if line["kind"] == "match" else f"missed {line.get('missed')} {line['limit']}"
                found.append((at, said, send.message.redelivered))
    return found


def attached(rig: Rig, message: Message, session: bytes = ANN) -> tuple[int | None, list[tuple[int, str, bool]]]:
    """From which position on the reader of a cursor is told something, and what it is told at once."""
    answer, *rest = rig.say(session, message)
    assert isinstance(answer.message, Subscribed), answer
    return answer.message.position, told(rest)
