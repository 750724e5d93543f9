"""`foretell prepare`, `train` and `backtest` as a user runs them: what the broker's shell says of the same events."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow.dataset as ds
import pytest

from broker.command.shell import perform
from spark_bridge.history.prepared import History

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT: Final = Path(__file__).parents[2]
SECONDS_MAX: Final = 540.0
SUBSCRIPTIONS: Final = """
[streams.Tick]
attributes = { name = "string", price = "int" }
key = "name"
[subscriptions.rise]
language = "cayuga"
query = "Tick NEXT{$2.name = $1.name AND $2.price > $1.price + 3} Tick"
lineage = true
forecast = { within = 3, effective = 5, threshold = 0.3, context = ["key"] }
[subscriptions.pair]
language = "sase"
query = '''PATTERN SEQ(Tick a, Tick b) WHERE skip_till_next_match(a, b)
 { a.name = b.name AND a.price > 7 AND b.price < 2 } WITHIN 20'''
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A subscription file, and its events twice: as CSV with a column of another name, and as JSON lines."""
    (tmp_path / "subs.toml").write_text(SUBSCRIPTIONS)
    rows = [(1_000 + number // 3, "abc"[number % 7 % 3], number * number % 11) for number in range(400)]
    lines = [f"{time},{name},{price}" for time, name, price in rows]
    (tmp_path / "ticks.csv").write_text("\n".join(["time,symbol,price", *lines, ""]))
    with (tmp_path / "ticks.jsonl").open("w") as file:
        for time, name, price in rows:
            event = {"stream": "Tick", "time": time, "data": {"name": name, "price": price}}
            file.write(json.dumps(event) + "\n")
    return tmp_path


def foretell(place: Path, command: str) -> int:
    with contextlib.chdir(place):
        return perform(command.split())


def prepared(place: Path) -> None:
    command = "prepare subs.toml --history ticks.csv --out hist --column symbol=name --slice-rows 150"
    assert foretell(place, command) == 0


def test_the_commands_give_what_run_gives(spark: SparkSession, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepared(place)
    assert capsys.readouterr() == ("", "")
    assert [part.rows for part in History.open(place / "hist").slices] == [150, 150, 100]

    assert foretell(place, "run subs.toml --events ticks.jsonl --save-model live.json") == 0
    live = capsys.readouterr().out
    assert foretell(place, "train subs.toml --history hist --out model.json") == 0
    assert capsys.readouterr() == ("", "")
    assert (place / "model.json").read_bytes() == (place / "live.json").read_bytes()

    assert foretell(place, "backtest subs.toml --history hist --out out") == 0
    told, errors = capsys.readouterr()
    folder = Path(told.strip())
    assert (folder.parent, errors) == (place / "out", "")
    lines = ds.dataset(folder / "results").to_table()["line"].to_pylist()
    assert Counter(lines) == Counter(live.splitlines())
    assert len(lines) > 100
    about = json.loads((folder / "manifest.json").read_text())
    assert about["rows"] == {"results": len(lines)}
    assert about["about"]["history"] == History.open(place / "hist").digest

    before = [file.stat().st_mtime_ns for file in sorted(folder.rglob("*"))]
    assert foretell(place, "backtest subs.toml --history hist --out out --plan shards") == 0
    assert capsys.readouterr().out == told, "the same inputs, however they are divided: nothing to do"
    assert [file.stat().st_mtime_ns for file in sorted(folder.rglob("*"))] == before

    evaluate = "backtest subs.toml --history hist --out eval --model model.json --frozen --evaluate 1,3"
    assert foretell(place, f"{evaluate} --thresholds 0.2,0.5") == 0
    folder = Path(capsys.readouterr().out.strip())
    measures = ds.dataset(folder / "measures").to_table().to_pylist()
    assert {(row["horizon"], row["threshold"]) for row in measures} == {(1, 0.2), (1, 0.5), (3, 0.2), (3, 0.5)}
    assert {row["context"] for row in measures} == {'["a"]', '["b"]', '["c"]'}
    assert all(row["predictions"] > 0 for row in measures)
    assert ds.dataset(folder / "reliability").count_rows() > 0

    # What is damaged on the disk is named, and what was published stays.
    slice_ = History.open(place / "hist").file(1)
    damaged = bytearray(slice_.read_bytes())
    damaged[:-8] = bytes(len(damaged) - 8)
    slice_.write_bytes(damaged)
    assert foretell(place, "backtest subs.toml --history hist --out out --model model.json") == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.count("\n") == 1
    assert str(slice_) in errors
    assert json.loads((place / "out" / "CURRENT").read_text())["run"] == Path(told.strip()).name
    assert not list((place / "out").glob(".run-*"))


def test_rows_that_are_no_events_are_counted(
    spark: SparkSession, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (place / "ticks.csv").open("a") as file:
        file.write("1200,d,much\n")
    command = "prepare subs.toml --history ticks.csv --out hist --column symbol=name"
    assert foretell(place, command) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert "1 of 401" in errors
    assert "ticks.csv" in errors
    assert foretell(place, f"{command} --rejects-max 0.01") == 0
    assert History.open(place / "hist").rejects == 1


def started(place: Path, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, with a session of its own."""
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(place / "local"), **environment}
    known = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    return subprocess.run(
        command, cwd=place, env={**known, **own}, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )


@pytest.mark.verify
def test_a_session_of_its_own_is_quiet(place: Path) -> None:
    arguments = "prepare subs.toml --history ticks.csv --out hist --column symbol=name --master local[1]"
    command = [sys.executable, "-m", "broker.command", *arguments.split(), "--conf", "spark.driver.memory=512m"]
    done = started(place, [*command, "--spark-log", "spark.log"], PYTHONPATH=os.environ["PYTHONPATH"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert History.open(place / "hist").rows == 400
    assert (place / "spark.log").exists()


@pytest.mark.verify
def test_spark_submit_takes_the_packages_with_it(spark: SparkSession, place: Path) -> None:
    """Nothing of ours is installed where the job runs: driver and workers have it from the archive."""
    prepared(place)
    with zipfile.ZipFile(place / "ours.zip", "w") as archive:
        for package in ("broker", "client", "spark_bridge"):
            for file in sorted((ROOT / package).rglob("*")):
                if file.suffix in (".py", ".lark"):
                    archive.write(file, file.relative_to(ROOT))
    (place / "foretell.py").write_text("from broker.command.shell import main\n\nmain()\n")
    arguments = "train subs.toml --history hist --out model.json"
    submit = ["spark-submit", "--master", "local[1]", "--driver-memory", "512m", "--py-files", "ours.zip"]
    command = [str(Path(sys.executable).with_name(submit[0])), *submit[1:], "foretell.py", *arguments.split()]
    done = started(place, command, PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]
    assert foretell(place, "train subs.toml --history hist --out own.json") == 0
    assert (place / "model.json").read_bytes() == (place / "own.json").read_bytes()
