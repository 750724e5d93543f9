"""Small mistakes of the shell and of files, each with a line that says what to write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from doubles.commands import complaint

from broker.command import doctor
from broker.command.shell import perform


def test_an_address_without_its_scheme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("streams", "--broker", "127.0.0.1:5570"), ("serve", "--address", "127.0.0.1:5570")):
        line = complaint(capsys, *arguments)
        assert "expected an address such as tcp://127.0.0.1:5570, found" in line
        assert line.endswith("'127.0.0.1:5570'; did you mean 'tcp://127.0.0.1:5570'?")


def test_a_table_in_braces_over_several_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text('[streams.Stock]\nattributes = {\n  name = "string",\n  price = "float"\n}\n')
    line = complaint(capsys, "check", "s.toml")
    assert line.startswith("s.toml: line 2, column 15: ")
    assert "a table in braces has to be on one line: write all of attributes = { ... } in line 2" in line
    Path("s.toml").write_text('[streams.Stock]\nattributes = { name = "string" }\nkey = name\n')
    assert "braces" not in complaint(capsys, "check", "s.toml")


def test_a_picture_of_pixels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = complaint(capsys, "explain", "s.toml", "--format", "png")
    assert line.startswith("--format: expected text, dot, mermaid, svg, found 'png'; ")
    assert line.endswith("--format dot | dot -Tpng")
    assert complaint(capsys, "explain", "s.toml", "--format", "dott").endswith("did you mean 'dot'?")


def test_a_check_that_fails_is_a_finding_of_the_doctor(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def _damaged() -> doctor.Trouble:
        raise AttributeError("module 'zmq' has no attribute 'has'")

    monkeypatch.setattr(doctor, "_libzmq", _damaged)
    assert perform(["doctor"]) == 1
    findings = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert findings[0] == {
        "check": "damaged",
        "verdict": "bad",
        "found": "the check itself has failed: AttributeError: module 'zmq' has no attribute 'has'",
    }
    assert len(findings) > 5, "the others go on"


def test_all_errors_of_a_file_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(
        """
[streams.Stock]
attributes = { name = "string", price = "float" }
[streams.Other]
attributes = { name = "text" }
[subscriptions.good]
language = "cayuga"
query = "FILTER{price > 5 AND price > 10}(Stock)"
[subscriptions.wrong]
language = "cayuga"
query = "FILTER{prise > 5}(Stock) PUBLISH Wrong"
[subscriptions.follows]
language = "cayuga"
query = "Wrong"
[subscriptions.unread]
language = "cayuga"
query = "Other"
[subscriptions.broken]
language = "cayuga"
query = "FILTER{price >}(Stock) PUBLISH Broken"
[subscriptions.behind]
language = "cayuga"
query = "Broken"
[subscriptions.hidden]
language = "cayuga"
query = "Stock"
hidden = true
[subscriptions.odd]
language = "cayuga"
query = "Stock"
lineages = true
"""
    )
    assert perform(["check", "s.toml"]) == 2
    found = capsys.readouterr()
    assert [line.split(":")[0] for line in found.out.splitlines()] == [
        "ok good", "   good", "warning good", "ok hidden", "   hidden", "warning hidden"
    ]  # fmt: skip
    errors = found.err.splitlines()
    assert len(errors) == 4, errors
    for words in ("streams.Other: ", "subscriptions.odd: unknown key 'lineages'", "'prise'", "subscription 'broken'"):
        assert any(words in line and line.startswith("foretell: s.toml: ") for line in errors), words
