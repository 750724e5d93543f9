"""`run --summary` and `run --plot`: what a run has found, at a glance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from doubles.commands import complaint, printed

from broker.command.result_picture import BARS_MAX, ROWS_MAX, ResultPicture
from broker.command.results import ResultSinks

FILE = """
[streams.Stock]
attributes = { name = "string", price = "float" }
key = "name"
[subscriptions.jumps]
language = "cayuga"
query = "SELECT name, price FROM FILTER{price > price_1}(Stock NEXT{$2.name = $1.name} Stock)"
forecast = { within = 2, threshold = 0.1, effective = 1 }
[subscriptions.never]
language = "cayuga"
query = "SELECT price FROM FILTER{price > 1000}(Stock)"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(FILE)
    rows = [(n, "IBM" if n % 2 else "MSFT", 10 + n % 8) for n in range(1, 121)]
    Path("e.csv").write_text("time,name,price\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return tmp_path


def lines(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    return printed(capsys, "run", "s.toml", "--events", "e.csv", *options)


def test_a_summary_counts_what_a_run_writes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = [json.loads(line) for line in lines(capsys)]
    matches = [result for result in results if result["kind"] == "match"]
    forecasts = [result for result in results if result["kind"] == "forecast"]
    true = [result for result in results if result["kind"] == "resolution" and result["outcome"] is True]
    false = [result for result in results if result["kind"] == "resolution" and result["outcome"] is False]
    assert matches
    assert forecasts
    assert true
    header, jumps, never = lines(capsys, "--summary")
    assert header.split() == ["subscription", "matches", "first", "last", "forecasts", "true", *["false"] * bool(false)]
    cells = jumps.split()
    assert cells[:2] == ["jumps", str(len(matches))]
    assert cells[4:] == [str(len(forecasts)), str(len(true)), *[str(len(false))] * bool(false)]
    assert never.split()[:2] == ["never", "0"]


def test_a_summary_follows_only_and_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(lines(capsys, "--summary", "--only", "never")) == 2
    assert len(lines(capsys, "--summary", "--out", "r.jsonl")) == 3
    assert [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()] == [
        json.loads(line) for line in lines(capsys)
    ]


def test_a_picture_has_a_row_a_key_and_is_the_same_each_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = lines(capsys, "--plot", "one.svg")
    assert results == lines(capsys)  # a picture leaves the results as they are
    lines(capsys, "--plot", "two.svg", "--summary")
    picture = Path("one.svg").read_text()
    assert picture == Path("two.svg").read_text()
    for text in ("IBM", "MSFT", "jumps", "matches", "forecast"):
        assert f"<!-- {text}" in picture or f" {text} -->" in picture, text


def test_large_pictures_stay_readable(tmp_path: Path) -> None:
    picture = ResultPicture(tmp_path / "many.svg", ["name"])
    for n in range(BARS_MAX + 5):
        data = {"name": f"k{n % (2 * ROWS_MAX)}"}
        picture.write([{"kind": "match", "subscription": "q", "start": n, "end": n + 1, "data": data}])
    ResultSinks([picture]).close()
    text = (tmp_path / "many.svg").read_text()
    assert f"the first {BARS_MAX:,} drawn" in text
    assert "<!-- others -->" in text


def test_a_picture_of_no_results(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines(capsys, "--plot", "none.svg", "--only", "never")
    assert "0 matches" in Path("none.svg").read_text()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.gif", "expected a name that ends in .svg, .png or .pdf, found .gif"),
        ("none/a.svg", "expected a folder that exists"),
    ],
)
def test_what_is_refused(folder: Path, capsys: pytest.CaptureFixture[str], name: str, expected: str) -> None:
    assert expected in complaint(capsys, "run", "s.toml", "--events", "e.csv", "--plot", name)
