"""`foretell dead-letters`: prints, discards or requeues the dead letters of a durable subscription, as JSON lines."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ..events import DefinitionError
from .connection import DEFAULT_BROKER, BrokerOption, connect
from .known_names import cursor_names
from .results import json_line


def dead_letters(
    cursor: Annotated[
        str,
        typer.Argument(
            metavar="CURSOR", help="The name of the cursor.", show_default=False, autocompletion=cursor_names
        ),
    ],
    discard: Annotated[bool, typer.Option("--discard", help="Remove the printed results.")] = False,
    requeue: Annotated[bool, typer.Option("--requeue", help="Deliver the printed results again.")] = False,
    position: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the result with this position.")
    ] = None,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Print the dead letters of a durable subscription; discard them, or deliver them again."""
    if discard and requeue:
        raise DefinitionError("expected --discard or --requeue, found both")
    with connect(broker) as client:
        found = [each for each in client.dead_letters(cursor) if position in (None, each.position)]
        if position is not None and not found:
            raise DefinitionError(f"cursor {cursor!r}: position {position} is not a dead letter")
        for letter in found:
            said = {"position": letter.position, "reason": letter.reason, "time": letter.time}
            result = letter.notification.line()
            sys.stdout.write(json_line({**said, "deliveries": letter.deliveries, "result": result}))
        sys.stdout.flush()  # a letter is removed only after it was printed
        settle = client.requeue if requeue else client.discard
        if discard or requeue:
            settle(cursor, *(letter.position for letter in found))
