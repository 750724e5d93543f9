"""A job in a process of its own: `python cluster_job.py MASTER FOLDER`, which prints what came out as JSON.

It is what a user writes: a session, a DataFrame or a prepared history, train and backtest. With a cluster's master the
packages go to the executors in an archive, as `spark-submit --py-files` sends them. Not a test: test_clusters runs it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGES = ("broker", "client", "spark_bridge")


def archive(folder: Path) -> Path:
    """The packages as one file."""
    found = folder / "foretell.zip"
    with zipfile.ZipFile(found, "w") as file:
        for package in PACKAGES:
            for path in sorted((ROOT / package).rglob("*")):
                if path.suffix in (".py", ".lark"):
                    file.write(path, str(path.relative_to(ROOT)))
    return found


def session(master: str, folder: Path) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("foretell cluster test")
    connect = master.startswith("connect:")
    builder = builder.remote(master.removeprefix("connect:")) if connect else builder.master(master)
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.executorEnv.PYTHONPATH": "",
        "spark.submit.pyFiles": str(archive(folder)),
        "spark.excludeOnFailure.enabled": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def killing(task: Any, folder: Path, whole: bool) -> Any:
    """The task, whose first attempt ends its process in the middle, and with `whole` the executor's too."""
    kept = task.part

    class Killing:
        schema = task.schema

        def part(self, work: Any) -> Iterator[Any]:
            for batch in kept(work):
                yield batch
                flag = folder / "killed"
                try:
                    flag.touch(exist_ok=False)
                except FileExistsError:
                    continue
                flag.write_text(work.engine.__class__.__module__)
                if whole:
                    os.kill(executor(), signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)

    return Killing()


def executor() -> int:
    """The Java process above this worker."""
    process = os.getpid()
    while True:
        status = Path(f"/proc/{process}/status").read_text()
        process = int(status.partition("PPid:")[2].split()[0])
        if Path(f"/proc/{process}/comm").read_text().strip() == "java":
            return process


def main(master: str, folder: Path) -> None:
    from broker.forecast.model_file import write_model
    from spark_bridge.backtesting import Backtest, backtest
    from spark_bridge.execution import run_cells
    from spark_bridge.history.prepared import History
    from spark_bridge.subscriptions import Subscriptions
    from spark_bridge.training import model_of, train

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    spark = session(master, folder)
    subscriptions = Subscriptions.read(folder / "subscriptions.toml")
    history = History.open(folder / "history")
    told: dict[str, Any] = {}
    told["prepared"] = sorted(row.line for row in backtest(spark, history, subscriptions).collect())
    told["model"] = write_model(model_of(train(spark, history.events(spark), subscriptions)))
    if master.startswith("local-cluster"):
        dying = run_cells(spark, history, subscriptions, "shards", killing(Backtest(), folder, whole=True))
        told["after"] = sorted(row.line for row in dying.collect())
        where = spark.range(2).mapInArrow(imported, "file string").collect()
        told["imported"] = sorted({row.file for row in where})
    (folder / "told.json").write_text(json.dumps(told))
    spark.stop()


def imported(batches: Iterator[Any]) -> Iterator[Any]:
    """Where a worker has the packages from."""
    import pyarrow as pa

    import spark_bridge

    for batch in batches:
        yield pa.RecordBatch.from_pydict({"file": [spark_bridge.__file__] * batch.num_rows})


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
