"""An engine as bytes and back: definitions, runs, and what the open epoch has counted.

The program is not saved: it is built again from the subscriptions' text. A run names its place by an address that
depends on the subscriptions' order alone, so that it finds the same state in the program of another process. Format:
one msgpack map; a version that does not fit is refused. Nothing is evaluated.

Here: that format. Not here: files, when to take one (storage).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..events.errors import DefinitionError
from ..events.schema import Schema
from ..events.stream import StreamDefinition
from ..language.subscription import SubscriptionDefinition
from . import suspensions
from .catalog import Catalog, PublishedStream
from .cells import UNTOUCHED, Lineage, Run, flattened, live_runs
from .dispatch.composites import snapshot as composite_snapshot
from .dispatch.kleene import snapshot as kleene_snapshot
from .dispatch.ordered import OrderedRuntime
from .explanation import path
from .forecasts import snapshot as forecast_snapshot
from .forms import Parsed
from .index.spaces import waiting_key
from .program import Program
from .results import Results
from .transition import Place

FORMAT: Final = 5
MAGIC: Final = "foretell engine"


def save(catalog: Catalog, runtime: OrderedRuntime, events: int, matches: int) -> bytes:
    """Everything that later results depend on. O(runs)."""
    rows: dict[int, int] = {}
    table: list[Any] = []

    def row_number(row: tuple[Any, ...]) -> int:
        number = rows.get(id(row))
        if number is None:
            number = rows[id(row)] = len(table)
            table.append(row)
        return number

    addresses = {id(place): number for number, place in enumerate(_addressed(catalog, runtime.program))}
    live = live_runs(runtime.cells, runtime.now)
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
        for run in live
    ]
    tally = runtime.results.tally_after(runtime.now)
    content = {
        "magic": MAGIC,
        "format": FORMAT,
        "streams": [
            [s.name, s.schema.declared(), s.key, s.disorder, s.lateness, s.speculation]
            for s in catalog.streams.values()
        ],
        "published": [[name, p.schema.declared(), p.readers] for name, p in catalog.published.items()],
        "subscriptions": [
            [d.name, d.language, d.query, d.lineage, d.report, d.forecast, s.since]
            for s in catalog.subscriptions.values()
            for d in [s.definition()]
        ],
        "now": runtime.now,
        "promised": runtime.promised,
        "events": events,
        "matches": matches,
        "begun": runtime.begun,
        "rows": table,
        "runs": runs,
        "composites": composite_snapshot.save(runtime.program.composites),
        "kleenes": kleene_snapshot.save(runtime.program.kleenes),
        "suspensions": suspensions.save(catalog, runtime.program),
        "forecasts": forecast_snapshot.save(
            runtime.program.forecasts, {id(run): number for number, run in enumerate(live)}
        ),
        "tally": [[*entry, count] for entry, count in tally.items()],
    }
    import msgpack  # here and below: an engine that only matches does without it

    packed: bytes = msgpack.packb(content, use_bin_type=True)
    return packed


def restore(
    data: bytes, catalog: Catalog, runtime: OrderedRuntime, install: Callable[[Parsed, int], None]
) -> tuple[int, int]:
    """Fill an engine's empty parts: how many events and matches there were.

    `install` puts a subscription in force as of a time. Raises DefinitionError where the bytes are no snapshot of this
    format.
    """
    content = _unpacked(data)
    try:
        for name, attributes, key, disorder, lateness, speculation in content["streams"]:
            catalog.declare(StreamDefinition(name, Schema.declare(attributes), key, disorder, lateness, speculation))
        for name, attributes, _ in content["published"]:
            catalog.published[name] = PublishedStream(Schema.declare(attributes))
        suspension = content.get("suspensions", ((), ()))  # older ones have none
        catalog.withdrawn = suspensions.withdrawn(suspension)
        composites = runtime.program.composites
        composites.seating = composite_snapshot.seating(content["composites"])
        kleenes = runtime.program.kleenes
        kleenes.seating = kleene_snapshot.seating(content["kleenes"])
        for name, language, query, lineage, report, forecast, since in content["subscriptions"]:
            wanted = _plain(forecast)
            install(catalog.parse(SubscriptionDefinition(name, language, query, lineage, report, wanted)), since)
        composite_snapshot.restore(content["composites"], composites)
        kleene_snapshot.restore(content["kleenes"], kleenes)
        suspensions.restore(suspension, runtime.program)
        runtime.now = content["now"]
        runtime.promised = content["promised"]
        runtime.begun = content["begun"]
        if runtime.now is not None:
            tally = {(name, branch, trace): count for name, branch, trace, count in content["tally"]}
            runtime.results = Results([runtime.now], [()], [0], [runtime.now], tally)
        places = _addressed(catalog, runtime.program)
        runs = [_run(record, places, content["rows"]) for record in content["runs"]]
        for run in runs:
            runtime.insert(run, waiting_key(run.place.key, run.row, run.slots))
        forecast_snapshot.restore(content["forecasts"], runtime.program.forecasts, runs)
        return content["events"], content["matches"]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise DefinitionError(f"expected a snapshot of an engine, found one that is damaged: {error}") from None


def _plain(value: Any) -> Any:
    """Lists where msgpack gives tuples: as the user has written it."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _unpacked(data: bytes) -> dict[str, Any]:
    import msgpack

    try:
        content = msgpack.unpackb(data, use_list=False, strict_map_key=False, raw=False)
    except (ValueError, msgpack.UnpackException) as error:
        raise DefinitionError(f"expected a snapshot of an engine, found bytes that are none: {error}") from None
    if not isinstance(content, dict) or content.get("magic") != MAGIC:
        raise DefinitionError("expected a snapshot of an engine, found something else")
    if content.get("format") != FORMAT:
        raise DefinitionError(f"expected a snapshot of format {FORMAT}, found format {content.get('format')!r}")
    return content


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


def _addressed(catalog: Catalog, program: Program) -> list[Place]:
    """Every place of the program, in an order that only the subscriptions' order decides."""
    found: dict[int, Place] = {}
    for service in catalog.services():
        for node in path(service.end.node):
            place = program.places[node.number]
            found.setdefault(id(place), place)
    for subscriber in catalog.subscriptions.values():
        for recipe in () if subscriber.name in catalog.withdrawn else subscriber.form.recipes:
            family = None if recipe is None else program.bulk.place(recipe, subscriber.literals)
            if family is not None:
                found.setdefault(id(family), family)
    return list(found.values())
