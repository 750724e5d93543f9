"""Flink's virtual environment, made on demand, and our workloads in its SQL. Nothing is measured here.

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
from ..workloads import W1_FACTOR, TwoStep

ENVIRONMENT: Final = Path(__file__).parent / ".venv"
PACKAGE, VERSION = "apache-flink", "2.3.0"
SECONDS_MAX: Final = 1200  # of installation

Pattern = tuple[str | None, str]
W1: Final[list[Pattern]] = [(None, f"B AS B.price > {W1_FACTOR}E0 * A.price")]


def w4(subscriptions: Sequence[TwoStep]) -> list[Pattern]:
    """Symbol and DEFINE clause of each; literals are doubles, as ours are."""
    return [(s.symbol, f"A AS A.price > {s.above:.4f}E0, B AS B.price < {s.below:.4f}E0") for s in subscriptions]


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


def job(ticks: Path, patterns: Sequence[Pattern], passes: int) -> dict[str, Any]:
    """What flink_job.py is asked."""
    return {"ticks": str(ticks), "patterns": [list(pattern) for pattern in patterns], "passes": passes}


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"{PACKAGE} is not installed after {SECONDS_MAX} s") from None
    if done.returncode:
        complaint = done.stderr.strip().splitlines() or ["no complaint"]
        python = ".".join(map(str, sys.version_info[:2]))
        raise BenchmarkError(f"{PACKAGE} {VERSION} for Python {python} cannot be installed: {complaint[-1]}")
