"""Writes results of Spark as files: published whole or not at all, and once for equal inputs.

    OUT/CURRENT                         the name of the current run
    OUT/run-DIGEST/manifest.json        the number of rows of each table, and the caller's description
    OUT/run-DIGEST/NAME/part-....parquet

`DIGEST` covers everything that the rows depend on. publication.py describes what happens when something fails.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from broker.events import DefinitionError, suggestion

from .failures import plainly
from .history.manifest import digest_of
from .history.prepared import spark_path
from .publication import current_run, publish, write_durably

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT: Final = "foretell-output"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
TABLE: Final = "results"
"""The name of the table if there is only one."""
_SUCCESS: Final = "_SUCCESS"


def run_digest(*inputs: object) -> str:
    """The digest of all inputs of the results: JSON values, such as the digests of history and subscriptions, the plan
    and the version."""
    return digest_of([VERSION, *inputs])


def publish_output(
    tables: DataFrame | Mapping[str, DataFrame], out: str | Path, run_digest: str, about: Mapping[str, Any]
) -> Path:
    """Write these tables as Parquet; the folder of the run. Nothing is computed if a run of this digest exists.

    `about`: JSON values for the manifest, such as the digests of the inputs and the version of the program. Raises
    DefinitionError, and the error of a failed job; `out` is then unchanged.
    """
    from pyspark.sql import DataFrame

    named = {TABLE: tables} if isinstance(tables, DataFrame) else dict(tables)
    for name in named:
        if not name.isidentifier():
            raise DefinitionError(f"expected a name of letters, digits and _ for a table, found {name[:80]!r}")

    def write(folder: Path) -> str:
        rows: dict[str, int] = {}
        for name, table in named.items():
            with plainly(str(out)):
                table.write.parquet(spark_path(folder / name))
            rows[name] = _rows(folder / name)
        manifest = {"format": FORMAT, "version": VERSION, "run": run_digest, "rows": rows, "about": dict(about)}
        write_durably(folder / MANIFEST, json.dumps(manifest, indent=1))
        return run_digest

    return publish(out, run_digest, write)


def published(out: str | Path, run_digest: str) -> bool:
    """Whether the current run in a folder has this digest."""
    try:
        return bool(read_manifest(out)["run"] == run_digest)
    except DefinitionError:
        return False


def read_manifest(out: str | Path) -> dict[str, Any]:
    """The manifest of the current run. Raises DefinitionError if there is none."""
    file = current_run(Path(out).absolute()) / MANIFEST
    try:
        document: Any = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DefinitionError(f"{out}: expected published results, found no manifest of them: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("version") != VERSION:
        raise DefinitionError(f"{file}: expected the manifest of results of version {VERSION}, found something else")
    return document


def read_output(spark: SparkSession, out: str | Path, table: str = TABLE) -> DataFrame:
    """A table of the current run. Raises DefinitionError if there is none of this name."""
    rows = read_manifest(out)["rows"]
    if table not in rows:
        raise DefinitionError(f"{out}: expected a table {table!r}, found {', '.join(rows)}{suggestion(table, rows)}")
    with plainly(str(out)):
        return spark.read.parquet(spark_path(current_run(Path(out).absolute()) / table))


def _rows(folder: Path) -> int:
    """The number of rows in the written files. Raises DefinitionError if Spark has not finished."""
    import pyarrow.parquet as pq

    if not (folder / _SUCCESS).exists():
        raise DefinitionError(f"{folder}: expected the files of a job that has ended, found others")
    return sum(pq.read_metadata(file).num_rows for file in folder.glob("part-*.parquet"))
