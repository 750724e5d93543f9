"""Assigns the events of a DataFrame to the cells of a plan: where to cut, which keys are hot, which cell gets what.

An event goes to every cell that reads it: with a plan by key to one, with slices to its own and those whose overlap it
is in, with shards to all. The cells are numbered as in Plan.cells.

Here: expressions over columns. Not here: the work of the workers (execution).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from broker.events import StreamDefinition

from .plan.cell import FIRST, Point
from .plan.scheme import KEY, Part, Plan

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

QUANTILE_ERROR: Final = 0.01
HOT_SHARE: Final = 1.5
"""A key with this many times the events of a mean bucket is cut by time."""
HOT_MAX: Final = 64
CELL: Final = "~cell"
"""The column with the number of the cell; no attribute can have this name."""

Columns = Mapping[str, tuple[str, ...]]
Streams = Mapping[str, StreamDefinition]


def cut_points(events: DataFrame, plan: Plan) -> list[Point]:
    """The beginnings of the plan's slices, so that they have about equal counts; one pass over the events if it has
    any.
    """
    if plan.slices < 2 or not any(part.sliced or part.window is not None for part in plan.parts):
        return []
    shares = [number / plan.slices for number in range(1, plan.slices)]
    return [(int(time), FIRST[1]) for time in events.approxQuantile("time", shares, QUANTILE_ERROR)]


def hot_keys(events: DataFrame, plan: Plan, streams: Streams, columns: Columns) -> list[Any]:
    """The keys that are too large for one bucket and may be cut by time; one pass over the events, or none."""
    from pyspark.sql import functions as F

    keyed = [part for part in plan.parts if part.scheme == KEY and part.window is not None]
    if not keyed or plan.buckets < 2:
        return []
    counted = events.groupBy(_key(keyed[0], streams, columns).alias("key")).count()
    total = counted.agg(F.sum("count")).first()
    if total is None or total[0] is None:
        return []
    least = HOT_SHARE * total[0] / plan.buckets
    hot = counted.where(F.col("key").isNotNull() & (F.col("count") > least))
    return [row[0] for row in hot.orderBy(F.desc("count"), "key").limit(HOT_MAX).collect()]


def numbered(
    events: DataFrame,
    plan: Plan,
    cuts: Sequence[Point],
    hot: Sequence[Any],
    streams: Streams,
    columns: Columns,
    reads: Mapping[Part, frozenset[str]],
) -> DataFrame:
    """The events, one row for each cell that reads it, with the number of the cell in the column CELL."""
    from pyspark.sql import functions as F

    found: list[Column] = []
    offset = 0
    for part in plan.parts:
        read = F.col("stream").isin(sorted(reads[part]))
        if part.scheme == KEY:
            own, size = _by_key(part, plan, cuts, hot, offset, streams, columns)
        else:
            stretches = len(cuts) + 1 if part.sliced else 1
            size = stretches * len(part.groups)
            begins = [offset + group * stretches for group in range(len(part.groups))]
            own = F.concat(*[_slices(begin, cuts if part.sliced else (), part.window) for begin in begins])
        found.append(F.when(read, own).otherwise(F.array().cast("array<int>")))
        offset += size
    return events.withColumn(CELL, F.explode(F.concat(*found)))


def _by_key(
    part: Part,
    plan: Plan,
    cuts: Sequence[Point],
    hot: Sequence[Any],
    offset: int,
    streams: Streams,
    columns: Columns,
) -> tuple[Column, int]:
    from pyspark.sql import functions as F

    key = _key(part, streams, columns)
    cuts = cuts if part.window is not None else ()
    found = F.array((F.pmod(F.xxhash64(key.cast("string")), F.lit(plan.buckets)) + offset).cast("int"))
    stretches = len(cuts) + 1
    for number, value in enumerate(hot):
        begin = offset + plan.buckets + number * stretches
        found = F.when(key == F.lit(value), _slices(begin, cuts, part.window)).otherwise(found)
    return found, plan.buckets + len(hot) * stretches


def _key(part: Part, streams: Streams, columns: Columns) -> Column:
    """The key of an event, whatever its stream."""
    from pyspark.sql import functions as F

    found = [
        F.when(F.col("stream") == stream, F.col(f"`{columns[stream][streams[stream].schema.position(attribute)]}`"))
        for stream, attribute in part.keys
    ]
    return F.coalesce(*found)


def _slices(begin: int, cuts: Sequence[Point], window: int | None) -> Column:
    """The cells from `begin` on whose slice or overlap contains an event: those between two counts of cuts."""
    from pyspark.sql import functions as F

    if not cuts:
        return F.array(F.lit(begin).cast("int"))
    ordered = sorted(cuts)
    points = ", ".join(f"named_struct('t', {_literal(time)}, 'i', {_literal(number)})" for time, number in ordered)
    reaches = ", ".join(_literal(time + (window or 0)) for time, _ in ordered)
    behind = f"size(filter(array({points}), c -> c.t < time OR (c.t = time AND c.i <= id)))"
    over = f"size(filter(array({reaches}), c -> c < time))"
    return F.expr(f"sequence({begin} + least({over}, {behind}), {begin} + {behind})")


def _literal(number: int) -> str:
    bounded = min(max(number, -(2**63) + 1), 2**63 - 1)
    return f"CAST({bounded} AS BIGINT)"
