"""Mutated frames: a message or a WireError, and nothing stays behind. The long form is torture.frames."""

from __future__ import annotations

import os
from itertools import count

from doubles.process_gauges import growth_of_repeated
from hypothesis import settings
from torture.frames import SAID, attack

from broker.wire import Message, decode, encode
from broker.wire.messages import TABLE

FRAMES = 200 * settings().max_examples
"""10,000, or 100,000 under `verify`."""


def test_each_message_is_said_and_comes_back() -> None:
    assert list(dict.fromkeys(map(type, SAID))) == [row.message for row in TABLE.values()]
    for message in SAID:
        same: Message = decode(encode(message))
        assert same == message


def test_a_mutated_frame_is_a_message_or_a_wire_error() -> None:
    met = attack(FRAMES, 1)
    assert met["refused"] > FRAMES // 4
    assert met["refused in several lines"] == 0
    assert met["result"] > 0
    assert met["result refused"] > FRAMES // 80
    assert {row.message.__name__ for row in TABLE.values()} <= met.keys(), "and many get through"


def test_frames_leave_nothing_behind() -> None:
    seeds = count(2)
    grown = growth_of_repeated(lambda: attack(5_000, next(seeds)), os.getpid(), enough=500)
    assert grown[-1] <= 500, grown
