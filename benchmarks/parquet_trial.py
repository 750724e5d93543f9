"""W1 on a Parquet file, beside reading the file alone; a job in JSON comes in, figures in JSON go out.

    python -m benchmarks.parquet_trial < job.json

The job has a file of ticks and one query. The ticks are written as Parquet first, which is not timed. Then both are
done in turn, so that both meet the same minutes of the machine: the file is read in record batches that nobody looks
at, and it is read as `foretell run` reads it and published to an engine, whose matches are counted. CPU time, that of
pyarrow's threads too.
"""

from __future__ import annotations

import json
import sys
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from time import process_time
from typing import Any, Final, TypedDict

from broker.command.batch import EventBatch
from broker.command.column_rows import ColumnRows
from broker.command.parquet_rows import CHUNK_ROWS, open_parquet
from broker.command.reading import Reading
from broker.engine import Engine
from broker.engine import results as built
from broker.events import Schema, StreamDefinition

from .ticks import ATTRIBUTES, STREAM
from .trial import columns, load
from .unit import unit_seconds

PASSES: Final = 7
TIME: Final = "time"


class Job(TypedDict):
    """`ticks`: a file of packed batches."""

    ticks: str
    query: str


class Figures(TypedDict):
    """CPU seconds of all events, a pass after the other; `unit` of one event. `rows`: batches whose rows were made."""

    compiled: bool
    events: int
    matches: int
    reading: list[float]
    matching: list[float]
    unit: float
    rows: int


def measure(job: Job) -> Figures:
    """Run the job. O(events in memory) while the file is written."""
    batches = load(job["ticks"])
    with tempfile.TemporaryDirectory(prefix="foretell-benchmark-") as folder:
        file = Path(folder) / "ticks.parquet"
        events = write(file, batches)
        unit = unit_seconds(batches)
        reading: list[float] = []
        matching: list[float] = []
        for _ in range(PASSES):
            begun = process_time()
            read(file)
            reading.append(process_time() - begun)
            begun = process_time()
            matches, rows = match(file, job["query"])
            matching.append(process_time() - begun)
        return Figures(
            compiled=(built.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)),
            events=events,
            matches=matches,
            reading=reading,
            matching=matching,
            unit=min(unit, unit_seconds(batches)),
            rows=rows,
        )


def write(file: Path, batches: list[bytes]) -> int:
    """The ticks as Parquet, as pyarrow writes it by itself; how many there are."""
    import pyarrow
    import pyarrow.parquet

    found: dict[str, list[Any]] = {name: [] for name in (*ATTRIBUTES, TIME)}
    for times, rows in map(columns, batches):
        found[TIME] += times
        for name, values in zip(ATTRIBUTES, zip(*rows, strict=True)):
            found[name] += values
    pyarrow.parquet.write_table(pyarrow.table(found), file)
    return len(found[TIME])


def read(file: Path) -> None:
    """Read the columns, and nothing else."""
    with open_parquet(str(file), str(file)) as opened:
        for _ in opened.iter_batches(CHUNK_ROWS, columns=[TIME, *ATTRIBUTES]):
            pass


def match(file: Path, query: str) -> tuple[int, int]:
    """Read the file and publish it: how many matches there are, and of how many batches rows were made."""
    engine = Engine()
    engine.add_stream(STREAM, ATTRIBUTES, key="name")
    engine.subscribe("q", language="cayuga", query=query)
    stream = StreamDefinition(STREAM, Schema.declare(ATTRIBUTES), "name")
    found = rows = 0
    with Reading({STREAM: stream}, "parquet", time=TIME).open(str(file)) as reader:
        for batch in reader.items:
            assert isinstance(batch, EventBatch)
            if isinstance(batch.rows, ColumnRows):
                found += len(engine.publish_columns(STREAM, batch.rows.columns, batch.times))
            else:
                rows += 1
                found += len(engine.publish(STREAM, batch.times, batch.rows))
    return found, rows


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
