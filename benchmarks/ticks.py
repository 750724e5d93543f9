"""The events that every benchmark runs on. No subscription, no clock, no file belongs here.

A market of 100 symbols: who ticks next is Zipf 1.1; a symbol's price is a multiplicative random walk from U(20, 200)
with steps N(0, 0.005), less its mean step, so that it ends where it began; volume is lognormal(6.5, 1); one tick a time
unit, from time 1 on. All of it follows from a seed and the number of ticks. The standard market has a million ticks;
shorter measurements take its first ones, since a market of fewer ticks is another market (its walks return sooner).
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final, TypeAlias

import msgpack

Tick: TypeAlias = tuple[str, float, int]  # name, price, volume: a row of the stream; its time is its 1-based number

STREAM: Final = "Stock"
ATTRIBUTES: Final[Mapping[str, str]] = {"name": "string", "price": "float", "volume": "int"}
SYMBOLS: Final = tuple(f"S{number:02}" for number in range(100))
STANDARD: Final = 1_000_000  # ticks
SEED: Final = 2007
BATCH: Final = 100  # ticks in a batch, here and in the unit of cost

ZIPF: Final = 1.1
STEP: Final = 0.005
START: Final = (20.0, 200.0)
VOLUME: Final = (6.5, 1.0)


@dataclass(frozen=True, slots=True)
class Symbol:
    """What thresholds are drawn around: median and standard deviation of a symbol's own prices."""

    name: str
    median: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Market:
    """Ticks in time order, and their symbols in the order of SYMBOLS."""

    seed: int
    ticks: Sequence[Tick]
    symbols: tuple[Symbol, ...]

    def digest(self) -> str:
        """Equal for equal ticks, to the last bit: results with different digests are no comparison."""
        state = hashlib.blake2b(digest_size=8)
        for batch in packed(self.ticks):
            state.update(batch)
        return state.hexdigest()


def market(count: int = STANDARD, seed: int = SEED) -> Market:
    """The market of that many ticks. O(n log n), some seconds for a million."""
    # A generator a column: the names and volumes of a shorter market are a prefix of those of a longer one.
    naming, pricing, dealing = (random.Random(f"{seed} {column}") for column in ("name", "price", "volume"))
    weights = list(accumulate(rank**-ZIPF for rank in range(1, len(SYMBOLS) + 1)))
    numbers = naming.choices(range(len(SYMBOLS)), cum_weights=weights, k=count)
    starts = [pricing.uniform(*START) for _ in SYMBOLS]
    prices = _walks(numbers, starts, pricing)
    volumes = [max(1, round(dealing.lognormvariate(*VOLUME))) for _ in range(count)]
    ticks = [(SYMBOLS[number], price, volume) for number, price, volume in zip(numbers, prices, volumes)]
    own: list[list[float]] = [[] for _ in SYMBOLS]
    for number, price in zip(numbers, prices):
        own[number].append(price)
    symbols = tuple(_symbol(name, start, seen) for name, start, seen in zip(SYMBOLS, starts, own))
    return Market(seed, ticks, symbols)


def _walks(numbers: list[int], starts: list[float], pricing: random.Random) -> list[float]:
    """A price for each tick: exp of the symbol's walk so far, less its mean step times the steps so far."""
    far = [0.0] * len(starts)
    steps = [0] * len(starts)
    walked: list[tuple[int, float, int]] = []
    for number in numbers:
        far[number] += pricing.gauss(0.0, STEP)
        steps[number] += 1
        walked.append((number, far[number], steps[number]))
    drift = [distance / taken if taken else 0.0 for distance, taken in zip(far, steps)]
    return [starts[number] * math.exp(distance - drift[number] * taken) for number, distance, taken in walked]


def _symbol(name: str, start: float, prices: list[float]) -> Symbol:
    if not prices:
        return Symbol(name, start, 0.0)
    n = len(prices)
    ordered = sorted(prices)
    mean = math.fsum(prices) / n
    spread = math.fsum((price - mean) ** 2 for price in prices) / n
    return Symbol(name, (ordered[(n - 1) // 2] + ordered[n // 2]) / 2, math.sqrt(spread))


def packed(ticks: Sequence[Tick]) -> list[bytes]:
    """The ticks as a publisher sends them: msgpack, batches of 100 arrays `[name, price, volume, time]`."""
    rows = [[*tick, time] for time, tick in enumerate(ticks, 1)]
    return [msgpack.packb(rows[first : first + BATCH]) for first in range(0, len(rows), BATCH)]


def to_csv(path: Path, ticks: Sequence[Tick]) -> None:
    """The ticks for readers that know nothing of msgpack: `name,price,volume,time` a line, prices to the last bit."""
    with path.open("w", encoding="ascii") as file:
        for time, (name, price, volume) in enumerate(ticks, 1):
            file.write(f"{name},{price!r},{volume},{time}\n")


def from_csv(path: Path) -> list[Tick]:
    """What `to_csv` wrote."""
    with path.open(encoding="ascii") as file:
        fields = (line.split(",") for line in file)
        return [(name, float(price), int(volume)) for name, price, volume, _ in fields]
