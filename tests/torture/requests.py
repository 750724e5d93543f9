"""Requests that can be said and mean nonsense, into a kernel and its engine: `python -m torture.requests COUNT`.

Run in tests/, with the repository on PYTHONPATH. A request is one of those of torture.frames with one to three of its
values exchanged for odd ones, so that it gets behind the decoder. Each has its answer, whatever it is, and nothing else
is raised: what a Publish raises would end a broker. Prints what the answers were; a failure ends it with the frame.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from random import Random
from time import process_time
from typing import Any, Final

import msgpack
from torture.frames import SAID

from broker.engine import Engine
from broker.kernel import Kernel, Limits, MakeResults, Received
from broker.wire import VERSION, Failure, Goodbye, Hello, Subscribe, WireError, decode, encode

ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 2**31, 2**61, 2**62, 2**63 - 1, -(2**63), 2**64 - 1, 0.0, -0.0, 1e308, float("nan"),
    float("inf"), "", "S", "T", "a", "x" * 300, "\0", "\ud7ff", "'", "{", "every", "sase", "ptopss", "cayuga",
    "arrival", "watermark", "speculate", "buffer", "final", "afa",
    "int", "string", b"", b"S", [], [[]], [1], ["a", 1.0, 1], {}, {"x": "int"},
    {"x": {"x": {}}}, "SELECT * FROM S",
    "FROM S START a FINAL b x: a -> b WHEN TRUE", ["x: a -> b WHEN price > 1"], ["x"],
    "PATTERN SEQ(S a, S b)", "FROM S a: price > 1 MATCH a",
    "SELECT name FROM S PUBLISH T", "SELECT * FROM T", "drop_oldest", "disconnect",
)  # fmt: skip
FIRST_ANSWER: Final = 32
"""The least number of a message from the broker: those before it are requests."""

REQUESTS: Final = tuple(said for said in map(msgpack.unpackb, map(encode, SAID)) if said[0] < FIRST_ANSWER)
MANY: Final = (*REQUESTS, *(REQUESTS[4], REQUESTS[5], REQUESTS[5], REQUESTS[5], REQUESTS[6], REQUESTS[-1]) * 4)
"""Publish, Subscribe and Unsubscribe more often; Subscribe most, because few of them come as far as a query."""

LIMITS: Final = Limits(sessions=10, streams=50, session_subscriptions=50, queue_notifications=100)


LIFE: Final = 100
"""Requests to one kernel: soon there is an event at the end of time, and every later one is late."""


def opened() -> Kernel:
    """A kernel with an engine, a session, the stream S, and a subscription to it."""
    kernel = Kernel(Engine(), LIMITS)
    for message in (Hello(1, VERSION, "torture"), SAID[3], Subscribe(2, "r", "cayuga", "S", None, None, None, 1)):
        kernel.step(Received(b"it", message), 0)
    return kernel


def changed(chance: Random, value: Any) -> Any:
    """The value with one part exchanged, at some depth."""
    if chance.random() < 0.4:
        return chance.choice(ODD)
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        return [*value[:at], changed(chance, value[at]), *value[at + 1 :]]
    if isinstance(value, dict) and value:
        name = chance.choice(list(value))
        return {**value, name: changed(chance, value[name])}
    return chance.choice(ODD)


def request(chance: Random, said: Sequence[Sequence[Any]] = MANY) -> bytes:
    """A frame of one of these types and a correlation, and fields that may be anything."""
    kind, correlation, *fields = chance.choice(said)
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        if fields:
            at = chance.randrange(len(fields))
            fields[at] = changed(chance, fields[at])
    frame: bytes = msgpack.packb([kind, correlation, *fields], unicode_errors="surrogatepass")
    return frame


def attack(count: int, seed: int) -> Counter[str]:
    """So many requests from this seed to kernels: how many answers there were of each kind."""
    chance = Random(seed)
    kernel = opened()
    met: Counter[str] = Counter()
    for number in range(count):
        if number % LIFE == 0:
            kernel.check_invariants()
            kernel = opened()
        frame = request(chance)
        try:
            message = decode(frame)
        except WireError:
            met["refused by the decoder"] += 1
            continue
        try:
            sends = kernel.step(Received(b"it", message), number).sends
            while kernel.has_work():
                sends += kernel.step(MakeResults(), number).sends
            for send in sends:
                encode(send.message)
        except BaseException as error:
            error.add_note(f"seed {seed}, request {number}: {frame.hex()}")
            raise
        answers = [send.message for send in sends if send.message.correlation == message.correlation != 0]
        assert len(answers) == (message.correlation != 0), f"seed {seed}, request {number}: {frame.hex()}"
        for answer in answers:
            met[answer.code if isinstance(answer, Failure) else type(answer).__name__] += 1
        if isinstance(message, Goodbye):
            kernel.step(Received(b"it", Hello(1, VERSION, "torture")), number)
    kernel.check_invariants()
    return met


def main(count: int, seed: int = 0) -> None:
    begun = process_time()
    met: Counter[str] = Counter()
    for part in range(0, count, 10_000):
        met.update(attack(min(10_000, count - part), seed + part))
    print(f"{count:,} requests from seed {seed} on, {process_time() - begun:.0f} s of a core")
    print(dict(met.most_common()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
