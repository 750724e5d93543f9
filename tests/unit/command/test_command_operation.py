"""The operator's commands: keys, the check of a configuration, the doctor and what top makes of numbers."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from doubles.commands import complaint
from rich.console import Console

from broker.command import doctor as doctor_module
from broker.command.doctor import findings
from broker.command.shell import perform
from broker.command.top import screen
from broker.console.looks import look_at
from broker.wire.keys import read_keys


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORETELL_BROKER", raising=False)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert perform(arguments) == 0
    return capsys.readouterr().out.strip()


def test_keys_are_for_their_owner_and_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    public = printed(capsys, "keygen", "broker.keys")
    assert read_keys(Path("broker.keys")).public == public
    assert stat.S_IMODE(os.stat("broker.keys").st_mode) == 0o600
    assert complaint(capsys, "keygen", "broker.keys") == "broker.keys: exists already, and keys are not overwritten"
    assert read_keys(Path("broker.keys")).public == public
    for name, server in (("by_file", "broker.keys"), ("by_key", public)):
        printed(capsys, "keygen", name, "--server", server)
        assert read_keys(Path(name)).server == public
    assert complaint(capsys, "keygen", "x", "--server", "nonsense").startswith("--server: expected a public key")
    assert not Path("x").exists()


def test_a_configuration_is_checked_without_being_served(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text('[streams.S]\nattributes = { x = "int" }\n')
    Path("f.toml").write_text('subscriptions = "s.toml"')
    checked = printed(capsys, "serve", "--config", "f.toml", "--check")
    assert checked == "tcp://127.0.0.1:5570 for everybody who reaches it, 1 streams, 0 subscriptions"
    public = printed(capsys, "keygen", "broker.keys")
    Path("k.toml").write_text(
        f'address = "tcp://0.0.0.0:1"\nsecurity.keys = "broker.keys"\n[users.u]\nkeys = ["{public}"]'
    )
    checked = printed(capsys, "serve", "--config", "k.toml", "--check")
    assert checked == "tcp://0.0.0.0:1 for 1 users with keys, 0 streams, 0 subscriptions"
    Path("f.toml").write_text("subscription = 1")
    assert "did you mean 'subscriptions'?" in complaint(capsys, "serve", "--config", "f.toml", "--check")
    assert "expected a loopback address" in complaint(capsys, "serve", "--address", "tcp://0.0.0.0:1", "--check")
    assert "everybody" in printed(capsys, "serve", "--address", "tcp://0.0.0.0:1", "--insecure", "--check")


def test_what_is_said_comes_before_what_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("f.toml").write_text('address = "tcp://127.0.0.1:1"')
    checked = printed(capsys, "serve", "--config", "f.toml", "--address", "tcp://127.0.0.1:2", "--check")
    assert checked.startswith("tcp://127.0.0.1:2 ")


def verdicts(config: str) -> dict[str, str]:
    Path("f.toml").write_text(config)
    return {each.check: each.verdict for each in findings(Path("f.toml"), None)}


def test_the_doctor_says_what_is_bad(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    well = verdicts('address = "tcp://127.0.0.1:0"')
    assert {name: well[name] for name in ("libzmq", "msgpack", "configuration", "exposure", "address")} == {
        "libzmq": "ok",
        "msgpack": "ok",
        "configuration": "ok",
        "exposure": "note",
        "address": "ok",
    }
    assert verdicts('address = "tcp://0.0.0.0:0"\nsecurity.insecure = true')["exposure"] == "bad"
    assert verdicts("[limits]\nsessions = 100_000_000")["open files"] == "bad"
    assert verdicts('subscriptions = "missing.toml"')["configuration"] == "bad"
    assert verdicts("nonsense = 1")["configuration"] == "bad"
    monkeypatch.setattr(doctor_module, "CONSOLE_PACKAGES", ("a-package-that-nobody-has",))
    assert verdicts('console.address = "http://127.0.0.1:0"')["console"] == "bad"
    monkeypatch.setattr(doctor_module, "LIBZMQ_MINIMUM", (99, 0, 0))
    Path("f.toml").write_text('address = "tcp://127.0.0.1:0"')
    assert perform(["doctor", "--config", "f.toml", "--broker", "tcp://127.0.0.1:9"]) == 1
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["check"] for each in told if each["verdict"] == "bad"] == ["libzmq", "broker"]


def test_a_journal_that_cannot_be_written_is_told_before_a_broker_is_started(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root, too, who has all permissions: a read-only or full disk, for a folder that there is and for a new one."""
    text = 'address = "tcp://127.0.0.1:0"\n[journal]\npath = "data"\n'
    checked = ["serve", "--config", "f.toml", "--check"]
    for there in (False, True):
        if there:
            Path("data").mkdir()
        before = sorted(Path().rglob("*"))
        assert verdicts(text)["journal"] == "ok"
        assert perform(checked) == 0
        for name, number in (("open", errno.EROFS), ("posix_fallocate", errno.ENOSPC), ("fdatasync", errno.EIO)):
            called = getattr(os, name)

            def fail(*given: Any, called: Any = called, number: int = number) -> Any:
                if isinstance(given[0], int) or "trial" in str(given[0]):
                    raise OSError(number, os.strerror(number))
                return called(*given)

            capsys.readouterr()
            with monkeypatch.context() as patched:
                patched.setattr(os, name, fail)
                assert verdicts(text)["journal"] == "bad"
                assert verdicts(text)["configuration"] == "bad"
                assert perform(checked) == 2
            told = capsys.readouterr().err
            expected = "foretell: journal.path: .*data: expected a folder with room .*: "
            assert re.fullmatch(f"{expected}{os.strerror(number)}\n", told)
        assert [each for each in sorted(Path().rglob("*")) if each.name != "f.toml"] == [
            each for each in before if each.name != "f.toml"
        ]
    assert verdicts("[journal]\npath = '/etc'")["journal"] == "note"


def test_an_audit_that_cannot_be_written_is_told_before_a_broker_is_started(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    Path("audit").mkdir()
    for path, why in (("pipe", ""), ("audit", "Is a directory"), ("none/audit", "No such file or directory")):
        Path("f.toml").write_text(f'address = "tcp://127.0.0.1:0"\n[audit]\npath = "{path}"\n')
        for arguments in (["--check"], []):
            assert perform(["serve", "--config", "f.toml", *arguments]) == 2
            assert re.fullmatch(rf"foretell: audit\.path: .*{path}: .*{why}\n", capsys.readouterr().err)


def test_top_shows_rates_and_levels_and_leaves_out_what_it_is_not_told() -> None:
    before = {"broker": {"events": 100, "sessions": 3}}
    now = {"broker": {"events": 350, "sessions": 2}, "loop": {"request_microseconds_p50": 250}}
    look = look_at(before, now, 0.5)
    assert look == {"events/s": 500.0, "sessions": 2, "batch p50 us": 250}
    theirs: dict[str, dict[str, Any]] = {"broker": {"events": "\x1b[2J", "sessions": [1]}, "loop": {}}
    theirs["loop"]["uptime_seconds"] = 3
    assert look_at(before, theirs, 0.5) == {"up s": 3}, "a number, or nothing"
    console = Console(width=60)
    with console.capture() as captured:
        console.print(screen("tcp://127.0.0.1:5570", look))
    assert "500.0" in captured.get()


def test_top_shows_rates_by_name_the_busiest_first() -> None:
    before = {"by_stream": {"A": {"events": 10, "events_refused": 0}, "gone": {"events": 1, "events_refused": 0}}}
    now: dict[str, dict[str, Any]] = {
        "by_stream": {"A": {"events": 12, "events_refused": 1}, "B": {"events": 7}, "C": 5},
        "by_subscription": {"[red]": {"results": 3, "subscribers": 2, "notifications_queued": 9}},
    }
    look = look_at(before, now, 0.5)
    assert look == {
        "streams by name": {
            "A": {"events/s": 4.0, "events_refused/s": 2.0},
            "B": {"events/s": 14.0, "events_refused/s": 0.0},
        },
        "subscriptions by name": {
            "[red]": {
                "results/s": 6.0, "notifications_sent/s": 0.0, "notifications_missed/s": 0.0, "subscribers": 2,
                "notifications_queued": 9,
            }
        },
    }  # fmt: skip
    console = Console(width=100)
    with console.capture() as captured:
        console.print(screen("tcp://127.0.0.1:5570", look))
    text = captured.get()
    assert "[red]" in text
    assert text.index("14.0") < text.index("4.0 ")
