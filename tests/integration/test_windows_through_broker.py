"""Windows of every kind through a broker that is killed between: both clients are told what one engine finds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import pytest
from doubles.broker_process import PATIENCE_SECONDS, broker_process

from broker.engine import Engine
from client import Client, Durable, aio

SCHEMA: Final = {"k": "string", "x": "float"}
FAMILY: Final = "FROM S BY k WINDOW AFTER any* MATCHING [x > {}] [x <= {}]* any AGGREGATE avg(x) AS m"
QUERIES: Final = {
    "events": "FROM S WINDOW LAST 5 EVENTS EVERY 2 EVENTS AGGREGATE sum(x / 7) AS s, max(x) AS h",
    "clock": "FROM S BY k WINDOW LAST 40 us EVERY 20 us AGGREGATE avg(x / 3) AS m, from() AS f",
    "visits": "FROM S BY k WINDOW SESSION 4 us AGGREGATE count(*) AS n, sum(x * 0.1) AS s",
    "visit": "FROM S WINDOW SESSION 3 us AGGREGATE median(x) AS m",
    "rises": "FROM S BY k WINDOW AFTER any* MATCHING (any & !([x > prev.x])) [x > prev.x]* KEEP LONGEST",
    "pairs": "FROM S WINDOW AFTER any* MATCHING [k = 'a'] any* [k = 'b' AND x > 4] WITHIN 30 us AGGREGATE min(x) AS l",
    "formula": "FROM S WINDOW START x, END y WHERE x.k = 'a' AND y.k = 'b' AND ALL z BETWEEN x AND y: z.x < 8",
    "above-2": FAMILY.replace("{}", "2"),
    "above-4": FAMILY.replace("{}", "4"),
}
TIMES: Final = [3 * n + 5 * (n // 7) for n in range(90)]
ROWS: Final = [("abc"[n * n % 3], n * 37 % 31 / 3) for n in range(90)]
BATCHES: Final = [(first, min(first + 8, 90)) for first in range(0, 90, 8)]
KILLED: Final = 5
"""So many batches have come when the broker is killed."""
OVER: Final = 10_000


def found(engine: Engine) -> dict[str, list[Any]]:
    told: dict[str, list[Any]] = {name: [] for name in QUERIES}
    results = [engine.publish("S", TIMES[a:b], ROWS[a:b]) for a, b in BATCHES]
    for match in [*(match for each in results for match in each), *engine.punctuate(OVER)]:
        told[match.subscription].append((match.id, match.start, match.end, match.lineage, match.data))
    return told


def line(notification: Any) -> Any:
    assert notification is not None
    return notification.id, notification.start, notification.end, notification.lineage, notification.data


async def rest(address: str, wanted: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """What the other client is told of all windows, after it has published the other events."""
    told: dict[str, list[Any]] = {}
    async with aio.Client(address) as client:
        for a, b in BATCHES[KILLED:]:
            await client.publish_batch("S", TIMES[a:b], ROWS[a:b])
        await client.punctuate(OVER)
        for name, lines in wanted.items():
            async with await client.subscribe(name, durable=Durable(f"desk-{name}", replay=1)) as subscription:
                told[name] = [line(await subscription.next(PATIENCE_SECONDS)) for _ in lines]
                assert await subscription.poll() is None
    return told


@pytest.mark.parametrize("fsync", ["os", "always"])
def test_windows_are_those_of_an_engine_whose_broker_never_ended(fsync: str, tmp_path: Path) -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    for name, query in QUERIES.items():
        engine.subscribe(name, "window", query, lineage=True)
    wanted = found(engine)
    assert all(len(lines) > 3 for lines in wanted.values())
    configuration = f'[journal]\npath = "{tmp_path / "data"}"\nfsync = "{fsync}"\n'
    with broker_process(configuration) as broker, Client(broker.address) as client:
        client.add_stream("S", SCHEMA)
        subscriptions = {
            name: client.subscribe(name, "window", query, lineage=True, durable=f"desk-{name}")
            for name, query in QUERIES.items()
        }
        for a, b in BATCHES[:KILLED]:
            client.publish_batch("S", TIMES[a:b], ROWS[a:b])
        for name, subscription in subscriptions.items():
            assert line(subscription.next(PATIENCE_SECONDS)) == wanted[name][0]
        broker.process.kill()
    with broker_process(configuration) as broker:
        assert asyncio.run(rest(broker.address, wanted)) == wanted
