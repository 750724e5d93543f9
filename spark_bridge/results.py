"""The table of results: a row for each, with the JSON line that `foretell run` writes.

Here: columns and rows. Not here: which results there are (cells), where tables are stored (output).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from broker.engine import Match
from broker.engine.notices import Forecast, Resolution

BATCH_ROWS: Final = 4_096
"""The most rows of a record batch, which bounds the results that a worker holds."""

MATCH_SCHEMA: Final = pa.schema(
    [
        ("subscription", pa.string()),
        ("kind", pa.string()),  # match, forecast, resolution or incomplete
        ("id", pa.string()),  # the broker's
        ("start", pa.int64()),  # microseconds; of a match alone
        ("end", pa.int64()),  # the time of the result
        ("lineage", pa.list_(pa.int64())),  # null if the subscription does not want it
        ("line", pa.string()),  # the whole result in JSON
        ("time", pa.int64()),  # this and the following: of forecasts and resolutions
        ("state", pa.int64()),
        ("probability", pa.float64()),
        ("within", pa.string()),  # the horizon as the subscription writes it
        ("forecast", pa.string()),  # of a resolution: the id of the forecast
        ("outcome", pa.string()),  # true, false or censored
    ]
)
"""Matches, forecasts, resolutions and `incomplete`s. Only `line`, `subscription`, `kind`, `id` and `end` are never
null."""

_ENCODE: Final = json.JSONEncoder().encode


def row_of(match: Match) -> tuple[Any, ...]:
    """A result's values in the order of MATCH_SCHEMA. O(its size)."""
    notice, line = match.notice, _ENCODE(match.line())
    if isinstance(notice, Forecast):
        told: tuple[Any, ...] = (notice.time, notice.state, notice.probability, str(notice.within), None, None)
        return (match.subscription, "forecast", match.id, None, notice.time, notice.lineage, line, *told)
    if isinstance(notice, Resolution):
        outcome = notice.outcome if isinstance(notice.outcome, str) else _ENCODE(notice.outcome)
        told = (notice.time, None, None, None, notice.forecast, outcome)
        return (match.subscription, "resolution", match.id, None, notice.time, None, line, *told)
    start = match.start if match.kind == "match" else None
    rest = (None,) * 6
    return (match.subscription, match.kind, match.id, start, match.end, match.lineage, line, *rest)


def batches_of(rows: Iterable[tuple[Any, ...]], schema: pa.Schema = MATCH_SCHEMA) -> Iterator[pa.RecordBatch]:
    """Rows as record batches of a schema, in order; each is yielded as soon as it is full."""
    held: list[tuple[Any, ...]] = []
    for row in rows:
        held.append(row)
        if len(held) == BATCH_ROWS:
            yield batch_of(held, schema)
            held = []
    if held:
        yield batch_of(held, schema)


def batch_of(rows: list[tuple[Any, ...]], schema: pa.Schema = MATCH_SCHEMA) -> pa.RecordBatch:
    """At least one row, as one record batch with exactly the schema's types."""
    columns = [pa.array(column, type_) for column, type_ in zip(zip(*rows), schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
