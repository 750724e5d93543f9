"""One Spark session for all tests of this folder: starting one takes ten seconds and more, a query one.

They carry the mark xdist_group("spark"), so that one worker of pytest-xdist runs them all, one after the other. Spark's
own warnings, which no code of this project can avoid, are let pass here and nowhere else: after the last test here
nothing of Spark is left in the process that a later test could stumble over.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
ALLOWED = (
    "ignore::DeprecationWarning:pyspark.*",
    "ignore::FutureWarning:pyspark.*",
    "ignore:.*subprocess .* is still running:ResourceWarning",  # the gateway's, which lives as long as the session
    "ignore:unclosed <socket.socket:ResourceWarning",  # of py4j's connections, closed when they are collected
)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark it as soon as it is found: pytest-xdist reads the groups when all are."""
    item.add_marker(pytest.mark.xdist_group("spark"))
    for allowed in ALLOWED:
        item.add_marker(pytest.mark.filterwarnings(allowed))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After the last test here, Java goes, and what Python holds of it, while its warnings are still let pass."""
    yield
    if nextitem is None or not nextitem.path.is_relative_to(HERE):
        leave()


def leave() -> None:
    """Stop Spark and its Java process, if this process has one, and collect what is left of them."""
    if "pyspark" not in sys.modules:
        return
    from pyspark import SparkContext

    context, gateway = SparkContext._active_spark_context, SparkContext._gateway
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if context is not None:
            from pyspark.sql import SparkSession

            session = SparkSession.getActiveSession()
            context.stop() if session is None else session.stop()
        if gateway is not None:
            gateway.shutdown()
            process = getattr(gateway, "proc", None)
            if process is not None:
                process.stdin.close()
                process.wait(60)
            SparkContext._gateway = SparkContext._jvm = None
        gc.collect()


def settings(folder: Path) -> dict[str, str]:
    """Of a session for tests, with its files in that folder."""
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("foretell tests")
        for name, value in settings(tmp_path_factory.mktemp("spark")).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    yield session
    leave()
