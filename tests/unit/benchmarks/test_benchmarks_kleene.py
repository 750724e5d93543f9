"""Benchmarks of SASE+ measure what they say: truths, the rival and every switch agree, at small sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgpack
import pytest

from benchmarks.kleene import memory, naive, queries, temperatures, trial, truth
from benchmarks.kleene.rival import NAIVE
from benchmarks.measuring import BenchmarkError, Effort, Spread
from benchmarks.questions import kleene
from benchmarks.targets import KLEENE_SWITCH, KLEENE_VARIANTS
from benchmarks.ticks import Market, market, packed

TICKS = 1_500
EFFORT = Effort(market=TICKS, warm=500, events=1_000, repetitions=1, subscriptions=300)


@pytest.fixture(scope="module")
def stocks() -> Market:
    return market(TICKS)


@pytest.fixture(scope="module")
def asked(stocks: Market) -> dict[str, kleene.Case]:
    return kleene.cases(stocks, EFFORT)


def measured(stocks: Market, case: kleene.Case) -> trial.Figures:
    with kleene.written(stocks, EFFORT) as files:
        return trial.measure(json.loads(json.dumps(case.job(files, 5, NAIVE))))


NAMES = (
    *("W3 W=500", "W3 W=5,000", "max W=500", "max W=5,000", "buffer on, letters"),
    *("buffer off, letters", "buffer on, climbs", "buffer off, climbs", "letters k=20", "variants"),
    "rare variants",
    *("pairs few", "pairs many", "cel", "pairs and cel"),
)


@pytest.mark.parametrize("name", NAMES)
def test_the_engine_finds_what_the_plain_loops_find(stocks: Market, asked: dict[str, kleene.Case], name: str) -> None:
    assert 0 < asked[name].matches == measured(stocks, asked[name])["matches"]


@pytest.mark.parametrize("name", ["W3 W=500", "W3 W=5,000", "max W=500", "max W=5,000"])
def test_the_naive_rival_finds_the_same_events(stocks: Market, asked: dict[str, kleene.Case], name: str) -> None:
    own, rival = measured(stocks, asked[name]), measured(stocks, asked[f"naive {name}"])
    assert own["matches"] == rival["matches"] == asked[name].matches
    assert own["read_matches"] == rival["read_matches"] > 100
    assert own["digest"] == rival["digest"]
    kleene.checked(f"naive {name}", asked[f"naive {name}"], {name: [own], f"naive {name}": [rival]})


def test_every_trial_is_tested(asked: dict[str, kleene.Case]) -> None:
    assert {name for name in asked if not name.startswith("naive")} == set(NAMES)


def test_other_matches_than_those_of_the_plain_loops_are_refused() -> None:
    figures: Any = {"matches": 3, "digest": "x"}
    others: Any = figures | {"digest": "y"}
    case = kleene.Case({}, 3, like="other")
    with pytest.raises(BenchmarkError, match="3 matches, a plain loop finds 4"):
        kleene.checked("it", kleene.Case({}, 4), {"it": [figures]})
    with pytest.raises(BenchmarkError, match="are not those of other"):
        kleene.checked("it", case, {"it": [figures], "other": [others]})


def test_plain_truths_on_events_counted_by_hand() -> None:
    ticks = [("S", price, volume) for price, volume in ((100.0, 1010), (120.0, 990), (120.0, 1005), (121.0, 999))]
    ticks += [("S", 120.0, 999), ("S", 125.0, 750), ("S", 120.0, 950), ("S", 120.0, 700)]
    assert truth.query_3(ticks, 100) == 3, "the worked example of the paper's Query 3"
    assert truth.query_3(ticks, 6) == 2, "the last one spans seven"
    assert truth.query_3(ticks, 100, percents=[1.0, 80.0]) == 3, "none drops to a hundredth"
    letters = [("K", 1.0, kind) for kind in (queries.A, queries.A, queries.OTHER, queries.B)]
    assert [truth.letters(letters, within) for within in (1, 2, 3)] == [0, 1, 3]
    climbs = [("S", price, volume) for price, volume in ((1.0, 100), (2.0, 100), (3.0, 100), (1.0, 9))]
    assert truth.climbs(climbs, 3) == 7, "all subsets of three rising prices"
    assert truth.climbs(climbs, 2) == 3
    pair = queries.Pair("S", 1.0, 2.0)
    assert pair.top == 3.0
    assert truth.pairs([("S", price, 1) for price in (1.5, 1.0, 5.0, 2.5, 3.0)], [pair]) == 2


def test_the_naive_rival_skips_where_it_may() -> None:
    made = naive.Naive(naive.query_of("letters", 3))
    rows = [("K", 1.0, kind) for kind in (queries.A, queries.A, queries.OTHER, queries.B)]
    assert sorted(match.lineage() for match in made.publish([1, 2, 3, 4], rows)) == [[1, 2, 4], [1, 4], [2, 4]]


def test_memory_is_looked_at_ten_times(stocks: Market, tmp_path: Path) -> None:
    file = tmp_path / "ticks.msgpack"
    file.write_bytes(msgpack.packb(packed(stocks.ticks)))
    found = memory.measure({"ticks": str(file), "events": 2 * TICKS, "subscriptions": {"q": queries.query_3(100)}})
    assert (found["events"], len(found["bytes"]), len(found["runs"])) == (2 * TICKS, 10, 10)
    once, twice = truth.query_3(stocks.ticks, 100), truth.query_3([*stocks.ticks, *stocks.ticks], 100)
    assert once < found["matches"] == twice, "the ticks go on where they begin again"


def test_growth_is_that_of_the_later_looks() -> None:
    assert kleene._grown([10, 30, 40, 41, 39, 44, 40, 40, 42, 40]) == 1.1
    assert KLEENE_VARIANTS.reached(Spread(1, 4, 9)) == "must"
    assert [KLEENE_SWITCH.reached(Spread(1, times, 9)) for times in (5, 3, 1)] == ["aim", "must", "no"]


def test_hot_days_in_a_row() -> None:
    """Stations take turns; seven hot days in a row are three matches, two of which overlap the first."""
    days = [(day, station, 90.0) for day in range(7) for station in ("A", "B")]
    days += [(7, "A", 60.0), (8, "A", 90.0), *((day, "B", 90.0) for day in range(7, 10))]
    found = temperatures.published(days)
    assert (found["events"], found["matches"]) == (len(days), {"all": 3 + 6, "nonoverlap": 1 + 2})


def test_rows_are_judged_and_shown(stocks: Market, asked: dict[str, kleene.Case]) -> None:
    from benchmarks.builds import UNCOMPILED, Build

    figures: Any = {"cpu": 1.0, "events": 1_000_000, "unit": 1e-7, "read": 1.0, "read_matches": 10}
    found = {name: [figures] for name in asked}
    rows = list(kleene._rows(asked, found, [Build(UNCOMPILED, "")], [{"bytes": [1] * 10, "events": 10}]))
    reached = {row["name"]: row["reached"] for row in rows}
    assert reached["W3 W=500: an event"] == "aim"
    assert reached["W3 W=500: over the naive rival"] == "no"
    [wide] = [name for name in reached if name.startswith("variants of Query 3")]
    assert reached[wide] == "-", "fewer than the target speaks of"
    shown = kleene.table({"cases": rows})
    assert shown.row_count == len(rows)
