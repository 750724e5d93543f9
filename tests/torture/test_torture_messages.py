"""Hostile messages to a broker: it answers, and others are served. The long form is torture.messages."""

from __future__ import annotations

from doubles.broker_process import broker_process
from torture.connections import SHARED
from torture.innocent import beside
from torture.messages import attack
from torture.peers import sockets


def test_hostile_messages_are_answered_and_disturb_nobody() -> None:
    with broker_process(SHARED) as broker, beside(broker.address) as innocent, sockets(2) as context:
        innocent.rest(10)
        with innocent.attack():
            met = attack(context, broker.address, 2_000, 1)
        innocent.rest(10)
        assert met["Pong"] > 10
        assert {"Published", "definition", "protocol"} <= met.keys()
