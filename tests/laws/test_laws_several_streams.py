"""Two streams, all languages: the same matches for every cut into batches, as rows or columns, alone or with others.

Long blocks of one stream, as publishers send them: what goes by columns, by machines one after the other and by
groups only happens there. The truth is each subscription alone, event by event, with what makes batches quick switched
off; that this is the meaning is shown on short histories by test_laws_sase_engine, _composites, _windows, _disorder.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import pytest
from doubles.read_columns import in_columns
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from strategies.several_streams import LAYOUTS, Block, Layout, blocks, columns, cut, program

from broker.engine import Engine, Options

EVENTS, MATCHES_MAX = 120, 3_000
PLAIN: Final = Options(
    batches=False, templates=False, together=False, columns=False, window_columns=False,
    indexes=False,
)  # fmt: skip
LANGUAGES: Final = ("cayuga", "sase", "ptopss", "afa", "window")

Subscription = tuple[str, str]
"""A language and a text."""


def fresh(layout: Layout, options: Options | None = None) -> Engine:
    engine = Engine(options)
    for stream, attributes in layout.items():
        engine.add_stream(stream, attributes)
    return engine


def lines(results: Any) -> list[str]:
    return [repr(match.line()) for match in results]


def listed(name: str) -> bool:
    """Whether its results list their events."""
    return int(name[1:]) % 3 != 2


def alone(name: str, subscription: Subscription, layout: Layout, history: Sequence[Block]) -> Counter[str] | None:
    """Its results, event by event; None if there are more than anybody wants to compare."""
    engine = fresh(layout, PLAIN)
    engine.subscribe(name, subscription[0], subscription[1], lineage=listed(name))
    found: Counter[str] = Counter()
    number = 0
    for block in history:
        for time, row, start in zip(block.times, block.rows, block.starts or block.times):
            number += 1
            found.update(lines(engine.publish(block.stream, [time], [row], [number], [start])))
            if found.total() > MATCHES_MAX:
                return None
    found.update(lines(engine.finish()))
    return found


def together(
    wanted: dict[str, Subscription], layout: Layout, history: Sequence[Block], chance: random.Random
) -> Counter[str]:
    """The results of all, in batches, with snapshots in between and guests that come and go."""
    engine = fresh(layout)
    for name, (language, text) in wanted.items():
        engine.subscribe(name, language, text, lineage=listed(name))
    found: Counter[str] = Counter()
    number, guests = 0, 0
    for block in history:
        for batch in cut(chance, block):
            ids = list(range(number + 1, number + 1 + len(batch.rows)))
            number += len(ids)
            if chance.random() < 0.5:
                results = engine.publish(batch.stream, batch.times, batch.rows, ids, batch.starts)
            else:
                packed = columns(chance, layout, batch)
                results = engine.publish_columns(batch.stream, packed, batch.times, ids, batch.starts)
            found.update(lines(in_columns(results)))
            if chance.random() < 0.1:
                engine = Engine.restore(engine.snapshot())
            if chance.random() < 0.1:
                language, text = chance.choice(list(wanted.values()))
                engine.subscribe(f"guest{guests}", language, text)
                guests += 1
            elif guests and chance.random() < 0.1:
                guests -= 1
                engine.unsubscribe(f"guest{guests}")
    engine.check_invariants()
    found.update(lines(engine.finish()))
    return Counter({line: count for line, count in found.items() if "'subscription': 'guest" not in line})


@pytest.mark.parametrize("languages", [*[(one,) for one in LANGUAGES], LANGUAGES], ids=[*LANGUAGES, "mixed"])
@settings(suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**40))
def test_batches_columns_and_company_change_nothing(languages: tuple[str, ...], seed: int) -> None:
    chance = random.Random(seed)
    texts = program(chance, languages)
    layout = chance.choice(LAYOUTS)
    history = blocks(chance, layout, EVENTS)
    note(texts)
    note(layout)
    note(history)
    wanted: dict[str, Subscription] = {}
    expected: Counter[str] = Counter()
    for number, subscription in enumerate(texts):
        found = alone(f"q{number}", subscription, layout, history)
        if found is not None:
            wanted[f"q{number}"] = subscription
            expected += found
    if wanted:
        for _ in range(2):
            assert together(wanted, layout, history, chance) == expected


LAST: Final = {
    "next": ("cayuga", "SELECT * FROM FILTER{k = 'A' AND p > 1}(S) NEXT{$2.k = $1.k AND $2.p < 1} T"),
    "next and earlier": ("cayuga", "SELECT * FROM S NEXT{$2.k = $1.k AND $2.p < $1.p - 1} T"),
    "next of next": ("cayuga", "SELECT * FROM (R NEXT{$2.k = $1.k} S) NEXT{$2.k = $1.k AND $2.p < 1} T"),
    "filtered next": ("cayuga", "SELECT * FROM S NEXT{$2.k = $1.k} FILTER{p < 1}(T)"),
    "fold": (
        "cayuga",
        "SELECT * FROM FILTER{n >= 2}((SELECT k, p + 0.0 AS p, 1 AS n FROM S)"
        " FOLD{$2.k = $.k AND $2.p < 1, , $.n + 1 AS n} (SELECT k, p + 0.0 AS p FROM T))",
    ),
    "sase": (
        "sase",
        "PATTERN SEQ(S a, T b) WHERE skip_till_next_match(a, b) { [k] AND a.p > 1 AND b.p < 1 } WITHIN 1 s",
    ),
    "kleene": (
        "sase",
        "PATTERN SEQ(S a, T+ b[]) WHERE skip_till_any_match(a, b[]) { [k] AND b[1].p < 1 } WITHIN 1 s",
    ),
    "ptopss": ("ptopss", "FROM S, T BY k a ON S: p > 1 b ON T: p < 1 MATCH a; b WITHIN 1 s"),
    "afa": (
        "afa",
        "FROM S, T BY k START a FINAL c a -> b ON S WHEN p > 1 b -> b ON S b -> b ON T WHEN p >= 1 "
        "b -> c ON T WHEN p < 1 WITHIN 1 s",
    ),
}
"""Each event of S waits for an event of T of which only the last satisfies the condition."""


MANY: Final = 64
BESIDE: Final = (
    ("cayuga", "SELECT k FROM FILTER{p > 2}(T)"),
    ("window", "FROM T BY k WINDOW LAST 3 EVENTS AGGREGATE sum(p) AS s"),
)


@pytest.mark.parametrize("beside", [(), BESIDE], ids=["alone", "beside others"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=["alike", "other types", "other places"])
@pytest.mark.parametrize("name", LAST)
def test_what_waits_for_the_other_stream_passes_over_its_events(
    name: str, layout: Layout, beside: Sequence[Subscription]
) -> None:
    for size in (1, 2, 16, 32, MANY):
        engine = fresh({"R": layout["S"], **layout})
        for number, (language, text) in enumerate((LAST[name], *beside)):
            engine.subscribe(f"q{number}", language, text)
        found = 0
        prices = {"R": [2], "S": [2] * MANY, "T": [2] * (MANY - 1) + [0]}
        for turn, stream in enumerate(prices):
            for at in range(0, len(prices[stream]), size):
                times = [MANY * turn + at + each for each in range(min(size, len(prices[stream]) - at))]
                values = [{"k": "A", "c": 0, "p": price, "more": True} for price in prices[stream][at : at + size]]
                rows: Any = [tuple(map(each.get, engine.streams[stream].schema.names)) for each in values]
                found += sum(match.subscription == "q0" for match in engine.publish(stream, times, rows))
        assert found == (1 if name == "next of next" else MANY), size
