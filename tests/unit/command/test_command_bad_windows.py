"""Bad window queries through the commands: exit status 2, and one line with the place, for `check` and `run` alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from doubles.commands import complaint

COMPLAINT = "s.toml: subscription 'q': line 1, column "


@pytest.mark.parametrize("command", [["check", "s.toml"], ["run", "s.toml", "--events", "e.jsonl"]])
@pytest.mark.parametrize(
    ("windows", "place"),
    [
        ("AFTER any* MATCHING any{0}", 35),
        ("AFTER any* MATCHING ()", 36),
        ("AFTER any* MATCHING (((any{1000000}){1000000}){1000000}){1000000}", 38),
        ("AFTER any* MATCHING ([v = 1]{1000}){1000}", 39),
        ("AFTER any* MATCHING ([v = 1]{2,100000}){1,9}", 39),
        ("START x, END y WHERE x.v < y.v", 42),
        ("AFTER any* MATCHING ([v = 1] | any* [v > 2] any{16} [v = 3])", 46),
        ("AFTER any* MATCHING any{1000001}", 38),
        (f"AFTER any* MATCHING any{{{'9' * 5_000}}}", 38),
        ("START x, END y WHERE EXISTS a, b, c, d, e: a < b", 36),
        ("AFTER any* MATCHING [v > prev17.v]", 40),
        (f"START x, END y WHERE x.v > prev{'9' * 5_000}(x).v", 42),
    ],
)
def test_bad_windows(
    windows: str,
    place: int,
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    query = json.dumps(f"FROM S WINDOW {windows}")
    streams = '[streams.S]\nattributes = { v = "int" }\n[subscriptions.q]\nlanguage = "window"\n'
    Path("s.toml").write_text(f"{streams}query = {query}\n")
    Path("e.jsonl").write_text('{"stream": "S", "time": 1, "data": {"v": 1}}\n')
    assert complaint(capsys, *command).startswith(f"{COMPLAINT}{place}: ")
