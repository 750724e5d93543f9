"""Hostile messages to a broker, beside an innocent client: `python -m torture.messages COUNT [SEED]`.

Run in tests/, with the repository on PYTHONPATH. Mutated frames (torture.frames) and requests of odd values
(torture.requests) come over sockets like those of any client. The broker answers or refuses each, ends whom it must,
and is there for everybody else all the time. Prints what was answered, and the waits of the innocent.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from random import Random
from time import monotonic
from typing import Any, Final

import zmq
from doubles.broker_process import broker_process
from doubles.process_gauges import resident_kilobytes
from torture.connections import SHARED
from torture.frames import SAID, mutated
from torture.innocent import beside
from torture.peers import PATIENCE_MILLISECONDS, Context, sockets
from torture.requests import MANY, REQUESTS, request

from broker.wire import VERSION, Failure, Hello, Ping, Pong, WireError, decode, encode

AT_ONCE: Final = 20
"""Messages after which the sender asks whether there is anybody; one of them may have ended the session."""

TURNS: Final = 25
"""So many of these over one connection."""

PUBLISH, SUBSCRIBE = REQUESTS[4][0], REQUESTS[5][0]


def current(said: list[Any]) -> list[Any]:
    """The request as it may be said now: those of torture.frames have times and deadlines that are long past."""
    kind, *fields = said
    if kind == PUBLISH:
        fields[2] = None
    if kind in (PUBLISH, SUBSCRIBE):
        fields[-1] = None
    return [kind, *fields]


CURRENT: Final = [current(said) for said in MANY]


def attack(context: Context, address: str, count: int, seed: int) -> Counter[str]:
    """So many messages: what came back, by kind."""
    chance = Random(seed)
    frames = [encode(message) for message in SAID]
    met: Counter[str] = Counter()
    sent = 0
    while sent < count:
        with context.socket(zmq.DEALER) as socket:
            socket.linger = 0
            socket.connect(address)
            begun = False
            for turn in range(TURNS):
                if not begun:
                    socket.send(encode(Hello(1, VERSION, "torture")))
                    socket.send(encode(SAID[3]))  # the stream S
                for _ in range(min(AT_ONCE, count - sent)):
                    socket.send(request(chance, CURRENT) if chance.random() < 0.5 else mutated(chance, frames))
                    sent += 1
                begun = _answered(socket, 1_000_000 + turn, met)
                met["sessions ended"] += not begun
    return met


def _answered(socket: zmq.Socket[bytes], correlation: int, met: Counter[str]) -> bool:
    """Whether the session goes on, after all that was sent has been answered."""
    socket.send(encode(Ping(correlation)))
    while True:
        assert socket.poll(PATIENCE_MILLISECONDS), "no answer"
        try:
            answer = decode(socket.recv())
        except WireError as error:
            raise AssertionError(f"the broker has said what nobody can read: {error}") from error
        met[answer.code if isinstance(answer, Failure) else type(answer).__name__] += 1
        match answer:
            case Failure(code=code):
                assert code != "internal", answer
                if answer.correlation == correlation:
                    return False
            case Pong() if answer.correlation == correlation:
                return True
            case _:
                pass


def main(count: int, seed: int = 0, rounds: int = 10) -> None:
    met: Counter[str] = Counter()
    seconds = 0.0
    with broker_process(SHARED) as broker, beside(broker.address) as innocent, sockets(10) as context:
        os.nice(19)  # those who attack bring a machine of their own
        held = []
        for number in range(rounds):
            innocent.rest()
            begun = monotonic()
            with innocent.attack():
                met += attack(context, broker.address, count // rounds, seed + number)
            seconds += monotonic() - begun
            held.append(resident_kilobytes(broker.process.pid))
        print(f"{count:,} messages from seed {seed} on in {seconds:.0f} s; memory in kB after each round: {held}")
        print(dict(met.most_common()))
        innocent.check()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
