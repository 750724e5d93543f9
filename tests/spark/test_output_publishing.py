"""Results of Spark are published whole, once, or not at all: whatever fails, and whoever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.events import DefinitionError
from spark_bridge.failures import ours
from spark_bridge.output import publish_output, published, read_manifest, read_output, run_digest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEADLINE_SECONDS = 300


def test_output_is_published_once(spark: SparkSession, tmp_path: Path) -> None:
    first, second = run_digest("history", "subscriptions"), run_digest("history", "others")
    assert first != second
    about = {"history": "h", "version": "1"}
    run = publish_output(spark.range(5), tmp_path, first, about)
    assert run.name == f"run-{first}"
    assert read_output(spark, tmp_path).count() == 5
    assert read_manifest(tmp_path)["rows"] == {"results": 5}
    assert read_manifest(tmp_path)["about"] == about
    assert published(tmp_path, first)
    assert not published(tmp_path, second)
    # Again: the table is not so much as looked at.
    assert publish_output({"results": None}, tmp_path, first, about) == run  # type: ignore[dict-item]
    tables = {"matches": spark.range(2), "cells": spark.range(3)}
    publish_output(tables, tmp_path, second, about)
    assert read_manifest(tmp_path)["rows"] == {"matches": 2, "cells": 3}
    assert read_output(spark, tmp_path, "cells").count() == 3
    with pytest.raises(DefinitionError, match="expected a table 'match', found matches, cells; did you mean 'matches'"):
        read_output(spark, tmp_path, "match")
    # Back to the first: it is there still.
    publish_output(tables, tmp_path, first, about)
    assert published(tmp_path, first)
    assert read_output(spark, tmp_path).count() == 5


def test_a_task_that_fails_leaves_what_was_there(spark: SparkSession, tmp_path: Path) -> None:
    publish_output(spark.range(5), tmp_path, "d1", {})
    before = sorted(str(path) for path in tmp_path.rglob("*"))

    def fail(batches):  # type: ignore[no-untyped-def]
        for batch in batches:
            yield batch
            raise DefinitionError("x.parquet: expected something else")

    with pytest.raises(DefinitionError, match=r"^x\.parquet: expected something else$"):
        publish_output(spark.range(100).mapInArrow(fail, "id long"), tmp_path, "d2", {})
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before
    assert read_output(spark, tmp_path).count() == 5
    publish_output(spark.range(7), tmp_path, "d2", {})
    assert read_output(spark, tmp_path).count() == 7


def test_what_is_no_output_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="expected published results, found no manifest of them"):
        read_output(spark, tmp_path / "nowhere")
    (tmp_path / "manifest.json").write_text(json.dumps({"format": "foretell-history", "version": 1}))
    with pytest.raises(DefinitionError, match="expected the manifest of results of version 1, found something else"):
        read_manifest(tmp_path)
    with pytest.raises(DefinitionError, match=r"expected a name of letters, digits and _ for a table, found '\.\./x'"):
        publish_output({"../x": spark.range(1)}, tmp_path, "d1", {})
    with pytest.raises(DefinitionError, match="expected a digest"):
        publish_output(spark.range(1), tmp_path, "../x", {})


def test_what_spark_says_becomes_one_line() -> None:
    worker = "An exception was thrown from the Python worker:\nTraceback\nbroker.events.errors.EventError: row 5\n"
    assert str(ours("out", worker)) == "row 5"
    assert ours("out", worker).code == "event"
    damaged = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///x.parquet. SQLSTATE: KD001"
    assert str(ours("out", damaged)) == "out: expected a file that can be read, found it damaged: file:///x.parquet"
    assert str(ours("out", "\n[NO] such thing\nat org.apache")) == "out: Spark: [NO] such thing"
    assert str(ours("out", "")) == "out: Spark: the job failed"


# A driver without Spark: what is killed is the publication, in each of its steps.
DRIVER = """
import os, sys, time
from pathlib import Path
from spark_bridge import publication

def stop(name):
    if sys.argv[2] == name:
        print("here", flush=True)
        time.sleep(600)

def before(name, call):
    def stopping(*arguments, **others):
        stop(name)
        return call(*arguments, **others)
    return stopping

def write(folder):
    (folder / "one").write_text(sys.argv[3])
    stop("write")
    (folder / "two").write_text(sys.argv[3])
    return sys.argv[3]

publication._sync = before("sync", publication._sync)
publication._made_current = before("current", publication._made_current)
os.replace = before("replace", os.replace)
publication.publish(sys.argv[1], sys.argv[3], write)
"""


def run(out: Path, where: str, digest: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(out), where, digest], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("where", ["write", "sync", "current", "replace"])
def test_a_driver_that_is_killed_leaves_what_was_there_and_a_rerun_completes(tmp_path: Path, where: str) -> None:
    with run(tmp_path, "", "d1") as first:
        assert first.wait(DEADLINE_SECONDS) == 0
    with run(tmp_path, where, "d2") as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "here\n"
        killed.send_signal(signal.SIGKILL)
    current = json.loads((tmp_path / "CURRENT").read_text())["run"]
    assert current == "run-d1"
    assert sorted(file.name for file in (tmp_path / current).iterdir()) == ["one", "two"]
    with run(tmp_path, "", "d2") as again:
        assert again.wait(DEADLINE_SECONDS) == 0
    assert json.loads((tmp_path / "CURRENT").read_text())["run"] == "run-d2"
    assert sorted(file.name for file in (tmp_path / "run-d2").iterdir()) == ["one", "two"]
    left = [name for name in os.listdir(tmp_path) if name.startswith(".run-") or name.endswith(".new")]
    assert left == []


SPARK_DRIVER = """
import os, sys, time
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
from spark_bridge import publish_output
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
for name in ("spark.driver.host", "spark.driver.bindAddress"):
    builder = builder.config(name, "127.0.0.1")
spark = builder.config("spark.driver.memory", "512m").getOrCreate()

def slow(batches):
    from pathlib import Path
    for batch in batches:
        yield batch
        Path(sys_argv_flag).write_text("")
        time.sleep(600)

sys_argv_flag = sys.argv[2]
publish_output(spark.range(10).mapInArrow(slow, "id long"), sys.argv[1], "d2", {})
"""


@pytest.mark.verify
def test_a_spark_driver_killed_within_a_job_leaves_what_was_there(spark: SparkSession, tmp_path: Path) -> None:
    out, flag = tmp_path / "out", tmp_path / "flag"
    publish_output(spark.range(5), out, "d1", {})
    driver = subprocess.Popen(
        [sys.executable, "-c", SPARK_DRIVER, str(out), str(flag)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not flag.exists():
            assert driver.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        driver.kill()
        driver.wait(DEADLINE_SECONDS)
    assert read_output(spark, out).count() == 5
    publish_output(spark.range(7), out, "d2", {})
    assert read_output(spark, out).count() == 7
    assert [path.name for path in out.iterdir() if path.name.startswith("run-")] != []
