"""Subscriptions that come and go: `python -m torture.churn COUNT [SEED]`. Nothing of them stays in the broker.

Run in tests/, with the repository on PYTHONPATH. One client subscribes and unsubscribes, with many requests under way,
and publishes in between; another has a subscription all the time, and must be told of every event. Prints the rate,
what the broker holds, and how long an innocent client waits beside it (torture.innocent).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from random import Random
from time import monotonic
from typing import Final

from doubles.broker_process import broker_process
from doubles.process_gauges import resident_kilobytes
from torture.connections import QUIET
from torture.innocent import beside
from torture.peers import Peer, sockets

from broker.wire import (
    AddStream,
    Done,
    Failure,
    Message,
    Publish,
    Published,
    Subscribe,
    Subscribed,
    Unsubscribe,
    encode,
)

MEMORY_GROWTH_MAX: Final = 0.05
AT_ONCE: Final = 50
WINDOW: Final = 1_000

_ATTRIBUTES: Final = {"name": "string", "price": "float", "n": "int"}


def query(chance: Random) -> str:
    """One of several shapes, with constants of its own."""
    name, price = f"N{chance.randrange(50)}", chance.randrange(900) / 10
    first = f"FILTER{{name = '{name}'}}S"
    return chance.choice(
        (
            f"SELECT * FROM FILTER{{price > {price}}}S",
            f"SELECT * FROM FILTER{{price > {price} * price_1}}({first} NEXT{{$2.name = $1.name}} S)",
            f"SELECT * FROM FILTER{{DUR < {chance.randrange(9, 99)}}}({first} NEXT{{$2.price > $1.price}} S)",
            f"SELECT * FROM FILTER{{name = '{name}' AND price > {price} AND price < {price + 5}}}S",
        )
    )


class Churn:
    """A resident and a restless client of one broker."""

    def __init__(self, resident: Peer, restless: Peer, seed: int) -> None:
        self._resident = resident
        self._restless = restless
        self._chance = Random(seed)
        self._names = 0
        restless.ask(AddStream(2, "S", _ATTRIBUTES, None, "arrival", None, None))
        resident.subscribe("resident", "SELECT * FROM S", WINDOW)

    def change(self, count: int) -> None:
        """So many subscriptions come and go again; every event between them reaches the resident one."""
        for _ in range(0, count, AT_ONCE):
            self._names += AT_ONCE
            names = [f"guest-{self._names + number}" for number in range(AT_ONCE)]
            going = names[:]
            self._chance.shuffle(going)
            came = [Subscribe(3, name, "cayuga", query(self._chance), None, None, None, 100) for name in names]
            self._say(came, Subscribed)
            self._publish(2)
            self._say([Unsubscribe(4, name) for name in going], Done)
            self._restless.forget()
        self._publish(1)

    def _publish(self, count: int) -> None:
        chance = self._chance
        rows = tuple((f"N{chance.randrange(50)}", chance.random() * 100, number) for number in range(count))
        self._say([Publish(5, "S", None, rows, None, None)], Published)
        numbers: list[int] = []
        while len(numbers) < count:
            assert self._resident.socket.poll(60_000), "the resident subscriber is not told"
            numbers += [result["data"]["n"] for result in self._resident.read()]
        assert numbers == list(range(count))
        self._resident.grant(count)

    def _say(self, requests: Sequence[Message], kind: type[Message]) -> None:
        for request in requests:
            self._restless.socket.send(encode(request))
        for request in requests:
            answer = self._restless.answer()
            assert type(answer) is kind, answer if isinstance(answer, Failure) else (request, answer)


def main(count: int, seed: int = 0, rounds: int = 10) -> None:
    seconds = 0.0
    with broker_process(QUIET) as broker, beside(broker.address) as innocent, sockets(2) as context:
        os.nice(19)  # those who come and go bring a machine of their own
        churn = Churn(Peer(context, broker.address), Peer(context, broker.address), seed)
        churn.change(max(AT_ONCE, count // 20))
        held = [resident_kilobytes(broker.process.pid)]
        for _ in range(rounds):
            innocent.rest()
            begun = monotonic()
            with innocent.attack():
                churn.change(count // rounds)
            seconds += monotonic() - begun
            held.append(resident_kilobytes(broker.process.pid))
        print(f"{count:,} came and went in {seconds:.0f} s, {count / seconds:,.0f} a second")
        innocent.check()
    print(f"memory in kB, before and after each round: {held}")
    assert held[-1] <= held[0] * (1 + MEMORY_GROWTH_MAX)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
