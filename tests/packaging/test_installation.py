"""An installed wheel starts with the dependencies that it declares and nothing else: each wheel alone, and with each of
its extras alone, in an environment without any development package."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from doubles.built_wheels import ROOT, python

from broker import __version__

EXTRAS = ("parquet", "console", "plot", "demo", "docs", "editor", "otel", "spark")
PAGE = """
[streams.Stock]
attributes = { name = "string", price = "float" }
key = "name"

[subscriptions.jumps]
language = "cayuga"
query = "FILTER{price > 1.05 * price_1}(Stock NEXT{$2.name = $1.name} Stock)"
lineage = true
"""
TICKS = [(1, "IBM", 100.0), (2, "MSFT", 50.0), (3, "IBM", 106.0), (4, "MSFT", 52.0)]
CLIENT = """
import sys
from client import Client
with Client(sys.argv[1]) as client:
    client.add_stream("Stock", {"name": "string", "price": "float"})
    query = "FILTER{price > 1.05 * price_1}(Stock NEXT{$2.name = $1.name} Stock)"
    with client.subscribe("jumps", query=query) as subscription:
        client.publish("Stock", {"name": "IBM", "price": 100.0}, time=1)
        client.publish("Stock", {"name": "IBM", "price": 106.0}, time=3)
        print(subscription.next(timeout=30).data["price"])
"""
RECEIVED = Path(__file__).with_name("traces_received.py")
# What each extra is for, in the smallest form that needs it.
USES = {
    "parquet": "import pyarrow.parquet",
    "console": "import starlette, uvicorn, prometheus_client",
    "plot": "import matplotlib.figure",
    "demo": "from broker.command.demo.flights import flights; assert next(iter(flights()))",
    "docs": "import material, mkdocs, mkdocstrings",
    "otel": f"import runpy; runpy.run_path({str(RECEIVED)!r}, run_name='__main__')",
    "editor": "from broker.command.language_server import server; server()",
    "spark": "from spark_bridge import backtest, train",
}

pytestmark = pytest.mark.slow


def installed(folder: Path, wheel: Path, extra: str = "") -> Path:
    """The commands of a new environment with the wheel, its declared dependencies and nothing else."""
    made = python({}, "-m", "venv", "--without-pip", folder)
    assert made.returncode == 0, made.stderr
    interpreter = folder / "bin" / "python"
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    options = ("--quiet", "--no-compile", "--disable-pip-version-check")
    done = python({}, "-m", "pip", "--python", interpreter, "install", *options, what)
    assert done.returncode == 0, done.stderr
    listed = python({}, "-m", "pip", "--python", interpreter, "list", "--format=freeze")
    assert not re.search(r"^(mypy|pytest|setuptools|hypothesis)==", listed.stdout, re.MULTILINE), listed.stdout
    return folder / "bin"


def events(folder: Path) -> Path:
    lines = [{"stream": "Stock", "time": time, "data": {"name": name, "price": price}} for time, name, price in TICKS]
    (folder / "ticks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "jumps.toml").write_text(PAGE)
    return folder


def runs(bin_folder: Path, folder: Path) -> None:
    """`foretell run` finds the one match."""
    command = ("jumps.toml", "--events", "ticks.jsonl")
    done = python({}, "run", *command, folder=events(folder), interpreter=bin_folder / "foretell")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["lineage"] for line in done.stdout.splitlines()] == [[1, 3]]


def serves(bin_folder: Path) -> None:
    """`foretell serve` answers a client of another process of the same installation."""
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONSAFEPATH"}}
    command = [str(bin_folder / "foretell"), "serve", "--address", "tcp://127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd="/") as broker:
        assert broker.stdout is not None
        try:
            address = broker.stdout.readline().strip().rpartition(" ")[2]
            asked = python({}, "-c", CLIENT, address, interpreter=bin_folder / "python")
            assert asked.stdout == "106.0\n", asked.stderr
        finally:
            broker.send_signal(signal.SIGTERM)
            broker.communicate(timeout=60)
    assert broker.returncode == 0


def backtests(bin_folder: Path, folder: Path) -> None:
    """History is prepared and backtested on Spark, and there are results."""
    events(folder)
    for command in (
        ("prepare", "jumps.toml", "--history", "ticks.jsonl", "--out", "history"),
        ("backtest", "jumps.toml", "--history", "history", "--out", "found"),
    ):
        done = python({}, *command, folder=folder, interpreter=bin_folder / "foretell")
        assert done.returncode == 0, done.stderr
    assert list((folder / "found").rglob("results/*.parquet"))


@pytest.mark.parametrize("build", ["compiled", "pure Python"])
def test_a_wheel_starts_with_what_it_declares(build: str, wheel: Path, pure_wheel: Path, tmp_path: Path) -> None:
    commands = installed(tmp_path / "environment", wheel if build == "compiled" else pure_wheel)
    version = python({}, "--version", interpreter=commands / "foretell")
    assert version.stdout == f"foretell {__version__} ({build})\n", version.stderr
    runs(commands, tmp_path)
    serves(commands)


@pytest.mark.verify
@pytest.mark.parametrize("extra", EXTRAS)
def test_each_extra_alone_brings_what_it_needs(extra: str, wheel: Path, tmp_path: Path) -> None:
    commands = installed(tmp_path / "environment", wheel, extra)
    used = python({}, "-c", USES[extra], interpreter=commands / "python")
    assert used.returncode == 0, used.stderr
    runs(commands, tmp_path)
    if extra == "spark":
        backtests(commands, tmp_path)


def test_no_extra_is_forgotten() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {*EXTRAS, "dev"} == set(project["optional-dependencies"]) == {*USES, "dev"}


def test_this_interpreter_is_the_oldest_that_is_promised_or_newer() -> None:
    assert sys.version_info >= (3, 11)
