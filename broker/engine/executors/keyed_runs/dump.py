"""Runs as plain data and back.

A run names its place by an address that depends only on the order of the subscriptions, so that another process finds
the same state in its program. Rows that runs share are written once.

Here: that form. Not here: the address of a place (runs).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...matches.sources import Lineage, flattened
from ...program.transition import Place
from .cells import UNTOUCHED, Run


def dumped(runs: Sequence[Run], places: Sequence[Place]) -> Any:
    """The runs as plain data. O(runs)."""
    rows: dict[int, int] = {}
    table: list[Any] = []

    def row_number(row: tuple[Any, ...]) -> int:
        number = rows.get(id(row))
        if number is None:
            number = rows[id(row)] = len(table)
            table.append(row)
        return number

    addresses = {id(place): number for number, place in enumerate(places)}
    written = [
        [
            addresses[id(run.place)],
            row_number(run.row),
            [[row_number(s)] if isinstance(s, tuple) else s for s in run.slots],
            run.t0,
            run.t1,
            run.born,
            run.limit,
            None if run.touched == UNTOUCHED else run.touched,
            run.trace,
            None if run.lineage is None else flattened(run.lineage),
        ]
        for run in runs
    ]
    return {"rows": table, "runs": written}


def loaded(content: Any, places: Sequence[Place]) -> list[Run]:
    """The inverse."""
    return [_run(record, places, content["rows"]) for record in content["runs"]]


def _run(record: Sequence[Any], places: Sequence[Place], rows: Sequence[Any]) -> Run:
    number, row, slots, t0, t1, born, limit, touched, trace, ids = record
    lineage: Lineage = None
    for item in ids or ():
        lineage = (lineage, item)
    kept = tuple([rows[s[0]] if isinstance(s, tuple) else s for s in slots])
    run = Run(places[number], rows[row], kept, t0, t1, born, trace, lineage)
    run.limit = limit
    if touched is not None:
        run.touched = touched
    return run
