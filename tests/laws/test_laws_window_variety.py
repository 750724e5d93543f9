"""Windows: so many different expressions are found as they are meant, each over several streams.

Look-back, unions, bounds, ties, batches of all lengths, snapshots in between, and compaction at once.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final
from zlib import crc32

import pytest
from doubles.played_windows import meant, play
from hypothesis import settings
from strategies.window_texts import window_events, window_text

from broker.engine import Options
from broker.events.errors import LimitExceeded
from broker.language.window import parse

BLOCKS: Final = 16  # each has expressions of its own
EXPRESSIONS: Final = 20 * settings().max_examples  # 10,000 in `make search`
STREAMS: Final = 4
EVENTS: Final = 14
SWITCHES: Final = (*("batches", "window_columns"),)


@pytest.mark.verify
@pytest.mark.parametrize("block", range(BLOCKS))
def test_different_expressions_are_found_as_they_are_meant(block: int) -> None:
    agree(block, EXPRESSIONS // BLOCKS)


def test_so_are_some_of_them() -> None:
    agree(0, 15)


def agree(block: int, count: int) -> None:
    """Try so many different expressions, none of which another block has."""
    chance = Random(block)
    known: set[str] = set()
    pairs = 0
    while len(known) < count:
        text = window_text(chance)
        if crc32(text.encode()) % BLOCKS != block or text in known:
            continue
        try:
            query = parse(text)
            meant(query, [])
            play([text], [], [], False, -1)
        except LimitExceeded:
            continue  # too many states, or classes
        known.add(text)
        for _ in range(STREAMS):
            events = window_events(chance, EVENTS)
            cuts = [chance.randint(1, 4) for _ in range(chance.randint(0, 3))]
            switches: dict[str, Any] = {name: chance.random() < 0.5 for name in SWITCHES}
            options = Options(**switches)
            at_once, saved, promises = chance.random() < 0.5, chance.randint(-1, 4), chance.random() < 0.5
            found = play([text], events, cuts, at_once, saved, promises, options)
            assert found == [meant(query, events)], (text, events, cuts, at_once, saved, promises, options)
            pairs += 1
    assert pairs == STREAMS * len(known)
