"""Subscriptions of windows in a simulated history: after each end they are told the same windows with the same digits.

Here: their texts, of every kind of machine; some are a family. Not here: lives and the checker (broker_lives).
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from broker.wire import Message, Subscribe

FAMILY: Final = "FROM S BY k WINDOW AFTER any* MATCHING [x > {}] [x <= {}]* any AGGREGATE avg(x) AS m, stdev(x) AS d"
OTHERS: Final = (
    "FROM S WINDOW LAST 5 EVENTS EVERY 2 EVENTS AGGREGATE sum(x / 7) AS s, max(x) AS h",
    "FROM S BY k WINDOW SESSION 15 AGGREGATE count(*) AS n, sum(x * 0.1) AS s",
    "FROM S BY k WINDOW LAST 40 EVERY 20 AGGREGATE avg(x / 3) AS m, from() AS f",
    "FROM S BY k WINDOW AFTER any* MATCHING [x <= prev.x] [x > prev.x]* KEEP LONGEST AGGREGATE median(x) AS m",
    "FROM S WINDOW AFTER any* MATCHING [k = 'a'] any* [k = 'b' AND x > 4] WITHIN 30 AGGREGATE min(x) AS l",
)
WINDOWS: Final = (*[FAMILY.replace("{}", str(x)) for x in (2, 4, 6)], *OTHERS)
FIRST: Final = 700
"""Correlations of requests begin here."""


Told = tuple[str, tuple[int, ...], str]


def told(line: dict[str, Any]) -> Told:
    """What must be the same of a result in every life: id, events, and values to the last digit."""
    return line["id"], tuple(line["lineage"]), repr(line.get("data"))


def window_subscriptions(random: Random) -> list[Message]:
    """Requests for some of them, of a client without a cursor; names say which."""
    chosen = sorted(random.sample(range(len(WINDOWS)), 3))
    return [
        Subscribe(FIRST + at, f"windows-{at}", "window", WINDOWS[at], True, None, None, 1_000_000) for at in chosen
    ]
