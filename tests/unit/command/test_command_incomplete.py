"""`run` says on standard error, and by its exit status, that results may lack some."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import broker.engine
from broker.command.shell import perform
from broker.engine import Options

HEAD = '[streams.S]\nattributes = { v = "int" }\n'
ANY = "PATTERN SEQ(S+ a[]) WHERE skip_till_any_match(a[]) { sum(a[].v) > 100 } WITHIN 100"


def written(folder: Path, events: int, publish: str = "", more: str = "") -> list[str]:
    subscription = f'[subscriptions.q]\nlanguage = "sase"\nquery = "{ANY}{publish}"\n'
    (folder / "s.toml").write_text(HEAD + subscription + more, encoding="utf-8")
    lines = [json.dumps({"stream": "S", "time": at, "data": {"v": 1}}) for at in range(events)]
    (folder / "e.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["run", str(folder / "s.toml"), "--events", str(folder / "e.jsonl")]


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Engines get these options."""

    def limit(**limits: Any) -> None:
        monkeypatch.setattr(broker.engine, "Options", partial(Options, **limits))

    return limit


def test_a_limit_is_one_line_a_subscription_and_a_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], limited: Any
) -> None:
    limited(runs_max=8)
    assert perform(written(tmp_path, 12)) == 3
    out, err = capsys.readouterr()
    told = [json.loads(line) for line in out.splitlines()]
    assert len(told) > 1
    assert {line["kind"] for line in told} == {"incomplete"}
    (line,) = [line for line in err.splitlines() if "results" in line]
    assert line == (
        "foretell: subscription 'q': results may lack some from 1970-01-01T00:00:00.000003Z on"
        f" (runs_max, run_bytes_max, matches_max or negated_max), told {len(told)} times"
    )


def test_a_suspension_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], limited: Any) -> None:
    limited(work_max=100, work_earned=1)
    assert perform(written(tmp_path, 20)) == 3
    assert "; suspended, without any results, since 1970-01-01T00:00:00." in capsys.readouterr().err


def test_what_a_hidden_subscription_lacks_its_readers_lack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], limited: Any
) -> None:
    limited(runs_max=8)
    reader = 'hidden = true\n[subscriptions.r]\nlanguage = "cayuga"\nquery = "SELECT * FROM P"\n'
    arguments = written(tmp_path, 12, " RETURN a.LEN AS n PUBLISH P", reader)
    assert perform(arguments) == 3
    assert "subscription 'q'" in capsys.readouterr().err
    assert perform([*arguments, "--only", "r"]) == 3


def test_what_is_not_written_lacks_nothing(tmp_path: Path, limited: Any) -> None:
    limited(runs_max=8)
    more = '[subscriptions.other]\nlanguage = "cayuga"\nquery = "SELECT * FROM S"\n'
    arguments = written(tmp_path, 12, "", more)
    assert perform([*arguments, "--only", "other"]) == 0
    assert perform([*arguments, "--summary"]) == 3
    assert perform(written(tmp_path, 2)) == 0
