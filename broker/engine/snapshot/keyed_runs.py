"""The runs of keyed states, and what the open epoch has counted.

A run names its place by an address that depends on the subscriptions' order alone, so that it finds the same state in
the program of another process. Rows that runs share are written once.

Here: those sections. Not here: machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..executors.keyed_runs.cells import UNTOUCHED, Run
from ..executors.matches import Lineage, flattened
from ..explanation import path
from ..index.spaces import waiting_key
from ..results import Results
from ..transition import Place
from .state import EngineState


def save(state: EngineState) -> Any:
    """O(runs)."""
    rows: dict[int, int] = {}
    table: list[Any] = []

    def row_number(row: tuple[Any, ...]) -> int:
        number = rows.get(id(row))
        if number is None:
            number = rows[id(row)] = len(table)
            table.append(row)
        return number

    addresses = {id(place): number for number, place in enumerate(_addressed(state))}
    runs = [
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
        for run in state.runs
    ]
    return {"rows": table, "runs": runs}


def restore(state: EngineState, content: Any) -> None:
    """Once all subscriptions are there."""
    places = _addressed(state)
    state.runs = [_run(record, places, content["rows"]) for record in content["runs"]]
    for run in state.runs:
        state.runtime.runs.insert(run, waiting_key(run.place.key, run.row, run.slots))


def _run(record: Sequence[Any], places: list[Place], rows: Sequence[Any]) -> Run:
    number, row, slots, t0, t1, born, limit, touched, trace, ids = record
    lineage: Lineage = None
    for item in ids or ():
        lineage = (lineage, item)
    kept = tuple([rows[s[0]] if isinstance(s, tuple) else s for s in slots])
    run = Run(places[number], rows[row], kept, t0, t1, born, limit, trace, lineage)
    if touched is not None:
        run.touched = touched
    return run


def _addressed(state: EngineState) -> list[Place]:
    """Every place of the program, in an order that only the subscriptions' order decides."""
    catalog, program = state.catalog, state.program
    found: dict[int, Place] = {}
    for service in catalog.services():
        for node in () if service.end is None else path(service.end.node):
            place = program.places[node.number]
            found.setdefault(id(place), place)
    for subscriber in catalog.subscriptions.values():
        for recipe in () if subscriber.name in catalog.withdrawn else subscriber.form.recipes:
            family = None if recipe is None else program.bulk.place(recipe, subscriber.literals)
            if family is not None:
                found.setdefault(id(family), family)
    return list(found.values())


def save_epoch(state: EngineState) -> Any:
    runtime = state.runtime
    tally = runtime.results.tally_after(runtime.now)
    return {
        "now": runtime.now,
        "promised": runtime.promised,
        "events": state.events,
        "matches": state.matches,
        "begun": runtime.runs.begun,
        "tally": [[*entry, count] for entry, count in tally.items()],
    }


def restore_epoch(state: EngineState, content: Any) -> None:
    runtime = state.runtime
    state.events, state.matches = content["events"], content["matches"]
    runtime.runs.now, runtime.promised, runtime.runs.begun = content["now"], content["promised"], content["begun"]
    if runtime.now is not None:
        tally = {(name, branch, trace): count for name, branch, trace, count in content["tally"]}
        runtime.results = Results([runtime.now], [()], [0], [runtime.now], tally)
