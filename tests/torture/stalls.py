"""Subscribers that stop reading, beside others.

    python -m torture.stalls SECONDS [WHEN_SLOW] [STALLED] [NORMAL] [RATE]

Run in tests/, with the repository on PYTHONPATH. Half of the stalled ones take what comes and never ask for more, the
others do not even read their sockets; WHEN_SLOW is what all of them have chosen. Events are published at a rate; the
waits of the normal ones, from publishing to having read, are compared with those that they have alone. At the end the
stalled ones read again: what each has been told and what it was told to have missed must be everything that was
published, or all until it was ended; and the broker must have counted the same. Prints the waits, also of an innocent
client with a stream of its own (torture.innocent), the counts and the memory.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, Final

from doubles.broker_process import BrokerProcess, broker_process
from doubles.process_gauges import peak_kilobytes, resident_kilobytes
from torture.figures import milliseconds, share
from torture.innocent import beside
from torture.peers import Context, Peer, sockets

from broker.wire import WHEN_SLOW
from client import Client

QUEUE_BYTES: Final = 256 * 1024
CREDITS: Final = 100
PAYLOAD: Final = "x" * 1_000
CONFIGURATION: Final = f'[log]\nlevel = "error"\n[limits]\nqueue_bytes = {QUEUE_BYTES}\nsessions = 5_000\n'
QUERY: Final = "SELECT * FROM S"

EVENT_BYTES: Final = 1_200
"""A notification of PAYLOAD, with what is around it."""

KILOBYTES_MAX: Final = 64 * 1024
"""What the broker may hold beside what waits for the stalled: the normal ones, their sockets, the allocator's share."""

WAIT_GROWTH_MAX: Final = 1.2


def cap_kilobytes(stalled: int) -> int:
    """What may wait for so many: a queue each, and what their credits have paid for."""
    return stalled * (QUEUE_BYTES + CREDITS * EVENT_BYTES) // 1024


@dataclass
class Trial:
    """Normal and stalled peers of one broker, and one publisher. `published`: events since the stalled ones came."""

    client: Client
    normal: Sequence[Peer]
    stalled: Sequence[Peer]
    published: int = 0

    def publish(self, count: int, rate: float | None = None) -> list[float]:
        """So many events at so many a second, each awaited by every normal peer; all their waits."""
        waits: list[float] = []
        began = monotonic()
        for number in range(count):
            if rate is not None:
                sleep(max(0.0, began + number / rate - monotonic()))
            begun = monotonic()
            self.client.publish("S", {"x": PAYLOAD, "n": number})
            for peer in self.normal:
                while not (results := peer.read()):
                    assert peer.socket.poll(60_000), "a normal subscriber waits for a minute"
                waits.append(monotonic() - begun)
                assert [result["data"]["n"] for result in results] == [number]
                peer.grant(1)
            for peer in self.stalled[::2]:
                peer.read()
        self.published += count
        return waits

    def wake(self) -> None:
        """The stalled ones read everything, and ask for more until there is no more."""
        for peer in self.stalled:
            while peer.found + peer.missed < self.published and not peer.ended:
                if not peer.read() and not peer.ended:
                    peer.grant(CREDITS)
                    assert peer.socket.poll(60_000), f"{peer.found} came, {peer.missed} are said to be missed"

    def missed(self) -> tuple[int, int]:
        """How many drops the broker has counted, and how many the stalled ones were told of."""
        counted: dict[str, Any] = self.client.statistics()["broker"]
        return counted["notifications_missed"], sum(peer.missed for peer in self.stalled)


def peers(broker: BrokerProcess, context: Context, kind: str, count: int, when_slow: str | None = None) -> list[Peer]:
    """So many, each with a subscription of its own; every second stalled one takes what comes."""
    found: list[Peer] = []
    for number in range(count):
        peer = Peer(context, broker.address, unread=1 if kind == "stalled" and number % 2 else 0)
        peer.subscribe(f"{kind}-{number}", QUERY, CREDITS, when_slow)
        found.append(peer)
    return found


def main(seconds: int, when_slow: str = WHEN_SLOW[0], stalled: int = 100, normal: int = 100, rate: int = 25) -> None:
    with (
        broker_process(CONFIGURATION) as broker,
        Client(broker.address, timeout=60) as client,
        sockets(stalled + normal) as context,
        beside(broker.address) as innocent,
    ):
        process = broker.process.pid
        client.add_stream("S", {"x": "string", "n": "int"})
        trial = Trial(client, peers(broker, context, "normal", normal), [])
        trial.publish(rate * 2, rate)
        with innocent.quiet():
            alone = trial.publish(seconds * rate // 2, rate)
        before = resident_kilobytes(process)
        trial.stalled, trial.published = peers(broker, context, "stalled", stalled, when_slow), 0
        with innocent.attack():
            waits = trial.publish(seconds * rate, rate)
        peak = peak_kilobytes(process)
        trial.wake()
        counted, told = trial.missed()
        for peer in trial.stalled:
            if not peer.ended:
                peer.unsubscribe()
        trial.stalled = []
        with innocent.quiet():
            alone += trial.publish(seconds * rate // 2, rate)  # again, as the machine may have changed
        floor = innocent.check()
    print(f"{seconds} s alone and {seconds} s beside {stalled} stalled, {normal} normal, {rate} events a second")
    print(f"alone:  {milliseconds(alone)}")
    print(f"beside: {milliseconds(waits)}")
    cap = before + cap_kilobytes(stalled) + KILOBYTES_MAX
    print(f"memory: {before:,} kB before, {peak:,} kB at most; the cap is {cap:,} kB")
    print(f"drops, {when_slow}: {counted:,} counted, {told:,} told")
    assert counted == told
    assert peak <= cap
    assert share(waits, 0.99) <= WAIT_GROWTH_MAX * max(1.0, floor) * share(alone, 0.99)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else WHEN_SLOW[0], *map(int, sys.argv[3:]))
