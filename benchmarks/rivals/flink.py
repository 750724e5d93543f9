"""Flink's virtual environment, made on demand, and our workloads in its SQL. Nothing is measured here.

W3 is not there: of an event that does not fit, MATCH_RECOGNIZE can say nothing but that the pattern ends.

It is an environment of its own since PyFlink needs another pyarrow than we do. It takes some 850 MB, and Java 11 or 17.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ..measuring import BenchmarkError, Say
from ..workloads import W1_FACTOR, W2_LENGTH, Box, TwoStep

ENVIRONMENT: Final = Path(__file__).parent / ".venv"
PACKAGE, VERSION = "apache-flink", "2.3.0"
SECONDS_MAX: Final = 1200  # of installation

PAIR: Final = """
SELECT 1 AS n, moment FROM {source} MATCH_RECOGNIZE (
  PARTITION BY name ORDER BY ts
  MEASURES B.t AS t, MATCH_ROWTIME() AS moment
  ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B) DEFINE {define}
)
"""
W1: Final = [PAIR.format(source="stock", define=f"B AS B.price > {W1_FACTOR}E0 * A.price")]
# Of each first tick it gives one row, that of the longest run, when that has ended; it stands for all shorter ones.
W2: Final = [
    f"""
SELECT n, moment FROM stock MATCH_RECOGNIZE (
  PARTITION BY name ORDER BY ts
  MEASURES COUNT(B.t) - {W2_LENGTH - 2} AS n, MATCH_ROWTIME() AS moment
  ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B{{{W2_LENGTH - 1},}} C)
  DEFINE B AS (LAST(B.price, 1) IS NULL AND B.price > A.price) OR B.price > LAST(B.price, 1),
    C AS C.price <= LAST(B.price)
)
"""
]


def w4(subscriptions: Sequence[TwoStep]) -> list[str]:
    """A query for each; literals are doubles, as ours are. A query of one symbol gets only its ticks."""
    return [
        PAIR.format(
            source=f"(SELECT * FROM stock WHERE name = '{s.symbol}')",
            define=f"A AS A.price > {s.above:.4f}E0, B AS B.price < {s.below:.4f}E0",
        )
        for s in subscriptions
    ]


def w5(subscriptions: Sequence[Box]) -> list[str]:
    """A query for each, which needs no pattern."""
    return [
        f"SELECT 1 AS n, ts AS moment FROM stock WHERE name = '{s.symbol}' AND price >= {s.low:.4f}E0"
        f" AND price <= {s.high:.4f}E0 AND volume > {s.volume}"
        for s in subscriptions
    ]


def interpreter(say: Say) -> str:
    """The environment's Python, installed if need be. Raises BenchmarkError with pip's last line, or without Java."""
    if shutil.which("java") is None:
        raise BenchmarkError("Flink needs Java 11 or 17; no java on the path")
    python = ENVIRONMENT / "bin" / "python"
    done = ENVIRONMENT / f"{PACKAGE}-{VERSION}"  # an installation that was broken off has none
    if done.exists():
        return str(python)
    say(f"installing {PACKAGE} {VERSION}, some 850 MB")
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{PACKAGE}=={VERSION}"])
    done.touch()
    return str(python)


def job(ticks: Path, queries: Sequence[str], passes: int) -> dict[str, Any]:
    """What flink_job.py is asked."""
    return {"ticks": str(ticks), "queries": list(queries), "passes": passes}


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"{PACKAGE} is not installed after {SECONDS_MAX} s") from None
    if done.returncode:
        complaint = done.stderr.strip().splitlines() or ["no complaint"]
        python = ".".join(map(str, sys.version_info[:2]))
        raise BenchmarkError(f"{PACKAGE} {VERSION} for Python {python} cannot be installed: {complaint[-1]}")
