"""The load of P-ToPSS's experiments (section 6, with 6.1's defaults): subscriptions, and streams of events made
from them. No engine, no clock, no file belongs here.

An event is a number: below `pool`, one of the event pool, which some primitive matches; `pool` itself, irrelevant. A
subscription is `length` primitives, each of which matches exactly one event of the pool, drawn uniformly (uniform_cs)
or by a Gaussian over the pool (gaussian_cs); `gaps` of its operators, uniformly chosen, are `;`, the others `,`.

The stream is blocks: with 50 % a run of irrelevant events, otherwise what a random subscription, of which full or
partial matches are still due, asks for: all of its events or the first so many, how many being uniform (uniform_pub)
or Gaussian (gaussian_pub). The paper leaves the Gaussians open: here their mean is the middle, their deviation a sixth
of the range, and what falls outside is drawn again. All follows from the seed; the first n subscriptions of more are
the same ones, and a stream is drawn as it is read, since the whole one has some 2,300 events a subscription.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final, Literal, TypeAlias

Distribution: TypeAlias = Literal["uniform", "gaussian"]

STREAM: Final = "Event"
ATTRIBUTES: Final = {"kind": "int"}  # the event's number
SEED: Final = 2010
SIGMAS: Final = 6  # a Gaussian's range in standard deviations
IRRELEVANT: Final = 0.5  # of the blocks


@dataclass(frozen=True, slots=True)
class Settings:
    """The paper's parameters and defaults, in its order: N_cs, Length_cs, N_ep, N_non_contiguous_op, distribution of
    primitives; N_pm, N_fm, greatest Length_irr, distribution of partial lengths."""

    count: int = 1000
    length: int = 10
    pool: int = 50
    gaps: int = 2
    primitives: Distribution = "uniform"
    partial: int = 20
    full: int = 20
    irrelevant: int = 100
    partials: Distribution = "uniform"
    seed: int = SEED

    def __post_init__(self) -> None:
        if min(self.count, self.length, self.pool, self.irrelevant) < 1 or min(self.partial, self.full) < 0:
            raise ValueError(f"expected positive sizes, found {self}")
        if not 0 <= self.gaps < self.length:
            raise ValueError(f"expected at most {self.length - 1} `;` in {self.length} primitives, found {self.gaps}")


@dataclass(frozen=True, slots=True)
class Chain:
    """A composite subscription: terms by `;`, each of them contiguous primitives, as the events that they match."""

    terms: tuple[tuple[int, ...], ...]

    @property
    def primitives(self) -> tuple[int, ...]:
        return tuple(primitive for term in self.terms for primitive in term)

    def ptopss(self) -> str:
        """Its text. An operand a primitive, as a name occurs once: `s3: kind = 17`."""
        definitions = [f"s{number}: kind = {kind}" for number, kind in enumerate(self.primitives, 1)]
        names = (f"s{number}" for number in range(1, len(definitions) + 1))
        pattern = "; ".join(", ".join(islice(names, len(term))) for term in self.terms)
        return "\n".join([f"FROM {STREAM}", *definitions, f"MATCH {pattern}"])


def subscriptions(settings: Settings) -> list[Chain]:
    """N_cs of them. O(primitives)."""
    draw = random.Random(f"{settings.seed} subscriptions {settings.primitives}")
    found: list[Chain] = []
    for _ in range(settings.count):
        kinds = [_drawn(draw, settings.primitives, 0, settings.pool - 1) for _ in range(settings.length)]
        cuts = [0, *sorted(draw.sample(range(1, settings.length), settings.gaps)), settings.length]
        found.append(Chain(tuple(tuple(kinds[begin:end]) for begin, end in pairwise(cuts))))
    return found


def stream(settings: Settings, chains: Sequence[Chain]) -> Iterator[int]:
    """Events until no match is due any more."""
    draw = random.Random(f"{settings.seed} stream {settings.partials}")
    due = [[settings.partial if settings.length > 1 else 0, settings.full] for _ in chains]
    open_ = [number for number, quota in enumerate(due) if any(quota)]
    while open_:
        if draw.random() < IRRELEVANT:
            for _ in range(draw.randint(1, settings.irrelevant)):
                yield settings.pool
            continue
        at = draw.randrange(len(open_))
        number = open_[at]
        kind = draw.choice([kind for kind in (0, 1) if due[number][kind]])
        due[number][kind] -= 1
        if not any(due[number]):
            open_[at] = open_[-1]
            open_.pop()
        whole = chains[number].primitives
        yield from whole if kind else whole[: _drawn(draw, settings.partials, 1, settings.length - 1)]


def relevant(settings: Settings, count: int) -> list[int]:
    """So many events, each of the pool with equal chance: all of them matter, and nothing bounds what may have begun.
    Not the paper's stream, but the hardest one on its subscriptions. O(count)."""
    draw = random.Random(f"{settings.seed} relevant")
    return [draw.randrange(settings.pool) for _ in range(count)]


def _drawn(draw: random.Random, distribution: Distribution, low: int, high: int) -> int:
    if distribution == "uniform":
        return draw.randint(low, high)
    size = high - low + 1
    while True:
        value = low + draw.gauss(size / 2, size / SIGMAS)
        if low <= value < high + 1:
            return int(value)
