"""The benchmark of register automata measures what it says: every case runs, and lateness changes no result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.afa import contests, rivals, rivals_trial, trial, workloads
from benchmarks.builds import UNCOMPILED, Build
from benchmarks.measuring import ROOT, BenchmarkError, Effort
from benchmarks.questions import afa, afa_figures
from benchmarks.questions.afa_figures import Points

EVENTS = 400
CASES = afa.cases(EVENTS)


@pytest.mark.parametrize("name", [name for name in CASES if name != "memory"])
def test_every_case_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "PASSES", 1)
    monkeypatch.setattr(trial, "unit_seconds", lambda batches: 1.0)
    monkeypatch.setattr(trial, "BATCHES", 1)
    found = trial.measure(json.loads(json.dumps(CASES[name])))
    assert found["events"] == CASES[name]["events"]
    late = CASES[name].get("late", 0.0)
    if late and "lineage" not in name:
        again = trial.measure({**CASES[name], "late": 0.0})
        assert found["inserted"] - found["retracted"] == again["inserted"]


def test_prices_go_up_as_often_as_asked() -> None:
    events = workloads.rows(10_000, 0.7)
    assert 0.68 < sum(1 for row in events if isinstance(row[1], float) and row[1] > 0) / len(events) < 0.72


def test_late_events_are_a_share_and_none_is_lost() -> None:
    came = workloads.arrivals(workloads.rows(10_000), 0.2)
    assert sorted(time for time, _ in came) == list(range(1, 10_001))
    newest, late = 0, 0
    for time, _ in came:
        late += time < newest
        newest = max(newest, time)
    assert 0.18 < late / len(came) < 0.22


def test_other_ways_leave_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """`contests` raises where they do not; here, that there is something to compare, and what each withdraws."""
    monkeypatch.setattr(rivals_trial, "unit_seconds", lambda batches: 1.0)
    monkeypatch.setattr(rivals_trial, "BATCHES", 1)
    found: dict[str, rivals_trial.ContestFigures] = {}
    for group, jobs in afa.rivals(10 * EVENTS).items():
        asked = json.loads(json.dumps(list(jobs.values())))
        found |= (own := dict(zip(jobs, rivals_trial.measure(asked, 1, None))))
        contests._agree(group, jobs, own)
    assert all(figures["left"] > 0 for name, figures in found.items() if not name.startswith("Q3"))
    assert found["Q2, 20% late, numbered"]["retracted"] == 0 < found["Q2, 20% late, repair"]["retracted"]
    assert found["Q2, 20% late, repair"]["retracted"] <= found["Q2, 20% late, two passes"]["retracted"]
    told = [found[name] for name in found if ", told " in name and not name.endswith("at once")]
    assert told[0]["retracted"] == 0
    assert told[0]["waited"] > told[-1]["waited"]
    assert found["Q2, 20% late, told at once"]["waited"] < 1


def test_a_rival_that_finds_something_else_is_an_error() -> None:
    jobs = afa.rivals(EVENTS)["late"]
    one, other = jobs
    figures = rivals_trial.measure([jobs[one]], 0, None)[0]
    with pytest.raises(BenchmarkError, match="other results are left"):
        contests._agree("late", jobs, {one: figures, other: {**figures, "checksum": "other"}})


def test_words_that_turn_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    job = rivals_trial.Contest(contestant="restart", query="Q3", events=EVENTS, within=500, changes=10)
    word = rivals.word
    monkeypatch.setattr(rivals, "word", lambda letters: word("u" * len(letters)))
    with pytest.raises(BenchmarkError, match="words"):
        rivals_trial.measure([job], 0, None)


def test_each_figure_is_drawn_with_its_statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(afa_figures, "contests", _small)
    answer = afa_figures._asked(Effort(1, 1, 4_000, 1, 1), lambda text: None, Build(UNCOMPILED, str(ROOT)))
    assert {row["figure"] for row in answer["statements"]} == {8, 9, 10, 11, 12, 13, 16, 17}
    assert afa_figures.table(answer).row_count == len(answer["statements"]) + len(answer["cases"])
    answer |= {"machine": {"cpu": "none"}, "versions": {"python": ""}, "commit": "", "date": ""}
    drawn = afa_figures.plot(answer, tmp_path)
    assert len(drawn) == 8
    assert all(path.stat().st_size > 1_000 for path in drawn)


def _small(named: dict[str, dict[str, rivals_trial.Contest]], *rest: object) -> dict[str, dict[str, object]]:
    """Each contest as small as can be, and not timed."""
    return {
        group: {
            name: {**rivals_trial.measure([{**job, "events": 40}], 0, None)[0], "cpu": [1.0], "unit": 1.0}
            for name, job in jobs.items()
        }
        for group, jobs in named.items()
    }


def test_statements_can_fail() -> None:
    flat: Points = {line: dict.fromkeys((0, 1, 5, 10, 20, 90, 10_000), 1.0) for line in ("AFA", "AFA+O", "AFA+ignore")}
    flat |= dict.fromkeys(("CAN", "static", "dynamic arcs", "restart", "I = 70%", "I = 90%"), flat["AFA"])
    held = [holds(flat) for figure in afa_figures.paper_figures(100) for _, holds in figure.says]
    assert 0 < sum(held) < len(held)
