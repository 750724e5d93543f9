"""Publish a day of invented prices in batches, and a last event: `python publisher.py [ADDRESS]`."""

from __future__ import annotations

import random
import sys

from client import DEFAULT_ADDRESS, Client

NAMES = ("IBM", "MSFT", "ORCL")
SECOND = 1_000_000
BATCH = 500


def main() -> None:
    chance = random.Random(7)  # a fixed seed makes the same prices each time
    prices = dict.fromkeys(NAMES, 100.0)
    rows: list[tuple[str, float]] = []
    for _ in range(5_000):
        name = chance.choice(NAMES)
        prices[name] *= 1 + chance.gauss(0, 0.006)
        rows.append((name, round(prices[name], 2)))

    with Client(sys.argv[1] if len(sys.argv) > 1 else DEFAULT_ADDRESS) as client:
        client.add_stream("Stock", {"name": "string", "price": "float"})
        taken = 0
        for begin in range(0, len(rows), BATCH):
            batch = rows[begin : begin + BATCH]
            times = [(begin + offset) * SECOND for offset in range(len(batch))]
            taken += client.publish_batch("Stock", times, batch).count
        client.publish("Stock", {"name": "CLOSE", "price": 0.0}, time=len(rows) * SECOND)
        print(f"published {taken} prices")


if __name__ == "__main__":
    main()
