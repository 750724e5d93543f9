"""The naive rival in the form in which the engine is measured: as it stands, or compiled by the same compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import copy
from typing import Final

from ..builds import Build
from ..measuring import BenchmarkError

NAIVE: Final = "benchmarks.kleene.naive"
COMPILED: Final = "kleene_naive"
SECONDS_MAX: Final = 300


def compiled_rival(build: Build) -> str:
    """Compiles the rival into the folder of a build; the name of its module there. Raises BenchmarkError."""
    copy(Path(__file__).with_name("naive.py"), Path(build.folder) / f"{COMPILED}.py")
    command = [sys.executable, "-m", "mypyc", f"{COMPILED}.py"]
    try:
        done = subprocess.run(
            command, cwd=build.folder, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"compiling the naive rival: no result after {SECONDS_MAX} s") from None
    if done.returncode:
        complaint = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no complaint"]
        raise BenchmarkError(f"compiling the naive rival: {complaint[-1]}")
    return COMPILED
