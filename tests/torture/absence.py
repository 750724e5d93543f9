"""How late absence is told: `python -m torture.absence [KEYS] [EVENTS_PER_SECOND]`.

Run in tests/, with the repository on PYTHONPATH. So many orders wait for payments that do not come, each for 2 s;
beside them events of another stream come at the given rate (0: a quiet broker). Prints how long after its moment each
absence was told.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Final

from doubles.broker_process import broker_process

from client import Client

WAIT_MICROSECONDS: Final = 2_000_000
UNPAID: Final = "PATTERN SEQ(Order a, ~(Payment b)) WHERE skip_till_next_match(a, b) { [number] } WITHIN 2 s"
BATCH: Final = 100
PATIENCE: Final = 60.0


def measure(keys: int, rate: int) -> list[float]:
    """Milliseconds from the moment of each absence to its notification, sorted."""
    late: list[float] = []
    ended = threading.Event()
    with broker_process() as broker, Client(broker.address) as client:
        for stream in ("Order", "Payment", "Other"):
            client.add_stream(stream, {"number": "int"})
        other = threading.Thread(target=_publish_others, args=(broker.address, rate, ended))
        with client.subscribe("unpaid", "sase", UNPAID) as subscription:
            other.start()
            for first in range(0, keys, BATCH):
                client.publish_batch("Order", None, [(number,) for number in range(first, min(keys, first + BATCH))])
                time.sleep(BATCH / 10_000)
            while len(late) < keys:
                notification = subscription.next(PATIENCE)
                assert notification is not None, f"{len(late):,} of {keys:,} came"
                assert notification.start is not None
                late.append(time.time() * 1_000 - (notification.start + WAIT_MICROSECONDS) / 1_000)
        ended.set()
        other.join()
    return sorted(late)


def _publish_others(address: str, rate: int, ended: threading.Event) -> None:
    with Client(address) as client:
        begun, sent = time.monotonic(), 0
        while not ended.wait(0.01):
            due = int((time.monotonic() - begun) * rate) - sent
            if due > 0:
                client.publish_batch("Other", None, [(number,) for number in range(due)][:8_000])
                sent += due


def main(keys: str = "10000", rate: str = "0") -> None:
    late = measure(int(keys), int(rate))
    parts = [f"p{share:g} {late[min(len(late) - 1, int(len(late) * share / 100))]:.1f}" for share in (50, 90, 99, 100)]
    print(f"{int(keys):,} absences beside {int(rate):,} events a second, milliseconds late: {', '.join(parts)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
