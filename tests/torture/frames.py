"""Mutated frames into the decoder: `python -m torture.frames COUNT [SEED]`. It is a message or a WireError.

Run in tests/, with the repository on PYTHONPATH. Each frame is one that can be said, changed in one to four places, so
that most of it is still right: that is what gets far into a decoder. Prints what came of them, the rate, and what the
process holds; a failure ends it with the frame.
"""

from __future__ import annotations

import os
import struct
import sys
from collections import Counter
from random import Random
from time import process_time
from typing import Final

from doubles.process_gauges import resident_kilobytes

from broker.events import Schema, StreamDefinition
from broker.events.column_checks import event_columns
from broker.wire import (
    VERSION,
    Acknowledge,
    AddStream,
    Administer,
    AskProbability,
    AskReasons,
    Closing,
    Credit,
    DeadLetter,
    DeadLetters,
    DeclareGap,
    DescribeStream,
    Done,
    Ended,
    Failure,
    Forget,
    Goodbye,
    Hello,
    Inspect,
    Inspected,
    ListDeadLetters,
    ListStreams,
    ListSubscriptions,
    Message,
    Notifications,
    Ping,
    Pong,
    ProbabilityReport,
    Probe,
    Publish,
    Published,
    Punctuate,
    Reasons,
    Refusal,
    Refuse,
    ResetTime,
    Retract,
    Settle,
    Statistics,
    StatisticsReport,
    StreamEntry,
    Streams,
    Subscribe,
    Subscribed,
    SubscribedMany,
    SubscribeMany,
    SubscriptionEntry,
    SubscriptionOutcome,
    SubscriptionRequest,
    Subscriptions,
    TimeReset,
    Unsubscribe,
    Update,
    Welcome,
    WireError,
    decode,
    decode_result,
    encode,
    encode_result,
)

_QUERY: Final = "SELECT * FROM FILTER{DUR < 60}(S NEXT{$2.name = $1.name} S)"
_FORECAST: Final = {"within": "60 s", "threshold": 0.5, "context": ("key",)}
_RESULT: Final = {"kind": "match", "subscription": "a", "id": "0" * 24, "start": 1, "end": 2, "data": {"x": [1, 2.5]}}
_SCHEMA: Final = {"name": "string", "price": "float", "volume": "int"}
_COLUMNS: Final = event_columns(
    StreamDefinition("S", Schema.declare({"name": "string", "price": "float?", "volume": "int", "on": "bool?"})),
    {"name": ["a", "b", "a"], "price": [1.5, None, -0.0], "volume": [1, 2**40, -1], "on": [True, False, None]},
    3,
)

_UPDATES: Final = ((("q -> q WHEN TRUE",), ("y",), 5, 2**60),)

SAID: Final[tuple[Message, ...]] = (
    Hello(1, VERSION, "torture", b""),
    Goodbye(2),
    Ping(3),
    AddStream(4, "S", _SCHEMA, "name", "arrival", None, None),  # one in disorder would hold back the others
    Publish(
        5, "S", (1, 2, 3), (("a", 1.5, 1), ("b", 2.5, 2**40), ("c", -0.0, -1)), (7, 8, 9), None, None, None, 2**50,
        f"00-{7:032x}-{5:016x}-01",
    ),
    Subscribe(
        6, "a", "cayuga", _QUERY, True, None, _FORECAST, 100, None, "mine", 4, 2, 9, 1, None, 5, 3, None, 2**50, "final"
    ),
    Unsubscribe(7, "a"),
    Credit(0, "a", 500),
    DescribeStream(8, "S"),
    ListStreams(9, ""),
    ListSubscriptions(10, "a"),
    Statistics(11),
    Acknowledge(13, "a", 5, 2),
    Forget(14, "mine"),
    Refuse(15, "a", 5, "no such customer", 2),
    ListDeadLetters(16, "mine", 3),
    Settle(17, "mine", (4, 5), True),
    ResetTime(18, "S"),
    AskProbability(19, "a", ("IBM", 7), "12 hours"),
    SubscribeMany(
        20, (SubscriptionRequest("a", "cayuga", _QUERY, True, None, _FORECAST, "each"),), 100, "disconnect", 2**50
    ),
    Punctuate(21, 2**40, "S", "price > 5", "p", 7, 2**50),
    Retract(22, (5, -6, 2**40), "p", 8, 2**50),
    Update(23, "a", ("x: q -> r WHEN v > 1", "r -> s WHEN TRUE"), ("y",), 5, None, "p", 9, None),
    Inspect(24, "events", "S", "", 20),
    Administer(25, "move-cursor", "mine", 5),
    Administer(25, "replace-subscription", "q", None, {"language": "", "query": "SELECT * FROM S", "keep_runs": False}),
    DeclareGap(26, "S", 5, 7, "p", 9, None),
    AskReasons(27, "a", "1f24f2c7f6cba6be7a2e8161", ("IBM",), (5, 6), 2**40),
    Welcome(1, VERSION, "foretell", 30, bytes(16), 2**50),
    Done(12),
    Pong(13),
    Published(5, 2, 3, 1, (Refusal(1, "late", "expected a time of 3 or later, found 2"),)),
    Subscribed(6, "a", True, False, "always", 5, 2, ("line 1, column 5: x = x is always true",)),
    Streams(9, (StreamEntry("S", _SCHEMA, "name", "arrival", None, 5, 9),), False),
    Subscriptions(
        10,
        (
            SubscriptionEntry(
                "a", "cayuga", _QUERY, 3, 17, {"mine": 3}, 2, ((("q -> q WHEN TRUE",), ("y",), 5, 2**60),)
            ),
        ),
        True,
    ),
    StatisticsReport(11, {"broker": {"events": 1, "share": 0.5}}),
    Failure(6, "query", "expected a name", 1, 5, "x y\n  ^", None),
    DeadLetters(16, (DeadLetter(4, encode_result(_RESULT), "no such customer", 9, 2),), False, 1),
    TimeReset(18, 5, "T"),
    ProbabilityReport(19, {"probability": 0.25, "within": "12 hours", "calibrated": None}),
    SubscribedMany(20, (SubscriptionOutcome("a", True), SubscriptionOutcome("b", False, "query", "expected", 1, 2))),
    Inspected(24, {"7": {"time": 5, "data": {"name": "a"}}}, True),
    Reasons(27, {"subscription": "a", "steps": ({"as": "event 1", "events": (5,), "time": 1.5},)}),
    Notifications(0, "a", 1, (encode_result(_RESULT), encode_result({**_RESULT, "tuples": 2**80})), 5, True),
    Probe(0),
    Closing(0, "the broker is stopping"),
    Ended(0, "a", "slow", "queue_bytes: the reader was too slow"),
    Publish(5, "S", [1, 2, 2**40], _COLUMNS, [7, 8, 9], None, "p", 5, 2**50),
)
"""One of each message."""

_HEADS: Final = (b"\xdd", b"\xdf", b"\xdb", b"\xc6", b"\xc9", b"\xdc", b"\xde", b"\xda", b"\xc5", b"\xc8")
"""What begins an array, a map, a string, bytes and an extension, with a length of 4 or 2 bytes."""

MEMORY_GROWTH_MAX: Final = 0.05


def mutated(chance: Random, frames: list[bytes]) -> bytes:
    """One of the frames, changed."""
    frame = bytearray(chance.choice(frames))
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(frame) + 1)
        match chance.randrange(9):
            case 0 if frame:
                frame[at % len(frame)] ^= 1 << chance.randrange(8)
            case 1 if frame:
                frame[at % len(frame)] = chance.randrange(256)
            case 2:
                del frame[at:]
            case 3:
                del frame[at : at + chance.randrange(1, 9)]
            case 4:
                frame[at:at] = chance.randbytes(chance.randrange(1, 9))
            case 5:
                frame[at:at] = frame[: chance.randrange(len(frame) + 1)]
            case 6:
                frame[at:] = chance.choice(frames)[chance.randrange(9) :]
            case 7:
                head = chance.choice(_HEADS)
                size = chance.choice((0, 1, 17, 8_193, 65_535, 2**31, 2**32 - 1))
                wide = struct.pack(">I", size) if head in _HEADS[:5] else struct.pack(">H", size & 0xFFFF)
                frame[at:at] = head + wide
            case _:
                frame[at:at] = chance.choice((b"\x91", b"\x81\xa0", b"\xdd\0\0\0\1")) * chance.choice((2, 9, 1_200))
    return bytes(frame)


def attack(count: int, seed: int) -> Counter[str]:
    """So many frames from this seed: how many were messages and results, and how many were refused."""
    chance = Random(seed)
    frames = [encode(message) for message in SAID]
    results = [result for message in SAID if isinstance(message, Notifications) for result in message.results]
    met: Counter[str] = Counter()
    for number in range(count):
        frame = mutated(chance, frames)
        result = mutated(chance, results) if number % 8 == 0 else None
        try:
            met[type(decode(frame)).__name__] += 1
        except WireError as error:
            met["refused" if "\n" not in str(error) else "refused in several lines"] += 1
        except BaseException as error:
            error.add_note(f"seed {seed}, frame {number}: {frame.hex()}")
            raise
        if result is not None:
            try:
                decode_result(result)
                met["result"] += 1
            except WireError:
                met["result refused"] += 1
            except BaseException as error:
                error.add_note(f"seed {seed}, result {number}: {result.hex()}")
                raise
    return met


def main(count: int, seed: int = 0) -> None:
    attack(min(count, 100_000), seed - 1)  # what the first ones leave in caches is not theirs
    before, begun = resident_kilobytes(os.getpid()), process_time()
    met: Counter[str] = Counter()
    for part in range(0, count, 100_000):
        met.update(attack(min(100_000, count - part), seed + part))
    seconds, after = process_time() - begun, resident_kilobytes(os.getpid())
    print(f"{count:,} frames from seed {seed} on, {seconds:.0f} s of a core, {count / seconds:,.0f} a second")
    print(dict(met.most_common()))
    print(f"memory: {before:,} kB before, {after:,} kB after ({after / before - 1:+.1%})")
    assert after <= before * (1 + MEMORY_GROWTH_MAX)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
