"""Starts Spark sessions for commands, and turns errors of Spark into one line.

This module imports pyspark only when a session is needed. A session that it starts is quiet: Spark's own log goes to
the file of --spark-log, by default nowhere. Within spark-submit, the session keeps its master and its log; with
`sc://HOST:PORT` it is that of a Spark Connect server.

Here: sessions, their progress, their errors. Not here: jobs (prepare, train, backtest).
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from ..events.errors import ForetellError
from .complaint import BadInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL: Final = "local[*]"
CONNECT: Final = "sc://"
SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""spark-submit sets this in the processes that it starts beside a JVM."""
POLL_SECONDS: Final = 0.3

MasterOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help=f"Spark's master, {CONNECT}HOST:PORT for Spark Connect; {LOCAL} if spark-submit has none."
    ),
]
ConfOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--conf", metavar="NAME=VALUE", help="A setting of Spark; may be repeated.")
]
LogOption: TypeAlias = Annotated[
    Path | None, typer.Option("--spark-log", metavar="FILE", help="The file for Spark's log; by default it is dropped.")
]

_FORETOLD: Final = re.compile(r"^broker\.(?:events|language)\.[\w.]*?(\w+): (.*)$", re.MULTILINE)
_SECRET: Final = re.compile(r"(?i)secret|password|token")


@contextmanager
def spark_session(
    master: str | None, conf: Sequence[str] | None, log: Path | None, what: str = "history"
) -> Iterator[SparkSession]:
    """Yield a session, with a bar on a terminal while it works on `what`; errors of Spark leave the block as BadInput.

    The session is stopped at the end if there was none before. Raises BadInput if pyspark or Java is missing or a
    setting is wrong.
    """
    require_spark()
    wanted = settings(conf)
    remote = master is not None and master.startswith(CONNECT)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    with warnings.catch_warnings(), complaining():
        warnings.simplefilter("ignore")  # pyspark warns about its own and Python's versions
        from pyspark.sql import SparkSession

        own = SparkSession.getActiveSession() is None
        submitted = SUBMITTED in os.environ
        if submitted or remote:
            spark = _session(master, wanted, remote, submitted)
        else:
            with _quiet(log):
                spark = _session(master or LOCAL, wanted, remote, submitted)
        try:
            with _bar(spark, what, shown=sys.stderr.isatty() and not remote):
                yield spark
        finally:
            if own:
                spark.stop()


def require_spark() -> None:
    """Raise BadInput if pyspark or pyarrow is not installed."""
    for name in ("pyspark", "pyarrow"):
        if find_spec(name) is None:
            raise BadInput(f"this command needs Spark, and {name} is not installed: pip install 'foretell[spark]'")


def settings(conf: Sequence[str] | None) -> dict[str, str]:
    """Return --conf as names and values. Raises BadInput."""
    found: dict[str, str] = {}
    for each in conf or ():
        name, equals, value = each.partition("=")
        if not equals or not name.startswith("spark."):
            shown = name if _SECRET.search(name) else each
            raise BadInput(f"--conf: expected spark.NAME=VALUE, found {shown!r}")
        found[name] = value
    return found


def _session(master: str | None, wanted: dict[str, str], remote: bool, submitted: bool) -> SparkSession:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    known = {"spark.sql.session.timeZone": "UTC", "spark.sql.adaptive.coalescePartitions.enabled": "false"}
    if remote:
        builder = builder.remote(master)
    else:
        builder = builder.appName("foretell")
        known["spark.ui.showConsoleProgress"] = "false"
        if master is not None:
            builder = builder.master(master)
        if not submitted:
            known["spark.ui.enabled"] = "false"
        if master is not None and master.startswith("local"):
            known["spark.sql.shuffle.partitions"] = str(2 * (os.cpu_count() or 1))
            known["spark.driver.host"] = known["spark.driver.bindAddress"] = "127.0.0.1"
    for name, value in {**known, **wanted}.items():
        builder = builder.config(name, value)
    spark: SparkSession = builder.getOrCreate()
    return spark


@contextmanager
def _quiet(log: Path | None) -> Iterator[None]:
    """Send the standard error of processes started within the block to the log, as long as they live."""
    sys.stderr.flush()
    sink = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    kept = os.dup(2)
    try:
        os.dup2(sink, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(sink)


# --- progress -------------------------------------------------------------------------------------------------------


@contextmanager
def _bar(spark: SparkSession, what: str, shown: bool) -> Iterator[None]:
    """Show how many tasks of the active stages are done, polling from time to time."""
    if not shown:
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    over = Event()
    tracker = spark.sparkContext.statusTracker()
    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task(what, total=None)

        def look() -> None:
            while not over.wait(POLL_SECONDS):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                known = [stage for stage in stages if stage is not None]
                total = sum(stage.numTasks for stage in known)
                if total:
                    bar.update(task, total=total, completed=sum(stage.numCompletedTasks for stage in known))

        looking = Thread(target=look, name="progress", daemon=True)
        looking.start()
        try:
            yield
        finally:
            over.set()
            looking.join()


# --- errors ---------------------------------------------------------------------------------------------------------


@contextmanager
def complaining() -> Iterator[None]:
    """Turn what Spark raises in the block into a BadInput of one line, unless it is a bug of Foretell."""
    try:
        yield
    except Exception as error:
        line = complaint_of(error)
        if line is None:
            raise
        raise BadInput(line) from None


def complaint_of(error: Exception) -> str | None:
    """Return an exception of Spark as one line; None for a ForetellError, which is one line already, and for others.

    An error in a worker arrives as a traceback that ends with an error of Foretell. Any other Python traceback is a bug
    and stays one.
    """
    if isinstance(error, ForetellError) or type(error).__module__.partition(".")[0] not in ("pyspark", "py4j", "grpc"):
        return None
    text = str(error)
    errors = _FORETOLD.findall(text)
    if errors:
        return str(errors[-1][1])
    if "JAVA_GATEWAY_EXITED" in text or "JAVA_HOME" in text:
        return "Spark did not start; it needs Java 17 or newer (--spark-log FILE saves its log)"
    if "Traceback (most recent call last)" in text:
        return None
    java = getattr(error, "java_exception", None)
    if java is not None:
        text = _root(java)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    return f"Spark: {lines[0] if lines else type(error).__name__}"


def _root(java: Any) -> str:
    """Return the innermost cause of a JVM exception, which contains the place."""
    cause = java
    for _ in range(20):
        inner = cause.getCause()
        if inner is None:
            break
        cause = inner
    return str(cause.toString())
