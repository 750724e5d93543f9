"""The windows that are measured, in our language and, where they can say the same, in SQL of DuckDB and of Flink.

Each SQL gives a row a window, with its sum of prices as `s`. Here: texts. Not here: measuring (trial), truth (loops).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..ticks import STREAM

RISING: Final = "any & !([price > prev.price])"
AGGREGATES: Final = {"count": "count(*) AS n", "sum": "sum(price) AS s", "sum, max": "sum(price) AS s, max(price) AS m"}
SUM: Final = AGGREGATES["sum"]
KEYS: Final = 10_000
"""As many keys there are where a workload says "many"."""


@dataclass(frozen=True, slots=True)
class Workload:
    """`by`: "one" key, the 100 "names", or "many" keys. `loop`: the function of loops that finds the same."""

    windows: str
    by: str
    aggregates: str = SUM
    loop: str = ""
    duckdb: str = ""
    flink: str = ""

    def query(self) -> str:
        by = "" if self.by == "one" else " BY name"
        return f"FROM {STREAM}{by} WINDOW {self.windows} AGGREGATE {self.aggregates}"


FAMILY: Final = (1_000, 10_000)
"""As many subscriptions differ in a constant, `{}` in these windows; they are compared with one of them alone."""
FAMILIES: Final[dict[str, str]] = {
    "A any{4}": "AFTER any* MATCHING [price > {}] any{4}",
    "A until the next A": "AFTER any* MATCHING [price > {}] (any & !([price > {}]))* [price > {}]",
    "while A, from its first": "AFTER (any* (any & !([price > {}])))? MATCHING [price > {}]+",
    "any A* not A, to 20": "AFTER any* MATCHING any [price > {}]* (any & !([price > {}])) & any{1,20}",
}


A_B: Final = "[volume > 2000] any* [volume < 200]"
A_UNTIL_B: Final = "AFTER any* MATCHING [volume > 2000] [volume >= 200]* [volume < 200]"
LATE: Final = 0.05
"""This share of the events comes late, up to a number of places, in these windows of a stream in any order."""
DISORDERED: Final[dict[str, tuple[str, int]]] = {
    "A until the next B, 100 late": (A_UNTIL_B, 100),
    "A until the next B, 1,000 late": (A_UNTIL_B, 1_000),
    "A any* B within 100, 100 late": (f"AFTER any* MATCHING {A_B} WITHIN 100", 100),
}


TOGETHER: Final = ("tumble 100", "session 300 by name", "clock 1,000 by name", "A until the next B")
"""Subscriptions to these at once are compared with the sum of what each costs alone."""
COLUMNS: Final = 1_000
"""As many events come in a batch of columns."""


DORMANT: Final = 1_000
"""As many subscriptions have windows of one name each: that of no event, or of one in so many events."""
ASLEEP, TOUCHED = "names that do not come", "names that come"
STRANGER: Final = "no tick"


def dormant(names: Sequence[str], low: float, high: float) -> list[str]:
    """The queries of these names, with prices of their own in a few places, so that each is a machine by itself."""
    queries: list[str] = []
    for at, name in enumerate(names):
        begins, ends = f"[name = '{name}' AND price > {high + at / 1e6!r}]", f"[price < {low - at / 1e6!r}]"
        windows = f"AFTER any* MATCHING {begins} any* {ends} & any{{1,500}}"
        queries.append(f"FROM {STREAM} BY name WINDOW {windows} AGGREGATE {SUM}")
    return queries


def family(windows: str, thresholds: Sequence[float]) -> list[str]:
    """The queries of a family."""
    wholes = [windows.replace("{}", repr(threshold)) for threshold in thresholds]
    return [f"FROM {STREAM} BY name WINDOW {whole} AGGREGATE {SUM}" for whole in wholes]


def _numbered(partition: str) -> str:
    return f"(SELECT *, row_number() OVER ({partition} ORDER BY t) - 1 AS i FROM stock)"


def _tumble(partition: str, key: str) -> str:
    inner = f"SELECT sum(price) AS s, count(*) AS n FROM {_numbered(partition)} GROUP BY {key}i // 100"
    return f"SELECT s FROM ({inner}) WHERE n = 100"


def _slide(partition: str) -> str:
    over = f"OVER ({partition} ORDER BY t ROWS BETWEEN 999 PRECEDING AND CURRENT ROW)"
    return f"SELECT s FROM (SELECT sum(price) {over} AS s, count(*) {over} AS n FROM stock) WHERE n = 1000"


def _session(partition: str, key: str) -> str:
    begins = f"CASE WHEN t - lag(t) OVER ({partition} ORDER BY t) <= 300 THEN 0 ELSE 1 END"
    numbered = f"SELECT *, sum(b) OVER ({partition} ORDER BY t) AS g FROM (SELECT *, {begins} AS b FROM stock)"
    return f"SELECT sum(price) AS s FROM ({numbered}) GROUP BY {key}g"


# Flink's ticks come one in 10 ms (flink_windows_job).
FLINK_TUMBLE: Final = """SELECT s, moment FROM (SELECT name, SUM(price) AS s, window_time AS moment FROM
 TABLE(TUMBLE(TABLE stock, DESCRIPTOR(ts), INTERVAL '10' SECOND))
 GROUP BY name, window_start, window_end, window_time)"""
FLINK_HOP: Final = """SELECT s, moment FROM (SELECT name, SUM(price) AS s, window_time AS moment FROM
 TABLE(HOP(TABLE stock, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '10' SECOND))
 GROUP BY name, window_start, window_end, window_time)"""
FLINK_SESSION: Final = """SELECT s, moment FROM (SELECT name, SUM(price) AS s, window_time AS moment FROM
 TABLE(SESSION(TABLE stock PARTITION BY name, DESCRIPTOR(ts), INTERVAL '3.005' SECOND))
 GROUP BY name, window_start, window_end, window_time)"""
FLINK_SLIDE: Final = """SELECT s, ts AS moment FROM (SELECT ts, SUM(price) OVER w AS s, COUNT(*) OVER w AS n FROM stock
 WINDOW w AS (PARTITION BY name ORDER BY ts ROWS BETWEEN 999 PRECEDING AND CURRENT ROW)) WHERE n = 1000"""

BY: Final = "PARTITION BY name"
WORKLOADS: Final[dict[str, Workload]] = {
    "tumble 100": Workload("EVERY 100 EVENTS", "one", loop="tumble", duckdb=_tumble("", "")),
    "tumble 100 by name": Workload("EVERY 100 EVENTS", "names", loop="tumble", duckdb=_tumble(BY, "name, ")),
    "tumble 100, 10,000 keys": Workload("EVERY 100 EVENTS", "many", loop="tumble", duckdb=_tumble(BY, "name, ")),
    "slide 100 by 10": Workload("LAST 100 EVENTS EVERY 10 EVENTS", "one"),
    "slide 1,000 by 1, sum and max": Workload(
        "LAST 1000 EVENTS EVERY 1 EVENT", "one", AGGREGATES["sum, max"], loop="slide", duckdb=_slide("")
    ),
    "slide 1,000 by 1 by name": Workload(
        "LAST 1000 EVENTS EVERY 1 EVENT", "names", loop="slide", duckdb=_slide(BY), flink=FLINK_SLIDE
    ),
    "slide 10,000 by 1": Workload("LAST 10000 EVENTS EVERY 1 EVENT", "one"),
    "slide 100 by 1": Workload("LAST 100 EVENTS EVERY 1 EVENT", "one"),
    "rising by name, from its first": Workload(f"AFTER any* MATCHING ({RISING}) [price > prev.price]*", "names"),
    "session 300": Workload("SESSION 300", "one", loop="session", duckdb=_session("", "")),
    "session 300 by name": Workload(
        "SESSION 300", "names", loop="session", duckdb=_session(BY, "name, "), flink=FLINK_SESSION
    ),
    "session 300, 10,000 keys": Workload(
        "SESSION 300", "many", loop="session", duckdb=_session(BY, "name, "), flink=FLINK_SESSION
    ),
    "A until the next B": Workload(A_UNTIL_B, "one", loop="until"),
    "A any* B to 1,000": Workload(f"AFTER any* MATCHING {A_B} & any{{1,1000}}", "one", loop="pairs"),
    "A any* B to 1,000, 10,000 keys": Workload(f"AFTER any* MATCHING {A_B} & any{{1,1000}}", "many", loop="pairs"),
    "A any* B within 500 by name": Workload(f"AFTER any* MATCHING {A_B} WITHIN 500", "names"),
    "clock 1,000 by name": Workload(
        "EVERY 1000",
        "names",
        loop="clock",
        duckdb="SELECT sum(price) AS s FROM stock GROUP BY name, t // 1000",
        flink=FLINK_TUMBLE,
    ),
    "clock 1,000 by 100 by name": Workload("LAST 1000 EVERY 100", "names", loop="hop", flink=FLINK_HOP),
    "clock 1,000, 10,000 keys": Workload(
        "EVERY 1000",
        "many",
        loop="clock",
        duckdb="SELECT sum(price) AS s FROM stock GROUP BY name, t // 1000",
        flink=FLINK_TUMBLE,
    ),
    "clock 1,000 by 100, 10,000 keys": Workload("LAST 1000 EVERY 100", "many", loop="hop", flink=FLINK_HOP),
}
