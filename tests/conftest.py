"""What every test shares: hypothesis's profiles, a seed that is always shown, the packages. No fixtures belong here.

``dev`` (the default) tries other examples each time. ``test`` tries fewer, ``verify`` three times as many: these two
try the same examples for the same commit wherever they run. ``search``, for nights and releases, tries five times
as many as ``verify``, always others. A property that needs more than its share multiplies that, and one that needs so
many for the faults of `make mutants` has a least number: ``@settings(max_examples=max(200, 4 *
settings().max_examples))``. The summary prints the command that repeats a failing property.

The packages are those of the repository, pure Python; with ``--native FOLDER`` those installed there, compiled.
Processes that a test starts import the same. Python's collector of cycles looks rarely at what tests make: with
thousands of examples in one process it would take a quarter of the time.
"""

from __future__ import annotations

import os
import random
import shlex
import sys
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, PathFinder
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent

# No deadlines: how long an example takes on a shared machine is not a property of the code.
settings.register_profile("dev", max_examples=50, print_blob=True, derandomize=False, deadline=None)
settings.register_profile(
    "test", parent=settings.get_profile("dev"), max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("verify", parent=settings.get_profile("test"), max_examples=90)
settings.register_profile("search", parent=settings.get_profile("test"), max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--native", metavar="FOLDER", help="test the compiled packages there instead of the sources")
    parser.addoption("--wheels", metavar="FOLDER", help="where tests/packaging finds wheels (default: it builds them)")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw the seed before hypothesis looks for one; the workers of pytest-xdist inherit it as an option."""
    choose_packages(config.getoption("--native"))
    import_module("broker.collector").collect_rarely()
    if config.getoption("--hypothesis-seed") is None:
        fixed = os.environ.get("HYPOTHESIS_PROFILE") in ("test", "verify")
        config.option.hypothesis_seed = "1" if fixed else str(random.SystemRandom().randrange(2**32))


def choose_packages(native: str | None) -> None:
    """Import them from there, here and in other processes, whatever folder those start in."""
    folders = [str(TESTS.parent), str(TESTS)]
    if native is not None:
        folders.insert(0, str(Path(native).resolve()))
        sys.path.insert(0, folders[0])
        os.environ["PYTHONSAFEPATH"] = "1"  # `python -m` would look in its folder first
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)
    found = PathFinder.find_spec("broker.engine.results", [f"{folders[0]}/broker/engine"])
    if isinstance(found and found.loader, ExtensionFileLoader) != (native is not None):
        raise pytest.UsageError(f"expected the {'compiled' if native else 'pure'} engine in {folders[0]}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    profile = config.getoption("--hypothesis-profile") or os.environ.get("HYPOTHESIS_PROFILE", "dev")
    seed = config.getoption("--hypothesis-seed")
    native = config.getoption("--native")
    terminalreporter.write_line(f"hypothesis: HYPOTHESIS_PROFILE={profile}, repeat with --hypothesis-seed={seed}")
    options = [f"--hypothesis-seed={seed}", *(["--native", native] if native is not None else [])]
    for report in terminalreporter.getreports("failed"):
        if "hypothesis" in report.keywords:  # the name with which hypothesis marks each property
            command = f".venv/bin/pytest {shlex.join([*options, report.nodeid])}"
            terminalreporter.write_line(f"repeat with: HYPOTHESIS_PROFILE={profile} {command}")
