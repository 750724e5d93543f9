"""DuckDB's virtual environment, made on demand: the benchmarks need no package that only a rival needs."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path
from typing import Final

from ..measuring import BenchmarkError, Say

ENVIRONMENT: Final = Path(__file__).parent / ".venv-duckdb"
PACKAGE, VERSION = "duckdb", "2.0.1"
SECONDS_MAX: Final = 600  # of installation


def interpreter(say: Say) -> str:
    """The environment's Python, installed if need be. Raises BenchmarkError with pip's last line."""
    python = ENVIRONMENT / "bin" / "python"
    done = ENVIRONMENT / f"{PACKAGE}-{VERSION}"  # an installation that was broken off has none
    if done.exists():
        return str(python)
    say(f"installing {PACKAGE} {VERSION}")
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{PACKAGE}=={VERSION}"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"{PACKAGE} is not installed after {SECONDS_MAX} s") from None
    if ended.returncode:
        complaint = ended.stderr.strip().splitlines() or ["no complaint"]
        raise BenchmarkError(f"{PACKAGE} {VERSION} cannot be installed: {complaint[-1]}")
    done.touch()
    return str(python)
