"""The loads on which builds are compared: subscriptions of every language, and the events that they see.

Not here: how many matches there must be (the questions know that), and the trial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, final

import msgpack

from .. import composite_workload, workloads
from ..forecasts import flights, stocks, temperatures
from ..forecasts.through_engine import STREAM as WALKED
from ..forecasts.through_engine import Feed
from ..forecasts.walks import Walk
from ..kleene import queries
from ..ticks import ATTRIBUTES, BATCH, STREAM, Market, Tick

READ: Final = 1_000  # the last events, whose matches are read
CEL, SASE, PTOPSS = "cayuga", "sase", "ptopss"
POOLED: Final[Mapping[str, Any]] = {"within": 10, "threshold": 0.8}
KEYED: Final[Mapping[str, Any]] = {**POOLED, "context": ["key"]}
COMPLETIONS: Final[Mapping[str, Any]] = {"report": "completions"}
STATIONS: Final = 10  # one in so many

LOW, MIDDLE, HIGH = "volume < 300", "volume >= 500 AND volume < 900", "volume > 1500"
TUPLES: Final[Mapping[str, str]] = {  # a text for each way in which tuples are counted
    "tuples plain": f"FROM {STREAM} a: {LOW} b: {MIDDLE} c: {HIGH} MATCH (a; b) AND c",
    "tuples in a window": f"FROM {STREAM} a: {LOW} b: {MIDDLE} c: {HIGH} MATCH a; b; c WITHIN 100",
    "tuples in a window, overlapping": f"FROM {STREAM} a: {MIDDLE} b: {MIDDLE} c: {MIDDLE} MATCH a; b; c WITHIN 100",
    "tuples of a span": f"FROM {STREAM} a: {LOW} b: {MIDDLE} c: {HIGH} MATCH a; b @(t(b) - t(a) < 100); c",
    "tuples in a range": f"FROM {STREAM} a: {LOW} b: {HIGH} MATCH a; b @(t(b) - t(a) > 10) @(t(b) - t(a) < 100)",
    "tuples by key": f"FROM {STREAM} a: {LOW} AND name = $n b: {MIDDLE} AND name = $n c: {HIGH} AND name = $n"
    " MATCH a; b; c",
    "tuples by key, in a window": f"FROM {STREAM} a: {LOW} AND name = $n b: {HIGH} AND name = $n"
    " MATCH a; b WITHIN 1000",
    "tuples by binding": f"FROM {STREAM} a: {LOW} AND name = $n b: {MIDDLE} c: {HIGH} AND name = $n MATCH a; b; c",
    "tuples of two spans": f"FROM {STREAM} a: {LOW} b: {MIDDLE} c: {HIGH}"
    " MATCH a; b @(t(b) - t(a) < 100); c @(t(c) - t(b) < 50)",
    "tuples in two times": f"FROM {STREAM} a: {LOW} b: {MIDDLE} c: {HIGH}"
    " MATCH a; b; c @(t(c) - t(b) < 20) @(t(c) - t(a) < 50)",
}

Subscription = tuple[str, str, str, Mapping[str, Any]]
Rows = Sequence[tuple[int, Sequence[Any]]]
Texts = Callable[[], Mapping[str, str]]


@final
@dataclass(frozen=True, slots=True)
class Load:
    """Subscriptions: name, language, text, options. Events: time and row, in order.

    `counted`: matches are compressed, and what they stand for is asked for. `within`: probabilities are asked for, of
    the keys, which are the first value of a row.
    """

    subscriptions: Sequence[Subscription]
    events: Rows
    stream: str = STREAM
    attributes: Mapping[str, str] = field(default_factory=lambda: ATTRIBUTES)
    key: str | None = "name"
    counted: bool = False
    within: int = 0

    def write(self, file: Path, warm: int) -> None:
        """As the trial reads it; the first `warm` events are not timed."""
        made = asdict(replace(self, events=()))
        del made["events"]
        last = len(self.events) - READ
        parts = {"warm": self.events[:warm], "timed": self.events[warm:last], "last": self.events[last:]}
        file.write_bytes(msgpack.packb(made | {name: _packed(rows) for name, rows in parts.items()}))


def _packed(events: Rows) -> list[bytes]:
    parts = [events[at : at + BATCH] for at in range(0, len(events), BATCH)]
    return [msgpack.packb([[time for time, _ in part], [row for _, row in part]]) for part in parts]


def loads(market: Market, events: int, data: Mapping[str, Path]) -> Mapping[str, Callable[[], Load]]:
    """By name, how to make each; those that need data of which nobody says where they are, are left out.

    `events` counts all: those that are not timed, those that are, and the last ones.
    """
    made: dict[str, Callable[[], Load]] = {**_cel(market, events), **_sase(market, events), **_ptopss(market, events)}
    w1: Texts = lambda: {"q": workloads.W1}  # noqa: E731
    made["W1 with forecasts"] = partial(_ticked, market.ticks[:events], CEL, w1, {"forecast": POOLED})
    made["flights"] = partial(_flights, events, {})
    made["flights with forecasts"] = partial(_flights, events, {"forecast": KEYED})
    if "stocks" in data:
        made["stocks with forecasts"] = partial(_stocks, data["stocks"], events)
    if "temperatures" in data:
        made["temperatures with forecasts"] = partial(_temperatures, data["temperatures"], events)
    return made


def _ticked(
    ticks: Sequence[Tick], language: str, texts: Texts, options: Mapping[str, Any], counted: bool = False
) -> Load:
    subscriptions = [(name, language, text, options) for name, text in texts().items()]
    return Load(subscriptions, list(enumerate(ticks, 1)), counted=counted)


def _cel(market: Market, events: int) -> dict[str, Callable[[], Load]]:
    ticks = market.ticks[:events]
    texts: dict[str, Texts] = {
        "W1": lambda: {"q": workloads.W1},
        "W2": lambda: {"q": workloads.W2},
        "W4 N=10,000": lambda: workloads.texts(workloads.w4(market, 10_000)),
        "W4 N=100,000": lambda: workloads.texts(workloads.w4(market, 100_000)),
        "W5 N=10,000": lambda: workloads.texts(workloads.w5(market, 10_000)),
        "W5 N=100,000": lambda: workloads.texts(workloads.w5(market, 100_000)),
        "chains N=1,100": lambda: workloads.texts(workloads.chains(market, 1_100, 4)),
        "jumps N=100": lambda: workloads.texts(workloads.jumps(market, 100)),
        "published": _published,
    }
    return {name: partial(_ticked, ticks, CEL, made, {}) for name, made in texts.items()}


def _published() -> Mapping[str, str]:
    """A stream of every next tick that moved up, and a reader of it."""
    pairs = f"SELECT name, price_1 AS low, price AS high FROM {STREAM} NEXT{{$2.name = $1.name}} {STREAM} PUBLISH Pair"
    return {"q": pairs, "reader": f"SELECT * FROM FILTER{{high > {workloads.W1_FACTOR} * low}}(Pair)"}


def _sase(market: Market, events: int) -> dict[str, Callable[[], Load]]:
    ticks, letters = market.ticks[:events], queries.letter_ticks(events)
    percents = queries.percents(1_100, queries.RARE)
    asked: dict[str, tuple[Sequence[Tick], Texts, bool]] = {
        "W3": (ticks, lambda: {"q": queries.query_3(500)}, False),
        "max": (ticks, lambda: {"q": queries.query_3(5_000, "max")}, False),
        "variants N=1,100": (ticks, lambda: queries.variants(percents, 500), False),
        "pairs N=10,000": (ticks, lambda: queries.pair_texts(queries.pairs(market, 10_000, 100)), False),
        "letters": (letters, lambda: {"q": queries.letters(19)}, True),
        "climbs": (ticks, lambda: {"q": queries.climbs(40)}, True),
    }
    return {name: partial(_ticked, on, SASE, made, {}, counted) for name, (on, made, counted) in asked.items()}


def _ptopss(market: Market, events: int) -> dict[str, Callable[[], Load]]:
    ticks = market.ticks[:events]
    return {
        **{name: partial(_ticked, ticks, PTOPSS, partial(dict, q=q), COMPLETIONS) for name, q in TUPLES.items()},
        "composites N=1,100": partial(_composites, 1_100, events, COMPLETIONS),
        "composites N=10,000": partial(_composites, 10_000, events, COMPLETIONS),
        "composites N=100 with forecasts": partial(_composites, 100, events, {**COMPLETIONS, "forecast": POOLED}),
    }


def _composites(count: int, events: int, options: Mapping[str, Any]) -> Load:
    settings = composite_workload.Settings(count=count)
    chains = composite_workload.subscriptions(settings)
    kinds = islice(composite_workload.stream(settings, chains), events)
    return Load(
        [(f"q{number}", PTOPSS, chain.ptopss(), options) for number, chain in enumerate(chains)],
        [(time, (kind,)) for time, kind in enumerate(kinds, 1)],
        composite_workload.STREAM,
        composite_workload.ATTRIBUTES,
        None,
    )


def _flights(events: int, options: Mapping[str, Any]) -> Load:
    rows = flights.departures()[:events]
    return _walked(flights.walk(rows), flights.feed(rows), events, options)


def _stocks(file: Path, events: int) -> Load:
    walk = stocks.closes(file)
    return _walked(walk, stocks.feed(walk), events, {"forecast": POOLED})


def _temperatures(file: Path, events: int) -> Load:
    days = temperatures.days(file).sample(STATIONS)
    return _walked(days.walk, days.feed(), events, {"forecast": KEYED})


def _walked(walk: Walk, feed: Feed, events: int, options: Mapping[str, Any]) -> Load:
    return Load(
        [("q", PTOPSS, feed.query, {**COMPLETIONS, **options})],
        [(walk.times[event], feed.row(event)) for event in range(min(events, len(walk)))],
        WALKED,
        feed.attributes,
        feed.key,
        within=10 if options else 0,
    )
