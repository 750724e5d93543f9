"""Clients that ask for everything and read nothing: what they hold of a broker's memory is bounded, and given back."""

from __future__ import annotations

from doubles.broker_process import broker_process
from doubles.process_gauges import comes_true, peak_kilobytes, resident_kilobytes
from torture.peers import Peer, sockets

from broker.server.connections import IN_FLIGHT_BYTES_MAX
from broker.server.router import OUTBOX_BYTES_MAX
from client import Client

MIB = 1024 * 1024
STALLED = 4
PAYLOAD = "x" * 200_000
BATCHES, BATCH = 125, 4
"""100 MB for each, which all of them ask for: more than OUTBOX_BYTES_MAX, and what is under way."""

CONFIGURATION = f"[limits]\nqueue_bytes = {MIB}\n"
SLACK_KILOBYTES = 48 * 1024
"""What passes through, and the allocator's share."""


def test_clients_that_do_not_read_hold_what_the_limits_say_and_leave_nothing_when_given_up() -> None:
    with broker_process(CONFIGURATION) as broker:
        process = broker.process.pid
        with Client(broker.address, timeout=120) as client, sockets(STALLED) as context:
            client.add_stream("S", {"x": "string"})
            client.publish_batch("S", list(range(BATCH)), [(PAYLOAD,)] * BATCH)
            before = resident_kilobytes(process)
            peers = []
            for number in range(STALLED):
                peers.append(Peer(context, broker.address, unread=1))
                peers[-1].subscribe(f"stalled-{number}", "SELECT * FROM S", 1_000_000)
            for number in range(1, BATCHES + 1):
                times = list(range(BATCH * number, BATCH * (number + 1)))
                client.publish_batch("S", times, [(PAYLOAD,)] * BATCH)
            allowed = STALLED * (OUTBOX_BYTES_MAX + IN_FLIGHT_BYTES_MAX + MIB) // 1024 + SLACK_KILOBYTES
            assert peak_kilobytes(process) - before <= allowed
            assert comes_true(lambda: client.statistics()["broker"]["sessions"] == 1), "all are given up"
            assert comes_true(lambda: resident_kilobytes(process) - before <= SLACK_KILOBYTES // 2)
