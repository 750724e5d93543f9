"""Filters by ranges of two numbers: what is read of a batch, also later, is what was there at the event.

Here: that reading late, and reading after members came and went, give what event by event gives. What that is, is held
to the meaning by test_laws_engine and, for numbers of matches, here.
"""

from __future__ import annotations

import random
from typing import Any, Final, NamedTuple

from doubles.read_columns import in_columns
from hypothesis import example, given
from hypothesis import strategies as st

from broker.engine import Engine, Options

ON, OFF = Options(), Options(batches=False)
STREAM: Final = "S"
SCHEMA: Final = {"k": "string", "p": "float", "v": "int?"}
BATCH: Final = 60
MANY: Final = 64  # subscriptions, at least


class Box(NamedTuple):
    """Bounds of the price, and of the volume, open where None."""

    key: str
    low: float
    high: float
    above: int | None
    most: int | None

    def text(self) -> str:
        tests = [f"k = '{self.key}'", f"p >= {self.low}", f"p <= {self.high}"]
        if self.above is not None:
            tests.append(f"v > {self.above}")
        if self.most is not None:
            tests.append(f"v <= {self.most}")
        return f"SELECT p, v FROM FILTER{{{' AND '.join(tests)}}}({STREAM})"

    def contains(self, key: str, price: float, volume: int | None) -> bool:
        if key != self.key or not self.low <= price <= self.high:
            return False
        if volume is None:
            return self.above is None and self.most is None
        return (self.above is None or volume > self.above) and (self.most is None or volume <= self.most)


def boxes(chance: random.Random, count: int) -> list[Box]:
    """Of one form mostly, on a coarse grid: some have equal bounds, and some contain nothing."""
    found: list[Box] = []
    limited = chance.random() < 0.3
    for _ in range(count):
        low = chance.randrange(-40, 40) / 2
        high = low + chance.choice((0.0, 0.5, 0.5, 1.0, 4.0, -1.0))
        most = chance.randrange(8) if limited else None
        found.append(Box("a" if chance.random() < 0.9 else "b", low, high, chance.randrange(-1, 8), most))
    return found


def batches(chance: random.Random, count: int) -> list[tuple[list[int], list[tuple[str, float, int | None]]]]:
    time = 0
    found = []
    for _ in range(count):
        times, rows = [], []
        for _ in range(BATCH):
            time += chance.choice((0, 1, 1, 1, 1, 3)) if chance.random() < 0.2 else 1
            times.append(time)
            volume = None if chance.random() < 0.05 else chance.randrange(10)
            rows.append(("a" if chance.random() < 0.95 else "b", chance.randrange(-84, 84) / 4, volume))
        found.append((times, rows))
    return found


def played(seed: int, options: Options) -> list[list[Any]]:
    """The results of all batches, read in the end, or at once."""
    chance = random.Random(seed)
    known = boxes(chance, MANY + chance.randrange(60))
    engine = Engine(options)
    engine.add_stream(STREAM, SCHEMA, key="k")
    for number, box in enumerate(known):
        engine.subscribe(f"s{number}", query=box.text(), lineage=number % 3 == 0)
    there = dict(enumerate(known))
    since = dict.fromkeys(there, -1)  # a subscription sees what is later than the last event before it came
    kept: list[Any] = []
    lines: dict[int, list[Any]] = {}
    for number, (times, rows) in enumerate(batches(chance, 6)):
        results = engine.publish(STREAM, times, rows)
        kept.append(results)
        seen = [(row, box) for time, row in zip(times, rows) for at, box in there.items() if time > since[at]]
        matches = sum(box.contains(*row) for row, box in seen)
        if chance.random() < 0.7:
            assert len(results) == matches
        if chance.random() < 0.3:
            lines[number] = [match.line() for match in results]
            assert len(lines[number]) == matches
        if chance.random() < 0.2 and len(there) > MANY:  # the same bounds may stay another's
            gone = chance.choice(list(there))
            engine.unsubscribe(f"s{gone}")
            del there[gone]
        elif chance.random() < 0.4:
            copied = chance.random() < 0.8
            fresh = len(there) + 1_000 * number
            there[fresh] = box = chance.choice(known) if copied else boxes(chance, 1)[0]
            since[fresh] = times[-1]
            engine.subscribe(f"s{fresh}", query=box.text())
        engine.check_invariants()
    for number, results in enumerate(kept):
        read = [match.line() for match in (in_columns(results) if number % 2 else results)]
        assert lines.setdefault(number, read) == read
        assert len(results) == len(read)
    return [lines[number] for number in range(len(kept))]


@given(st.integers(0, 10**9))
@example(307)  # a subscription comes between two events of one time
def test_what_is_read_late_is_as_it_was_at_the_event(seed: int) -> None:
    assert played(seed, ON) == played(seed, OFF)
