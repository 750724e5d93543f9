"""Stalled subscribers: the others get everything, the drops are counted and told. The long form is torture.stalls."""

from __future__ import annotations

import pytest
from doubles.broker_process import broker_process
from doubles.process_gauges import peak_kilobytes, resident_kilobytes
from torture.peers import sockets
from torture.stalls import CONFIGURATION, KILOBYTES_MAX, Trial, cap_kilobytes, peers

from broker.wire import WHEN_SLOW
from client import Client

STALLED, NORMAL, EVENTS = 20, 10, 450


@pytest.mark.parametrize("when_slow", WHEN_SLOW)
def test_stalled_subscribers_disturb_nobody_and_are_told_what_they_missed(when_slow: str) -> None:
    with (
        broker_process(CONFIGURATION) as broker,
        Client(broker.address, timeout=60) as client,
        sockets(NORMAL + STALLED) as context,
    ):
        client.add_stream("S", {"x": "string", "n": "int"})
        before = resident_kilobytes(broker.process.pid)
        stalled = peers(broker, context, "stalled", STALLED, when_slow)
        trial = Trial(client, peers(broker, context, "normal", NORMAL), stalled)
        trial.publish(EVENTS)
        assert peak_kilobytes(broker.process.pid) <= before + cap_kilobytes(STALLED) + KILOBYTES_MAX
        trial.wake()
        counted, told = trial.missed()
        assert counted == told > 0
        assert [(peer.found, peer.missed) for peer in trial.normal] == [(EVENTS, 0)] * NORMAL
        assert all(peer.missed > 0 for peer in trial.stalled)
        assert all(peer.ended == (when_slow == "disconnect") for peer in trial.stalled)
        trial.publish(10)
