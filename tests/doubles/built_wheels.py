"""How tests build a wheel of a copy of the sources, and run an interpreter that knows nothing of the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("broker", "client", "spark_bridge")
PURE_TAG = "-py3-none-any.whl"
REQUIRED = {"FORETELL_PURE": "0"}
# Without what pytest was told to import, and what this build would be told.
REMOVED = {"PYTHONPATH", "PYTHONSAFEPATH", "FORETELL_PURE"}


def python(
    environment: Mapping[str, str],
    *arguments: str | Path,
    folder: Path = Path("/"),
    interpreter: str | Path = sys.executable,
) -> subprocess.CompletedProcess[str]:
    """Run an interpreter, by default this one, by default outside the repository."""
    kept = {name: value for name, value in os.environ.items() if name not in REMOVED}
    command = [str(interpreter), *map(str, arguments)]
    return subprocess.run(command, env={**kept, **environment}, cwd=folder, capture_output=True, text=True, check=False)


def source(folder: Path) -> Path:
    """A copy of what is built."""
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def built(copy: Path, environment: Mapping[str, str]) -> Path:
    """The wheel of a copy of the sources."""
    build = python(environment, "-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "dist", copy)
    assert build.returncode == 0, build.stdout + build.stderr
    (wheel,) = (copy / "dist").glob("*.whl")
    return wheel
