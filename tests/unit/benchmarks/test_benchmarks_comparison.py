"""Two builds are compared on the same loads: the trial runs them, counts are read, answers are kept and shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import compare
from benchmarks.comparison import counting, page, through_broker, trial
from benchmarks.comparison.loads import READ, Load, loads
from benchmarks.comparison.phases import Phases
from benchmarks.ticks import market

WARM, TIMED = 200, 300


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return dict(loads(market(WARM + TIMED + READ), WARM + TIMED + READ, {}))


@pytest.mark.parametrize("name", ["W1", "W3", "letters", "composites N=100 with forecasts", "flights with forecasts"])
def test_a_trial_runs_a_load(name: str, made: dict[str, Any], tmp_path: Path) -> None:
    load: Load = made[name]()
    file = tmp_path / "load"
    load.write(file, WARM)
    found = trial.measure({"load": str(file)})
    assert found["times"]["event"] == TIMED
    assert found["times"]["subscribe"] == 0, "the first ones pay for the parser"
    assert (found["times"]["answer"] > 0) == bool(load.within)
    assert set(found["seconds"]) == {phase for phase in found["times"] if phase != "answer" or load.within}
    if name != "flights with forecasts":
        assert found["matches"] > 0
    assert trial.measure({"load": str(file)})["digest"] == found["digest"]


def test_data_that_nobody_has_is_left_out(made: dict[str, Any]) -> None:
    assert "stocks with forecasts" not in made
    data = {"stocks": Path("there")}
    assert "stocks with forecasts" in loads(market(10), 10, data)


def test_phases_add_up_without_a_library() -> None:
    phases = Phases()
    for _ in range(2):
        with phases.phase("a"):
            pass
    assert list(phases.seconds) == ["a"]


def test_the_dumps_of_a_phase_are_added(tmp_path: Path) -> None:
    for number, (phase, total) in enumerate([("event", 3), ("match", 5), ("event", 4)], 1):
        text = f"desc: Trigger: Client Request: {phase}\nevents: Ir\ntotals: {total}\n"
        (tmp_path / f"{counting.DUMP}.{number}").write_text(text)
    (tmp_path / f"{counting.DUMP}.4").write_text("desc: Trigger: Program termination\ntotals: 100\n")
    assert counting.instructions(tmp_path) == {"event": 7, "match": 5}


def test_without_dumps_nothing_is_counted() -> None:
    counter = counting.Counter(0, None)
    counter.begin()
    assert counter.end() == 0


def answer(builds: list[str], load: str, ratio: float) -> dict[str, Any]:
    counted = {"load": load, "of": "event", "each": [1000, 1000 * ratio], "ratio": ratio}
    spread = {"least": 1.0, "median": 1.5, "most": 2.0}
    timed = {"load": load, "of": "event", "each": [spread, spread], "ratio": spread}
    where = {"machine": {"cpu": "C", "cores": 2}, "versions": {"python": "P"}, "date": "2026-01-01"}
    return {**where, "builds": builds, "repetitions": 7, "counted": [counted], "timed": [timed]}


def test_an_answer_is_kept_beside_others_of_the_same_builds(tmp_path: Path) -> None:
    file = tmp_path / "builds.json"
    builds = ["a", "b"]
    first = answer(builds, "W1", 1.0)
    assert compare.merged(first, file) == first
    file.write_text(json.dumps(first))
    both = compare.merged(answer(builds, "W2", 1.1), file)
    assert [row["load"] for row in both["counted"]] == ["W1", "W2"]
    again = compare.merged({**answer(builds, "W1", 0.9), "timed": [], "repetitions": 0}, file)
    assert [row["ratio"] for row in again["counted"]] == [0.9]
    assert again["timed"] == first["timed"]
    assert again["repetitions"] == 7
    assert compare.merged(answer(["a", "c"], "W2", 1.1), file)["counted"] != both["counted"]


def test_an_answer_is_shown() -> None:
    shown = answer(["a", "b"], "W1", 1.04)
    assert compare.table(shown).row_count == 1
    assert "| W1 | event | 1,000 | 1,040.0 | 1.040 | 1.5 | 1.5 | 1.000 / 1.500 / 2.000 |" in page.table(shown)
    assert "us" not in page.table({**shown, "timed": []})


def test_the_page_shows_what_was_measured() -> None:
    shown = page.PAGE.read_text(encoding="utf-8")
    assert page.written(shown) == shown, "run python -m benchmarks.comparison.page"
    assert all(f"<!-- {name} -->\n" in shown for name in page.MARKS)


def test_the_broker_is_asked_for_both_rates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = {"busy_count": 5.0, "paced_count": 6.0, "busy_seconds": {"broker": 0.3}, "paced_seconds": {"broker": 0.6}}
    asked: list[dict[str, Any]] = []

    def trial(_: str, job: dict[str, Any], **__: object) -> dict[str, Any]:
        asked.append(job)
        return said

    monkeypatch.setattr(through_broker, "trial", trial)
    trials = through_broker.BrokerTrials("broker, 100 events, journal")
    assert trials.counted(tmp_path, tmp_path) == {"message": 5.0, "message at half": 6.0}
    assert trials.timed(tmp_path) == pytest.approx({"message": 100.0, "message at half": 200.0})
    assert asked[0]["dumps"] == str(tmp_path)
    assert asked[1]["fsync"] == "os"
