"""Completion in a shell: names of a broker and of a file, and nothing where these cannot be had."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from doubles.broker_process import broker_process

from broker.command.progress import rate
from client import Client, Durable

SUBSCRIPTIONS = """
[streams.Stock]
attributes = { name = "string" }
[subscriptions.rises]
language = "cel"
query = "SELECT * FROM Stock"
[subscriptions.falls]
language = "cel"
query = "SELECT * FROM Stock"
"""


def completed(shell: str, line: str, **environment: str) -> list[str]:
    """What a shell is told when Tab is pressed behind this line."""
    words = line.split(" ")
    asked = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    done = subprocess.run(
        [sys.executable, "-m", "broker.command"],
        env={**os.environ, **asked, **environment, "_FORETELL_COMPLETE": f"complete_{shell}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture(scope="module")
def address() -> str:  # type: ignore[misc]  # a generator
    with broker_process() as broker, Client(broker.address, 60) as client:
        client.add_stream("Stock", {"name": "string"})
        client.add_stream("Starlight", {"name": "string"})
        client.subscribe("rises", query="SELECT * FROM Stock")
        client.subscribe("kept", query="SELECT * FROM Stock", durable=Durable("mine"))
        yield broker.address


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("foretell tail ", ["Starlight", "Stock"]),
        ("foretell tail Sto", ["Stock"]),
        ("foretell publish S", ["Starlight", "Stock"]),
        ("foretell subscribe ", ["kept", "rises"]),
        ("foretell delete-subscription r", ["rises"]),
        ("foretell why-not ", ["kept", "rises"]),
        ("foretell move-cursor ", ["mine"]),
        ("foretell close-session ", ["1"]),
    ],
)
def test_names_of_a_broker(address: str, line: str, names: list[str]) -> None:
    found = completed("bash", line, FORETELL_BROKER=address)
    assert [name for name in found if name in names] == names
    assert not [name for name in found if name not in names and not name.isdecimal()]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(address: str, shell: str) -> None:
    assert "Starlight" in " ".join(completed(shell, "foretell tail ", FORETELL_BROKER=address))
    assert "Stock" in " ".join(completed(shell, f"foretell tail --broker {address} Sto"))


def test_names_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "subs.toml"
    path.write_text(SUBSCRIPTIONS)
    assert completed("bash", f"foretell partial {path} ") == ["falls", "rises"]
    assert completed("bash", f"foretell run {path} --only r") == ["rises"]
    path.write_text("nonsense")
    assert completed("bash", f"foretell partial {path} ") == []


def test_without_a_broker_nothing_is_completed() -> None:
    assert completed("bash", "foretell tail ", FORETELL_BROKER="tcp://127.0.0.1:9") == []


def test_the_rate_of_a_bar() -> None:
    assert [rate(None, True), rate(None, False)] == ["? rows/s", "? MB/s"]
    assert [rate(1_234_567.8, True), rate(1_234_567.8, False)] == ["1,234,568 rows/s", "1.2 MB/s"]
