"""The question who is faster: Foretell, Flink SQL's MATCH_RECOGNIZE and a tuned Python loop, on the same file.

Each rival is a process of its own, all take turns, and all must find as many matches as the plain loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from .. import plain_loops, workloads
from ..builds import Build, builds
from ..kleene import queries, truth
from ..measuring import BenchmarkError, Effort, Say, Spread, taken_in_turn, trial
from ..report import spread
from ..rivals import flink
from ..ticks import BATCH, Market, market
from .cases import Case, tick_file, warm_batches, workload
from .question import Question

COUNTS: Final = (1, 10, 100)  # patterns in Flink are operators of a job: thousands are not possible
BATCHES: Final = (1, 10)  # of 100 events
WITHIN: Final = 500  # of W3
PASSES: Final = 3  # in one JVM; the first one is cold
VISIBLE: Final = 0.1  # of the reading job: a smaller difference of two jobs tells nothing
FLINK, LOOP = "Flink SQL", "a tuned Python loop"


@dataclass(frozen=True, slots=True)
class Contest:
    """A workload, as each contestant is told of it: Flink of queries, and how many matches these can find by the end of
    the file; the loop of a job. Without queries Flink has none that means the same.
    """

    case: Case
    queries: Sequence[str]
    found: int
    job: Mapping[str, Any]

    def loop_job(self, ticks: Path) -> dict[str, Any]:
        return {"ticks": str(ticks), "passes": PASSES, **self.job}


def contests(stocks: Market, events: int) -> dict[str, Contest]:
    """W1 to W3, and W4 and W5 with few subscriptions."""
    ticks = stocks.ticks[:events]
    rises, query_3 = plain_loops.w2(ticks), truth.query_3(ticks, WITHIN)
    w1 = Case({"q0": workloads.W1}, plain_loops.w1(ticks), read=0)
    w2 = Case({"q0": workloads.W2}, rises, read=0)
    w3 = Case({"q0": queries.query_3(WITHIN)}, query_3, read=0, language="sase")
    found = {
        "W1": Contest(w1, flink.W1, w1.matches, {"workload": "W1"}),
        "W2": Contest(w2, flink.W2, rises - plain_loops.w2_open(ticks), {"workload": "W2"}),
        f"W3 W={WITHIN}": Contest(w3, (), query_3, {"workload": "W3", "within": WITHIN}),
    }
    for count in COUNTS:
        pairs, boxes = workloads.w4(stocks, count), workloads.w5(stocks, count)
        w4 = Case(workloads.texts(pairs), plain_loops.w4(ticks, pairs), read=0)
        steps = {"workload": "W4", "subscriptions": [[s.symbol, s.above, s.below] for s in pairs]}
        found[f"W4 N={count}"] = Contest(w4, flink.w4(pairs), w4.matches, steps)
        w5 = Case(workloads.texts(boxes), plain_loops.w5(ticks, boxes), read=0)
        sides = {"workload": "W5", "subscriptions": [[s.symbol, s.low, s.high, s.volume] for s in boxes]}
        found[f"W5 N={count}"] = Contest(w5, flink.w5(boxes), w5.matches, sides)
    return found


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all. A rival that cannot be installed is named in `missing`, with the reason; the others are measured.

    Raises BenchmarkError where anybody's matches are not those of the plain loops.
    """
    say("making ticks")
    stocks = market(effort.market)
    events = max(effort.warm + effort.events, effort.market // 5)
    asked = contests(stocks, events)
    missing: dict[str, str] = {}
    python: str | None = None
    try:
        python = flink.interpreter(say)
    except BenchmarkError as error:
        missing[FLINK] = str(error)
    with tick_file(stocks, events, "ticks.csv") as file, builds(say) as forms:
        measurements: dict[str, Callable[[], Any]] = {}
        for name, contest in asked.items():
            for build, batches in product(forms, BATCHES):
                job = replace(contest.case, batches=batches).job(file, warm_batches(effort))
                who = f"{name}, {_ours(build, batches)}"
                measurements[who] = partial(trial, "benchmarks.trial", job, folder=build.folder)
            measurements[f"{name}, {LOOP}"] = partial(trial, "benchmarks.rivals.loop_job", contest.loop_job(file))
            if python is not None and contest.queries:
                order = flink.job(file, contest.queries, PASSES)
                measurements[f"{name}, {FLINK}"] = partial(trial, "benchmarks.rivals.flink_job", order, python)
        found = taken_in_turn(measurements, effort.repetitions, say)
    rows: list[dict[str, Any]] = []
    for name, contest in asked.items():
        for who in (*(_ours(*each) for each in product(forms, BATCHES)), LOOP):
            figures = found[f"{name}, {who}"]
            rates = Spread.of(f["events"] / f["wall"] for f in figures)
            row = _row(name, who, contest, figures, contest.case.matches)
            rows.append(row | {"events_per_second": asdict(rates)})
        if python is not None and contest.queries:
            rows.extend(_flink_rows(name, contest, found[f"{name}, {FLINK}"]))
    workload_told = workload(stocks, effort) | {"events": events}
    return {"compiled": forms[0].compiled, "workload": workload_told, "missing": missing, "cases": rows}


def _ours(build: Build, batches: int) -> str:
    return f"Foretell, {build.name}, batches of {batches * BATCH:,}"


def _row(name: str, who: str, contest: Contest, found: Sequence[Mapping[str, Any]], matches: int) -> dict[str, Any]:
    """The contestant's part without a rate. Raises BenchmarkError where its matches are not the plain loops'."""
    for figures in found:
        if figures["matches"] != matches:
            raise BenchmarkError(f"{name}, {who}: {figures['matches']} matches, a plain loop finds {matches}")
    return {
        "name": name,
        "who": who,
        "subscriptions": len(contest.case.subscriptions),
        "matches": matches,
    }


def _flink_rows(name: str, contest: Contest, found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Cold and warm; matching alone is what the job takes longer than one that only reads and counts.

    Told of warm passes only: of the cold ones, the reading, which comes first, pays for the start.
    """
    rows: list[dict[str, Any]] = []
    for temperature, passes in (("cold", slice(0, 1)), ("warm", slice(1, None))):
        whole = [seconds for figures in found for seconds in figures["whole"][passes]]
        reading = [seconds for figures in found for seconds in figures["reading"][passes]]
        events = found[0]["events"]
        row = _row(name, f"{FLINK}, {temperature}", contest, found, contest.found)
        row |= {
            "job_seconds": asdict(Spread.of(whole)),
            "reading_seconds": asdict(Spread.of(reading)),
            "whole_events_per_second": asdict(Spread.of(events / seconds for seconds in whole)),
        }
        matching = [long - short for long, short in zip(whole, reading)]
        if temperature == "warm" and all(seconds > VISIBLE * short for seconds, short in zip(matching, reading)):
            row["events_per_second"] = asdict(Spread.of(events / seconds for seconds in matching))
        rows.append(row)
    return rows


def table(answer: dict[str, Any]) -> Table:
    missing = [f"{who} is missing: {reason}" for who, reason in answer["missing"].items()]
    shown = Table(caption="\n".join(missing) or None, caption_justify="left")
    shown.add_column("workload")
    shown.add_column("who")
    for heading in ("matches", "events/s, matching", "events/s, with reading"):
        shown.add_column(heading, justify="right")
    for row in answer["cases"]:
        rate, whole = row.get("events_per_second"), row.get("whole_events_per_second")
        shown.add_row(
            row["name"],
            row["who"],
            f"{row['matches']:,}",
            spread(Spread(**rate), 0) if rate is not None else "-",
            spread(Spread(**whole), 0) if whole is not None else "-",
        )
    return shown


QUESTION: Final = Question(
    name="rivals",
    text="Who is faster: Foretell, Flink SQL's MATCH_RECOGNIZE through PyFlink, or a tuned Python loop?",
    bias=(
        "Rates are by wall time; Flink at parallelism 1 still has threads of its own, and may use a second core.",
        "Flink's matching is its job less a job that only reads and counts the same file: what the two share in time"
        " is not seen. It is told of warm passes, and where the difference is a tenth of the reading at least.",
        "N patterns in Flink are N operators of one job, which read the file once; each gets only its symbol's ticks."
        " Its users would not run 10,000 of them; we are made for that, so its rows stop at 100.",
        "Flink's W2 gives a row for the longest run from each first tick, when that has ended, which stands for all"
        " shorter ones. W3 has no query in it: MATCH_RECOGNIZE takes only events that follow each other.",
        "Flink could checkpoint, scale out and take late events here; the loop can do nothing but this workload.",
        "Foretell and the loop have decoded events in memory beforehand; the loop's best of 3 passes counts.",
    ),
    ask=ask,
    table=table,
)
