"""Subscriptions that come and go through a broker leave nothing there. The long form is torture.churn."""

from __future__ import annotations

from doubles.broker_process import broker_process
from doubles.process_gauges import growth_of_repeated
from torture.churn import Churn
from torture.connections import QUIET
from torture.peers import Peer, sockets

from client import Client


def test_subscriptions_that_went_leave_nothing_and_disturb_nobody() -> None:
    with broker_process(QUIET) as broker, sockets(2) as context:
        churn = Churn(Peer(context, broker.address), Peer(context, broker.address), 7)
        churn.change(500)
        with Client(broker.address) as client:
            before = client.statistics()
            grown = growth_of_repeated(lambda: churn.change(500), broker.process.pid, enough=300)
            after = client.statistics()
            assert [each.name for each in client.subscriptions()] == ["resident"]
        assert grown[-1] <= 300, grown
        assert before["broker"]["attachments"] == after["broker"]["attachments"] == 1
        assert after["engine"]["runs"] == 0
