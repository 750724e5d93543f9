"""`foretell tail`: prints the last events of a stream, and with --follow those that come.

Events that come are the results of a subscription of the stream itself, so that none is left out, however fast they
come. Each connection has its own, under one name; between two of them the last events of the broker fill the gap.

Not here: the events that a broker keeps (kernel/recent_events.py).
"""

from __future__ import annotations

import secrets
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer

from ..events import DefinitionError, UnknownStream
from ..language.names import DEFAULT_LANGUAGE
from .connection import DEFAULT_BROKER, BrokerOption, connect
from .known_names import StreamNameArgument
from .results import json_line

if TYPE_CHECKING:
    from client import Client, Notification

KEPT: Final = 20
"""Events of a stream that a broker keeps, at most."""

SILENCE_SECONDS: Final = 1.0
"""After so long without an event the broker is asked for a sign of life."""

RETRY_SECONDS: Final = 0.5


def tail(
    stream: StreamNameArgument,
    count: Annotated[int, typer.Option(metavar="N", min=1, help="How many events; 20 are kept.")] = 10,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with events as they come, until Ctrl-C.")
    ] = False,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --follow: the name of the subscription that it uses.")
    ] = None,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Print the last events of a stream, the oldest first, as lines that `publish` and `run` read."""
    if name is not None and not follow:
        raise DefinitionError("expected --name with --follow only")
    printed = _Printed(stream)
    if not follow:
        with connect(broker) as client:
            printed.last(client, count)
        return
    name = name or f"tail-{stream[:100]}-{secrets.token_hex(4)}"
    with connect(broker) as client:
        _follow(client, name, printed, count)
    while True:
        print(f"lost the broker at {broker}, waiting for it", file=sys.stderr, flush=True)
        _wait_for(broker, name, printed)


def _wait_for(broker: str, name: str, printed: _Printed) -> None:
    """Go on as soon as a broker is there that knows the stream, until it is lost. Raises ForetellErrors of others."""
    from client import Busy, ConnectionLost, RequestTimeout

    while True:
        try:
            with connect(broker) as client:
                _follow(client, name, printed, KEPT)
                return
        except (Busy, ConnectionLost, RequestTimeout, UnknownStream):
            time.sleep(RETRY_SECONDS)


def _follow(client: Client, name: str, printed: _Printed, count: int) -> None:
    """Print events until the broker is lost. Raises ForetellErrors of a broker that refuses to tell them."""
    from client import ConnectionLost, RequestTimeout

    subscription = client.subscribe(name, DEFAULT_LANGUAGE, printed.stream, lineage=True)
    printed.last(client, count)
    print(f"following {printed.stream}", file=sys.stderr, flush=True)  # a script that publishes next waits for this
    try:
        while True:
            notification = subscription.next(SILENCE_SECONDS)
            if notification is None:
                client.ping()
            else:
                printed.tell(notification)
    except (ConnectionLost, RequestTimeout):
        return


@final
class _Printed:
    """The lines printed so far. `_newest`: ids and times of the last ones; `_ahead`: of those that the broker had kept,
    which may come as results, too."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        self._newest: deque[tuple[int, int]] = deque(maxlen=KEPT)
        self._ahead: set[tuple[int, int]] = set()

    def last(self, client: Client, count: int) -> None:
        """Print the last events that were not printed yet."""
        self._ahead.clear()
        for each in client.last_events(self.stream, count):
            key = int(each.id), each.time
            if key not in self._newest:
                self._ahead.add(key)
                self._print(key, each.data)

    def tell(self, notification: Notification) -> None:
        """Print the event of a result, or say how many events there are no results of."""
        if notification.kind == "match" and notification.lineage and notification.end is not None:
            key = notification.lineage[0], notification.end
            if key in self._ahead:
                self._ahead.remove(key)
            else:
                self._print(key, notification.data)
        elif notification.kind == "incomplete":
            missed = "some" if notification.missed is None else f"{notification.missed:,}"
            print(f"missed {missed} events of {self.stream}", file=sys.stderr, flush=True)

    def _print(self, key: tuple[int, int], data: Any) -> None:
        self._newest.append(key)
        number, moment = key
        sys.stdout.write(json_line({"stream": self.stream, "time": moment, "id": number, "data": data}))
        sys.stdout.flush()
