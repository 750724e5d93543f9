"""Where and with what a result was measured, so that no number is without its machine. No measurement here."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from broker import __version__

from .measuring import ROOT


def provenance(packages: Sequence[str] = ("msgpack", "lark")) -> dict[str, Any]:
    """Machine, versions and commit; `load` is what else the machine did in the minute before."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {
            "cpu": _processor(),
            "cores": os.cpu_count(),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "system": platform.platform(),
            "load": round(os.getloadavg()[0], 2),
        },
        "versions": {
            "foretell": __version__,
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            **{package: version(package) for package in packages},
        },
        "commit": _commit(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _commit() -> str | None:
    """The commit, with a + where the tree differs from it; None outside a repository."""
    commit = _git("rev-parse", "--short=12", "HEAD")
    return None if commit is None else commit + ("+" if _git("status", "--porcelain") else "")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
