"""The workloads are what they say, always the same, and the engine finds in them what plain loops find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgpack
import pytest

from benchmarks import plain_loops, workloads
from benchmarks.measuring import Spread
from benchmarks.ticks import ATTRIBUTES, STREAM, SYMBOLS, Market, market, packed
from broker.engine import Engine

TICKS = 2_000


@pytest.fixture(scope="module")
def stocks() -> Market:
    return market(TICKS)


def matches(stocks: Market, subscriptions: Mapping[str, str]) -> int:
    engine = Engine()
    engine.add_stream(STREAM, ATTRIBUTES, key="name")
    for name, query in subscriptions.items():
        engine.subscribe(name, query=query)
    return len(engine.publish(STREAM, range(1, TICKS + 1), stocks.ticks))


def test_a_market_follows_from_its_seed(stocks: Market) -> None:
    assert market(TICKS) == stocks
    assert market(TICKS).digest() == stocks.digest() != market(TICKS, seed=1).digest()
    shorter = market(TICKS // 2)
    assert [(name, volume) for name, _, volume in shorter.ticks] == [
        (name, volume) for name, _, volume in stocks.ticks[: TICKS // 2]
    ]


def test_ticks_are_distributed_as_designed(stocks: Market) -> None:
    counts = Counter(name for name, _, _ in stocks.ticks)
    assert counts.most_common(1)[0][0] == SYMBOLS[0]
    assert 1.5 < counts[SYMBOLS[0]] / counts[SYMBOLS[1]] < 3.0  # 2 ** 1.1 = 2.14
    walk = [price for name, price, _ in stocks.ticks if name == SYMBOLS[0]]
    assert abs(walk[-1] / walk[0] - 1) < 0.02, "less its drift, a walk ends one step from where its first tick is"
    volumes = sorted(volume for _, _, volume in stocks.ticks)
    assert 600 < volumes[TICKS // 2] < 730  # exp(6.5) = 665
    assert volumes[0] >= 1


def test_the_unit_is_taken_on_batches_of_100_arrays(stocks: Market) -> None:
    batches = [msgpack.unpackb(batch) for batch in packed(stocks.ticks)]
    assert [len(batch) for batch in batches] == [100] * (TICKS // 100)
    assert batches[0][0] == [*stocks.ticks[0], 1]
    assert batches[-1][-1] == [*stocks.ticks[-1], TICKS]


def test_more_subscriptions_are_only_more(stocks: Market) -> None:
    assert workloads.w4(stocks, 100)[:10] == workloads.w4(stocks, 10)
    assert workloads.w5(stocks, 100)[:10] == workloads.w5(stocks, 10)


def test_the_engine_finds_what_plain_loops_find(stocks: Market) -> None:
    pairs, boxes = workloads.w4(stocks, 100), workloads.w5(stocks, 100)
    expected = {
        "W1": plain_loops.w1(stocks.ticks),
        "W2": plain_loops.w2(stocks.ticks),
        "W4": plain_loops.w4(stocks.ticks, pairs),
        "W5": plain_loops.w5(stocks.ticks, boxes),
    }
    assert all(expected.values()), "a workload without matches would prove nothing"
    assert {
        "W1": matches(stocks, {"q": workloads.W1}),
        "W2": matches(stocks, {"q": workloads.W2}),
        "W4": matches(stocks, workloads.texts(pairs)),
        "W5": matches(stocks, workloads.texts(boxes)),
    } == expected


def test_plain_loops_on_ticks_counted_by_hand() -> None:
    up = [("A", 1.0 + step / 10, 5) for step in range(6)]
    assert plain_loops.w1(up) == 5
    assert plain_loops.w2(up) == 3, "five ticks ending at the fifth, and at the sixth five and six"
    assert plain_loops.w4([("A", 5.0, 1), ("B", 1.0, 1), ("A", 2.0, 1)], [workloads.TwoStep("A", 4.0, 3.0)]) == 1
    assert plain_loops.w5([("A", 5.0, 1), ("A", 5.0, 3)], [workloads.Box("A", 4.0, 5.0, 2)]) == 1


def test_a_spread_is_least_median_most() -> None:
    assert Spread.of([3.0, 1.0, 2.00001]) == Spread(1.0, 2.0, 3.0)
