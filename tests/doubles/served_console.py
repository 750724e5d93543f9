"""A console that listens and serves a broker that there is, in one block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from broker.server import Broker
from broker.server.console import ConsoleSettings, console


@contextmanager
def served(broker: Broker, address: str, pages: ConsoleSettings | None = None) -> Iterator[str]:
    """The address with its port."""
    with console(address, pages) as serving, serving(broker) as shown:
        yield shown
