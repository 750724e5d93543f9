"""The summary prints the command that repeats a failing property: its profile, its seed and its packages."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

PROPERTIES = """
import pytest
from hypothesis import given, strategies as st

@pytest.mark.parametrize("name", ["a b"])
@given(n=st.integers())
def test_that_fails(name, n):
    assert hash((n, n)) % 2 == 0

@given(n=st.integers())
def test_that_holds(n):
    assert n == n

def test_that_is_no_property():
    assert False
"""


def run(folder: Path, arguments: list[str], profile: str) -> str:
    """What pytest prints, in a folder of its own, with the configuration of these tests."""
    environment = os.environ | {"HYPOTHESIS_PROFILE": profile}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False).stdout


def repeats(said: str) -> list[str]:
    return [line.removeprefix("repeat with: ") for line in said.splitlines() if line.startswith("repeat with: ")]


def test_a_failing_property_prints_the_command_that_repeats_it(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(PROPERTIES)
    said = run(tmp_path, ["test_some.py"], "test")
    command = "HYPOTHESIS_PROFILE=test .venv/bin/pytest --hypothesis-seed=1 'test_some.py::test_that_fails[a b]'"
    assert repeats(said) == [command]
    falsified = re.findall(r"n=-?\d+", said)
    again = run(tmp_path, shlex.split(command)[2:], "test")
    assert falsified
    assert re.findall(r"n=-?\d+", again) == falsified
    assert "1 failed" in again


def test_where_seeds_differ_the_command_has_that_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(PROPERTIES)
    said = run(tmp_path, ["test_some.py"], "dev")
    seed = re.search(r"repeat with --hypothesis-seed=(\d+)", said)
    assert seed is not None
    assert f"HYPOTHESIS_PROFILE=dev .venv/bin/pytest --hypothesis-seed={seed.group(1)} " in repeats(said)[0]


def test_compiled_packages_are_part_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(PROPERTIES)
    compiled = tmp_path / "compiled" / "broker" / "engine"
    compiled.mkdir(parents=True)
    (compiled / f"results{EXTENSION_SUFFIXES[0]}").touch()  # it is looked for, and not imported here
    (command,) = repeats(run(tmp_path, ["--native", "compiled", "test_some.py"], "test"))
    assert "--hypothesis-seed=1 --native compiled " in command
