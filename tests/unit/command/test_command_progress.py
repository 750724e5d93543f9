"""How far a file is read: a bar on a terminal, lines where one asks for them, nothing elsewhere."""

from __future__ import annotations

import sys

import pytest

from broker.command.progress import progress, told_in_lines
from broker.command.reading import EventReader


def reading(extent: int | None = 1_000_000) -> EventReader:
    return EventReader(iter(()), "here/prices.csv", "row", extent)


def test_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = iter([0.0, 1.0, 6.0, 7.0, 20.0, 30.0])
    advance = told_in_lines("prices.csv", 1_000_000, True, lambda: next(seconds))
    for position in (100_000, 250_000, 300_000, 500_000, 1_000_000):
        advance(position)
    assert capsys.readouterr().err.splitlines() == [
        "prices.csv: 25 %, 41,667 rows/s, 18 s left",
        "prices.csv: 50 %, 25,000 rows/s, 20 s left",
    ]


@pytest.mark.parametrize(("terminal", "wanted"), [(False, None), (False, False), (True, False)])
def test_nothing_where_nobody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool, wanted: bool | None
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with progress(reading(), wanted) as advance:
        advance(500_000)
    assert capsys.readouterr().err == ""


def test_nothing_where_the_end_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(reading(None), True) as advance:
        advance(500_000)
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress(reading()) as advance:
        advance(500_000)
    assert "prices.csv" in capsys.readouterr().err
