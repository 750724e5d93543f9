"""The playground without a browser: what a run of it finds, its limits, and its process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from broker.command.playground import trial as trial_module
from broker.command.playground.answering import Answering, answered
from broker.command.playground.examples import EXAMPLES, PlaygroundExample, example_file, example_text
from broker.command.playground.trial import Chosen, tried
from broker.command.playground.worker import PlaygroundProcess
from broker.command.shell import perform

STOCKS: Final = EXAMPLES[0]
MACHINES: Final = """
[streams.Heat]
attributes = { machine = "int", heat = "float" }
key = "machine"

[subscriptions.hot]
language = "cayuga"
query = "FILTER{heat > 1.5 * heat_1}(Heat NEXT{$2.machine = $1.machine} Heat)"
"""


def asked(example: PlaygroundExample = STOCKS, text: str | None = None) -> dict[str, Any]:
    return {
        "text": example_text(example.name) if text is None else text,
        "events": str(example_file(example.events)),
        "stream": example.stream,
        "time": example.time,
        "called": example.events,
    }


@pytest.fixture
def heat(tmp_path: Path) -> str:
    """Six events of two machines; the third of machine 7 is much hotter."""
    rows = ["time,machine,heat", "1,7,50", "2,8,10", "3,7,51", "4,8,11", "5,7,99", "6,8,12"]
    file = tmp_path / "heat.csv"
    file.write_text("\n".join(rows))
    return str(file)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_finds_something_with_each_subscription(example: PlaygroundExample) -> None:
    answering = Answering()
    found = answering.answer({"do": "run", "chosen": asked(example)})
    assert found["findings"] == []
    assert found["trouble"] is None
    assert not found["cut"]
    assert len(found["events"]["id"]) == len(found["events"]["time"]) == len(found["events"]["row"]) > 50
    for each in found["subscriptions"]:
        assert each["counts"]["match"] > 0
        drawn = answering.answer({"do": "diagram", "chosen": asked(example), "subscription": each["name"]})
        assert f"<title>The automaton of {each['name']}</title>" in drawn["svg"]
        assert "<style" not in drawn["svg"]
    by_id = dict(zip(found["events"]["id"], found["events"]["row"]))
    for result in found["results"]:
        assert result["row"] == by_id[result["lineage"][-1]]


def test_results_are_those_of_run(capsys: pytest.CaptureFixture[str]) -> None:
    file, events = str(example_file("stocks.toml")), str(example_file("stocks.csv"))
    perform(["run", file, "--events", events, "--stream", "Stock", "--time", "day", "--with-events"])
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = Answering().answer({"do": "run", "chosen": asked()})["results"]
    assert len(printed) == len(found) > 50
    assert {each["id"]: each["lineage"] for each in printed} == {each["id"]: each["lineage"] for each in found}


def test_every_match_has_reasons_whose_events_are_those_of_its_lineage() -> None:
    answering = Answering()
    for result in answering.answer({"do": "run", "chosen": asked()})["results"][:20]:
        question = {"do": "why", "chosen": asked(), "subscription": result["subscription"], "match": result["id"]}
        found = answering.answer(question)
        steps = [number for step in found["steps"] for number in step["events"]]
        assert steps == result["lineage"]
        assert set(map(str, steps)) <= set(found["values"])
        assert all(condition["holds"] for step in found["steps"] for condition in step["conditions"])


def test_a_gap_in_a_row_asks_about_its_key(heat: str) -> None:
    answering = Answering()
    chosen = asked(text=MACHINES) | {"events": heat, "stream": None, "time": None, "called": "heat.csv"}
    run = answering.answer({"do": "run", "chosen": chosen})
    assert run["rows"] == ["7", "8"]
    assert [each["lineage"] for each in run["results"]] == [[3, 5]]
    question = {"do": "why-not", "chosen": chosen, "subscription": "hot"}
    told = answering.answer({**question, "row": 1, "until": 4})
    events = {number for each in told["nearest"] for step in each["steps"] for number in step["events"]}
    assert events <= {2, 4}
    assert events
    assert set(told["values"]) >= set(map(str, events))


def test_mistakes_have_their_place_and_the_rest_runs() -> None:
    text = example_text("stocks").replace("close_1 AS before", "closs_1 AS before")
    found = Answering().answer({"do": "run", "chosen": asked(text=text)})
    (finding,) = found["findings"]
    line = text.split("\n")[finding["line"]]
    assert line[finding["column"] :].startswith("closs_1")
    assert finding["severity"] == "error"
    assert [each["name"] for each in found["subscriptions"]] == ["rising"]
    assert found["results"]


def test_a_file_that_cannot_be_read_has_a_finding_and_nothing_else() -> None:
    found = Answering().answer({"do": "run", "chosen": asked(text="[streams.S")})
    assert found["broken"]
    assert found["findings"][0]["severity"] == "error"


def test_an_event_that_does_not_fit_ends_the_run_with_the_name_that_the_user_gave(heat: str) -> None:
    Path(heat).write_text("time,machine,heat\n1,7,50\n2,7,99\n3,8,warm\n")
    chosen = asked(text=MACHINES) | {"events": heat, "stream": None, "time": None, "called": "heat.csv"}
    found = Answering().answer({"do": "run", "chosen": chosen})
    assert found["trouble"].startswith("heat.csv: line 4")
    assert found["events"]["id"] == [1, 2]
    assert len(found["results"]) == 1


def test_only_so_many_events_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_module, "EVENTS_MAX", 130)
    found = Answering().answer({"do": "run", "chosen": asked()})
    assert found["cut"]
    assert len(found["events"]["id"]) == 130


def test_only_so_many_results_are_listed_and_all_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_module, "RESULTS_MAX", 10)
    found = Answering().answer({"do": "run", "chosen": asked()})
    counted = sum(each["counts"]["match"] for each in found["subscriptions"])
    assert (len(found["results"]), found["more"]) == (10, counted - 10)


def test_a_run_that_takes_too_long_ends_where_it_is() -> None:
    ticks = iter(range(0, 1_000_000, 1))
    trial = tried(Chosen(**asked()), lambda: float(next(ticks)))
    assert trial.trouble is not None
    assert trial.trouble.startswith("stopped after 4 s, at event ")
    assert 0 < len(trial.events) < 845


def test_events_come_in_pages() -> None:
    answering = Answering()
    first = answering.answer({"do": "events", "chosen": asked(), "begin": 0})
    second = answering.answer({"do": "events", "chosen": asked(), "begin": 100})
    assert first["total"] == 845
    assert [each["id"] for each in first["events"] + second["events"]] == list(range(1, 201))
    assert first["events"][0]["data"] == {"symbol": "AAPL", "close": 411.23}


def test_a_first_file_runs_as_it_is(heat: str) -> None:
    chosen = asked(text="") | {"events": heat, "stream": None, "time": None, "called": "heat of may.csv"}
    first = Answering().answer({"do": "first", "chosen": chosen})
    assert "[streams.HeatOfMay]" in first["text"]
    assert heat not in first["text"]
    tried_out = chosen | {"text": first["text"], "stream": first["stream"], "time": first["time"]}
    found = Answering().answer({"do": "run", "chosen": tried_out})
    assert found["findings"] == []
    assert found["results"]


def test_words_and_form_are_those_of_editors() -> None:
    answering, text = Answering(), example_text("stocks")
    line = next(at for at, each in enumerate(text.split("\n")) if each.startswith("FROM FILTER"))
    found = answering.answer({"do": "complete", "chosen": asked(), "line": line, "column": 12})
    assert {"close", "Stock", "symbol"} <= {each["word"] for each in found["words"]}
    printed = answering.answer({"do": "format", "chosen": asked()})["text"]
    assert printed != text
    assert "[subscriptions.rising]" in printed


def test_a_mistake_of_ours_is_an_answer() -> None:
    assert json.loads(answered(Answering(), '{"do": "run"}'))["error"].startswith("the playground failed: KeyError")


def test_a_process_that_takes_too_long_is_ended_and_the_next_question_has_another() -> None:
    worker = PlaygroundProcess()
    try:
        worker.start()
        first = worker._process
        assert worker.ask({"do": "run", "chosen": asked()}, 0.0) == {"error": "stopped after 0 s"}
        found = worker.ask({"do": "events", "chosen": asked(), "begin": 0})
        assert found["total"] == 845
        assert worker._process is not first
    finally:
        worker.close()


def test_the_first_match_of_ones_own_file_is_as_the_page_says(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "playground.md").read_text()
    own = tmp_path / "machines.csv"
    own.write_text(page.partition("```csv file=machines.csv\n")[2].partition("```")[0])
    answering = Answering()
    chosen: dict[str, Any] = {"text": "", "events": str(own), "called": own.name}
    first = answering.answer({"do": "first", "chosen": chosen})
    assert (first["stream"], first["time"]) == ("Machines", "when")
    assert 'key = "machine"' in first["text"]
    for text, matches in ((first["text"], 5), (first["text"].replace("heat > heat_1", "heat > heat_1 + 5"), 3)):
        chosen = {**chosen, "text": text, "stream": first["stream"], "time": first["time"]}
        found = answering.answer({"do": "run", "chosen": chosen})
        assert (found["findings"], found["trouble"], found["rows"]) == ([], None, ["press", "saw"])
        assert sum(each["counts"]["match"] for each in found["subscriptions"]) == matches
    chosen_match = found["results"][0]
    told = answering.answer({"do": "why", "chosen": chosen, "subscription": "first", "match": chosen_match["id"]})
    assert [step["events"] for step in told["steps"]] == [[each] for each in chosen_match["lineage"]]
