"""A broker of this process, which runs in a thread. Brokers in processes of their own are broker_process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from broker.server import Broker

PATIENCE = 60


@contextmanager
def running(broker: Broker) -> Iterator[Broker]:
    """The broker, which ends with the block."""
    with broker:
        thread = threading.Thread(target=broker.run)
        thread.start()
        try:
            yield broker
        finally:
            broker.stop()
            broker.stop()  # changes nothing
            thread.join(PATIENCE)
        assert not thread.is_alive()
