"""The question what windows cost, and who is faster at them: Foretell, DuckDB, Flink SQL or a plain loop.

Each contestant is a process of its own, all take turns on the same file, and all must find as many windows, with the
same sum of their sums. Here: who is asked what, and the comparison. Not here: workloads and loops (benchmarks.windows).
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from .. import targets
from ..builds import builds
from ..measuring import BenchmarkError, Effort, Say, Spread, taken_in_turn, trial
from ..report import spread
from ..rivals import duckdb, flink
from ..ticks import Tick, market, to_csv
from ..windows.workloads import (
    AGGREGATES,
    ASLEEP,
    COLUMNS,
    DISORDERED,
    DORMANT,
    FAMILIES,
    FAMILY,
    KEYS,
    LATE,
    STRANGER,
    TOGETHER,
    TOUCHED,
    WORKLOADS,
    Workload,
    dormant,
    family,
)
from .cases import MICRO, workload
from .question import Question

OURS, READ, LOOP, DUCKDB, FLINK = "Foretell", "Foretell, all results read", "a plain loop", "DuckDB", "Flink SQL"
IN_COLUMNS = f"Foretell, columns of {COLUMNS:,}"
EACH, AT_ONCE = "each alone", "at once"
ALONE, MANY = "one", "many"
IN_ORDER, DISORDER = "in order", "in disorder"
PASSES: Final = 3
CLOSE: Final = 1e-9  # relative: running sums of floats differ in their last digits
SHORT, LONG = "slide 100 by 1", "slide 10,000 by 1"


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all. A rival that cannot be installed is named in `missing`, with the reason; the others are measured.

    Raises BenchmarkError where two contestants find other windows.
    """
    say("making ticks")
    stocks = market(effort.market)
    ticks = stocks.ticks[: effort.events]
    missing: dict[str, str] = {}
    pythons: dict[str, str] = {}
    for name, rival in ((DUCKDB, duckdb.interpreter), (FLINK, flink.interpreter)):
        try:
            pythons[name] = rival(say)
        except BenchmarkError as error:
            missing[name] = str(error)
    with tempfile.TemporaryDirectory(prefix="foretell-benchmark-") as folder, builds(say) as forms:
        files = {by: Path(folder) / f"{by}.csv" for by in ("names", "many", "dormant")}
        to_csv(files["names"], ticks)
        to_csv(files["many"], redrawn(ticks, KEYS))
        to_csv(files["dormant"], redrawn(ticks, DORMANT))
        measurements: dict[tuple[str, str], Callable[[], Any]] = {}
        for name, asked in WORKLOADS.items():
            file = str(files["many" if asked.by == "many" else "names"])
            for who, measure in _contestants(asked, file, pythons, forms[0].folder).items():
                measurements[name, who] = measure
        prices = sorted(price for _, price, _ in ticks)
        members = {ALONE: [prices[len(prices) // 2]]}
        members |= {_of(size): [prices[len(prices) * at // size] for at in range(size)] for size in FAMILY}
        for name, windows in FAMILIES.items():
            for who, few in members.items():
                job = {"ticks": str(files["names"]), "queries": family(windows, few), "passes": PASSES, "read": False}
                measurements[name, who] = partial(trial, "benchmarks.windows.trial", job, folder=forms[0].folder)
        low, high = (prices[len(prices) * share // 4] for share in (1, 3))
        comers = sorted({name for name, _, _ in redrawn(ticks, DORMANT)})
        for name, names in ((ASLEEP, [f"{STRANGER} {at}" for at in range(len(comers))]), (TOUCHED, comers)):
            for who, some in ((ALONE, names[:1]), (MANY, names)):
                job = {"ticks": str(files["dormant"]), "queries": dormant(some, low, high), "passes": 1, "read": False}
                measurements[name, who] = partial(trial, "benchmarks.windows.trial", job, folder=forms[0].folder)
        job = {"ticks": str(files["names"]), "passes": PASSES, "read": False}
        job["queries"] = [WORKLOADS[name].query() for name in TOGETHER]
        measurements[AT_ONCE, OURS] = partial(trial, "benchmarks.windows.trial", job, folder=forms[0].folder)
        for name, (windows, moved) in DISORDERED.items():
            query = Workload(windows, "one", AGGREGATES["sum"]).query()
            for who, share in ((IN_ORDER, 0.0), (DISORDER, LATE)):
                job = {"ticks": str(files["names"]), "queries": [query], "passes": PASSES, "read": True}
                job |= {"moved": moved, "late": share}
                measurements[name, who] = partial(trial, "benchmarks.windows.trial", job, folder=forms[0].folder)
        named = {f"{name}: {who}": measure for (name, who), measure in measurements.items()}
        taken = taken_in_turn(named, effort.repetitions, say)
    found = {key: taken[f"{key[0]}: {key[1]}"] for key in measurements}
    rows = [row for name in WORKLOADS for row in _rows(name, {w: f for (n, w), f in found.items() if n == name})]
    families = [
        _family(name, size, _units(found[name, _of(size)]), _units(found[name, ALONE]))
        for name in FAMILIES
        for size in FAMILY
    ]
    dormants = _dormant({name: _units(found[name, MANY]) for name in (ASLEEP, TOUCHED)}, _units(found[ASLEEP, ALONE]))
    late = [_late(name, found[name, IN_ORDER], found[name, DISORDER]) for name in DISORDERED]
    long, short = (_units(found[name, OURS]) for name in (LONG, SHORT))
    growth = Spread.of(a / b for a, b in zip(long, short))
    sums = [sum(costs) for costs in zip(*(_units(found[name, OURS]) for name in TOGETHER))]
    at_once = _units(found[AT_ONCE, OURS])
    together = {EACH: asdict(Spread.of(sums)), AT_ONCE: asdict(Spread.of(at_once))}
    together["times"] = asdict(Spread.of(a / b for a, b in zip(at_once, sums)))
    return {
        "compiled": forms[0].compiled,
        "workload": workload(stocks, effort),
        "missing": missing,
        "cases": rows,
        "families": families,
        "dormant": dormants,
        "late": late,
        "together": {"names": TOGETHER} | together,
        "growth": asdict(growth) | {"reached": targets.WINDOWS_GROWTH.reached(growth)},
    }


def _of(size: int) -> str:
    """The contestant of a family of so many members."""
    return f"a family of {size:,}"


def _family(name: str, size: int, many: Sequence[float], alone: Sequence[float]) -> dict[str, Any]:
    """What all members cost, in units and as a multiple of what one costs."""
    units, times = Spread.of(many), Spread.of(a / b for a, b in zip(many, alone))
    limit = targets.WINDOWS_FAMILY_UNITS.get(size)
    return {
        "name": name,
        "members": size,
        "units": asdict(units),
        "times": asdict(times),
        "must": None if limit is None else limit.must,
        "reached": targets.WINDOWS_FAMILY.reached(times),
        "reached_in_units": "-" if limit is None else limit.reached(units),
    }


def _dormant(many: Mapping[str, Sequence[float]], alone: Sequence[float]) -> list[dict[str, Any]]:
    """What many subscriptions cost in units: more than one alone, where no event touches any; where each touches one
    of them, more than that."""
    rows: list[dict[str, Any]] = []
    for name, less, target in (
        (ASLEEP, alone, targets.WINDOWS_DORMANT),
        (TOUCHED, many[ASLEEP], targets.WINDOWS_TOUCHED),
    ):
        more = Spread.of(a - b for a, b in zip(many[name], less))
        units = asdict(Spread.of(many[name]))
        rows.append({"name": name, "units": units, "more": asdict(more), "reached": target.reached(more)})
    return rows


def _late(name: str, ordered: Sequence[Mapping[str, Any]], late: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What it costs that events come late, in units and as a multiple of what it costs in order; and how many results
    an event has, withdrawn ones included. Raises BenchmarkError where other windows are left in the end."""
    for one, other in zip(ordered, late):
        if one["windows"] != other["windows"] or abs(one["total"] - other["total"]) > CLOSE * abs(one["total"]):
            raise BenchmarkError(f"{name}: {other['windows']} windows are left, {one['windows']} in order")
    units, costs = _units(ordered), _units(late)
    times = Spread.of(a / b for a, b in zip(costs, units))
    target = targets.WINDOWS_LATE.get(name)
    return {
        "name": name,
        "in_order": asdict(Spread.of(units)),
        "units": asdict(Spread.of(costs)),
        "times": asdict(times),
        "told_per_event": round(late[0]["told"] / late[0]["events"], 3),
        "must": None if target is None else target.must,
        "reached": "-" if target is None else target.reached(times),
    }


def redrawn(ticks: Sequence[Tick], names: int) -> list[Tick]:
    """The same ticks with names drawn uniformly from so many."""
    chance = random.Random(1)
    return [(f"K{chance.randrange(names)}", price, volume) for _, price, volume in ticks]


def _contestants(asked: Workload, file: str, pythons: Mapping[str, str], folder: str) -> dict[str, Callable[[], Any]]:
    job = {"ticks": file, "queries": [asked.query()], "passes": PASSES, "read": bool(asked.loop)}
    found: dict[str, Callable[[], Any]] = {OURS: partial(trial, "benchmarks.windows.trial", job, folder=folder)}
    order: dict[str, Any] = job | {"columns": True, "batch": COLUMNS}
    found[IN_COLUMNS] = partial(trial, "benchmarks.windows.trial", order, folder=folder)
    if asked.loop:
        order = {"ticks": file, "loop": asked.loop, "by": asked.by, "passes": PASSES}
        found[LOOP] = partial(trial, "benchmarks.windows.loops", order)
    if asked.duckdb and DUCKDB in pythons:
        order = {"ticks": file, "query": asked.duckdb, "passes": PASSES}
        found[DUCKDB] = partial(trial, "benchmarks.rivals.duckdb_job", order, pythons[DUCKDB])
    if asked.flink and FLINK in pythons:
        order = {"ticks": file, "query": asked.flink, "passes": PASSES}
        found[FLINK] = partial(trial, "benchmarks.rivals.flink_windows_job", order, pythons[FLINK])
    return found


def _units(figures: Sequence[Mapping[str, Any]]) -> list[float]:
    return [each["cpu"] / each["events"] / each["unit"] for each in figures]


def _rows(name: str, found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """A row a contestant. Raises BenchmarkError where they do not agree."""
    ours = found[OURS]
    for who, figures in found.items():
        for each in figures:
            if each["windows"] != ours[0]["windows"]:
                wanted = ours[0]["windows"]
                raise BenchmarkError(f"{name}: {who} finds {each['windows']} windows, {OURS} {wanted}")
            if who != OURS and abs(each["total"] - ours[0]["total"]) > CLOSE * abs(ours[0]["total"]):
                raise BenchmarkError(f"{name}: {who} adds up to {each['total']!r}, {OURS} to {ours[0]['total']!r}")
    units = Spread.of(_units(ours))
    target = targets.WINDOWS.get(name)
    rows: list[dict[str, Any]] = []
    for who, figures in found.items():
        row = {"name": name, "who": who, "windows": ours[0]["windows"], "checked": len(found) > 1}
        if who == FLINK:  # the passes after the first one have a warm machine
            times = [a - b for each in figures for a, b in list(zip(each["whole"], each["reading"]))[1:]]
        else:
            times = [each["cpu"] for each in figures]
        costs = Spread.of(seconds / ours[0]["events"] * MICRO for seconds in times)
        row["microseconds_per_event"] = asdict(costs)
        if who == OURS:
            row["units_per_event"] = asdict(units)
            row |= {"must": None, "aim": None, "reached": "-"}
            if target is not None:
                row |= {"must": target.must, "aim": target.aim, "reached": target.reached(units)}
        rows.append(row)
        if who == OURS and ours[0]["reading"] is not None:
            times = [each["reading"] for each in ours]
            costs = Spread.of(seconds / ours[0]["events"] * MICRO for seconds in times)
            rows.append({**row, "who": READ, "microseconds_per_event": asdict(costs), "units_per_event": None})
            rows[-1] |= {"must": None, "aim": None, "reached": "-"}
    return rows


def table(answer: dict[str, Any]) -> Table:
    missing = [f"{who} is missing: {reason}" for who, reason in answer["missing"].items()]
    growth = answer["growth"]
    for each in answer["families"]:
        times, units = each["times"]["median"], each["units"]["median"]
        most = "" if each["must"] is None else f", at most {each['must']}"
        missing.append(
            f"{each['members']:,} of {each['name']}: {times:.1f} times one, at most {targets.WINDOWS_FAMILY.must};"
            f" {units:.1f} units{most}"
        )
    for each in answer["dormant"]:
        more, units = each["more"]["median"], each["units"]["median"]
        missing.append(f"{DORMANT:,} of {each['name']}: {units:.1f} units, {more:.1f} more ({each['reached']})")
    for each in answer["late"]:
        most = "" if each["must"] is None else f", at most {each['must']}"
        missing.append(
            f"{each['name']}: {each['times']['median']:.1f} times in order{most}; {each['units']['median']:.1f} units,"
            f" {each['told_per_event']:.2f} results an event"
        )
    together = answer["together"]
    missing.append(
        f"{', '.join(together['names'])} at once: {together[AT_ONCE]['median']:.1f} units,"
        f" {together['times']['median']:.2f} times the sum of each alone"
    )
    told = f"{LONG} over {SHORT}: {growth['median']:.2f} times, at most {targets.WINDOWS_GROWTH.must}"
    shown = Table(caption="\n".join([told, *missing]), caption_justify="left")
    for heading in ("windows", "who"):
        shown.add_column(heading)
    for heading in ("windows found", "us an event", "units an event", "must", "aim", "reached"):
        shown.add_column(heading, justify="right")
    for row in answer["cases"]:
        units = row.get("units_per_event")
        limits = ["" if row.get(name) is None else f"{row[name]:g}" for name in ("must", "aim")]
        shown.add_row(
            row["name"],
            row["who"],
            f"{row['windows']:,}",
            spread(Spread(**row["microseconds_per_event"]), 3),
            spread(Spread(**units), 2) if units else "",
            *limits,
            row.get("reached", ""),
        )
    return shown


QUESTION: Final = Question(
    name="windows",
    text="What do windows cost, and who is faster at them: Foretell, DuckDB, Flink SQL, or a plain loop?",
    bias=(
        "Foretell and the loops have decoded events in memory, in batches of 100; results are made, and in a row of"
        f" their own read, which makes an object with an id of each. Columns come in batches of {COLUMNS:,}.",
        "DuckDB has all events in a table in memory and one thread, and gives one sum of all windows: it neither waits"
        " for events nor tells a window when it is complete. That is a batch over a table: what windows cost at least"
        " where all events are there, not the price of telling each window with the event that completes it.",
        "Flink's windows are its job less a job that only reads and counts the same file, by wall time, of warm passes,"
        " at parallelism 1 with threads of its own; where the difference is small, it tells little.",
        "Sums of the rivals and of the loops are running ones, ours the nearest floats to the exact sums; they must"
        " agree to a billionth.",
        f"Where events come late, {LATE:.0%} of them do, uniformly up to so many places; in order means a stream in any"
        " order, too, whose events happen to come in order.",
        "Ticks come one a microsecond, so that a session of 300 by name is long for frequent names.",
    ),
    ask=ask,
    table=table,
)
