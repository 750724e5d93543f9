"""Apply deliberate faults to the sources one at a time, and show which test turns red. The list is mutants.toml.

    python tests/mutants/run.py [NAME ...] [--jobs 2] [--list]

Each worker has a copy of the working tree. There it applies a mutant, runs the tests that should notice, and restores
the file. A test that fails kills the mutant; a module that cannot be imported does not. The examples are those of the
profile HYPOTHESIS_PROFILE, by default `test`, as in `make test`. Exits with 1 where a mutant survives, where its text
is not found exactly once, or where a test is red without any mutant.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from queue import SimpleQueue
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LIST: Final = Path(__file__).with_name("mutants.toml")
TIMEOUT: Final = 300  # seconds for the tests of one mutant
BASELINE_TIMEOUT: Final = 3_600

_FAILED: Final = re.compile(r"^FAILED (.+?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mutant:
    """`old` stands once in `file` and becomes `new`. `fault`: what a user would suffer. `tests`: pytest's arguments.

    `hangs`: tests that do not end within TIMEOUT count as red.
    """

    name: str
    file: str
    fault: str
    old: str
    new: str
    tests: tuple[str, ...]
    hangs: bool = False

    def applied(self, source: str) -> str:
        """The source with the fault. Raises ValueError unless `old` occurs exactly once."""
        found = source.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: expected `old` once in {self.file}, found it {found} times")
        return source.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`outcome`: "killed", "SURVIVED" or "BROKEN"; `by`: the test that failed, or what went wrong."""

    mutant: Mutant
    outcome: str
    by: str
    seconds: float

    def line(self) -> str:
        return f"{self.outcome:<8}  {self.mutant.name:<44}  {self.seconds:5.1f} s  {self.by}"


def read_mutants(path: Path = LIST) -> list[Mutant]:
    """The list, in its order. Raises KeyError and TypeError for a field that is missing or unknown."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**(entry | {"tests": tuple(entry["tests"])})) for entry in entries]


def problems(mutants: Iterable[Mutant], root: Path) -> list[str]:
    """One line for each mutant that cannot be applied to the tree there."""
    found: list[str] = []
    for mutant in mutants:
        try:
            mutant.applied((root / mutant.file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            found.append(str(error))
    return found


def copy_tree(target: Path) -> None:
    """The files that git knows or would add, as they are in the working tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():  # one that was deleted is listed until that is committed
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def run_tests(tree: Path, tests: Sequence[str], options: Sequence[str], timeout: float) -> tuple[int | None, str]:
    """pytest's exit status, None if it took too long, and what it printed."""
    # No example of another mutant's failure may be tried again.
    shutil.rmtree(tree / ".hypothesis", ignore_errors=True)
    environment = os.environ | {"PYTHONPATH": str(tree / "tests")}
    environment.setdefault("HYPOTHESIS_PROFILE", "test")
    plugins = ["-p", "no:cacheprovider", "-p", "mutants.unshrunk"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", *plugins, *options, *tests], cwd=tree, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=timeout)
        return process.returncode, printed
    except subprocess.TimeoutExpired:
        return None, f"no end after {timeout:g} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # with the brokers that tests have started
            process.communicate()


def try_mutant(mutant: Mutant, tree: Path) -> Verdict:
    """Apply it in this copy, run its tests, restore the file."""
    path = tree / mutant.file
    source = path.read_text(encoding="utf-8")
    began = time.monotonic()
    try:
        _write(path, mutant.applied(source))
        status, printed = run_tests(tree, mutant.tests, ["-x"], TIMEOUT)
    finally:
        _write(path, source)
    outcome, by = judge(mutant, status, printed)
    return Verdict(mutant, outcome, by, time.monotonic() - began)


def judge(mutant: Mutant, status: int | None, printed: str) -> tuple[str, str]:
    """Outcome and reason of what pytest has said of a mutant."""
    if status is None:
        return ("killed" if mutant.hangs else "BROKEN"), printed
    if status == 0:
        return "SURVIVED", f"{mutant.fault}: {' '.join(mutant.tests)}"
    failed = _FAILED.findall(printed)
    if status == 1 and failed:
        return "killed", failed[0]
    return "BROKEN", f"pytest ended with {status} and no failed test: {' '.join(printed.split()[-40:])}"


def _write(path: Path, source: str) -> None:
    """Also forget the bytecode: it is recognised by size and second, which two versions may share."""
    path.write_text(source, encoding="utf-8")
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def try_all(mutants: Sequence[Mutant], jobs: int) -> bool:
    """Print a line for each and a tally; whether all were killed."""
    with tempfile.TemporaryDirectory(prefix="foretell-mutants-") as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            tree = Path(folder) / str(number)
            copy_tree(tree)
            trees.put(tree)
        tree = trees.get()
        tests = list(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
        began = time.monotonic()
        status, printed = run_tests(tree, tests, [], BASELINE_TIMEOUT)
        trees.put(tree)
        if status != 0:
            print(printed, "without any mutant the tests must pass", sep="\n", file=sys.stderr)
            return False
        print(f"without any mutant all named tests pass, in {time.monotonic() - began:.1f} s", flush=True)

        def next_in_line(mutant: Mutant) -> Verdict:
            tree = trees.get()
            try:
                return try_mutant(mutant, tree)
            finally:
                trees.put(tree)

        killed = 0
        with ThreadPoolExecutor(jobs) as pool:
            for verdict in as_completed([pool.submit(next_in_line, mutant) for mutant in mutants]):
                print(verdict.result().line(), flush=True)
                killed += verdict.result().outcome == "killed"
    print(f"{killed} of {len(mutants)} mutants killed")
    return killed == len(mutants)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Deliberate faults, and the tests that turn red.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="these mutants only")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time, each in a copy of the tree (2)")
    parser.add_argument("--list", action="store_true", help="show the mutants, and apply none")
    chosen = parser.parse_args(arguments)
    mutants = read_mutants()
    unknown = sorted(set(chosen.names) - {mutant.name for mutant in mutants})
    if unknown:
        parser.error(f"unknown mutants: {', '.join(unknown)}")
    if chosen.names:
        mutants = [mutant for mutant in mutants if mutant.name in chosen.names]
    if chosen.list:
        for mutant in mutants:
            print(f"{mutant.name:<44}  {mutant.file}: {mutant.fault}")
        return 0
    found = problems(mutants, ROOT)
    if found:
        print(*found, sep="\n", file=sys.stderr)
        return 1
    return 0 if try_all(mutants, max(1, chosen.jobs)) else 1


if __name__ == "__main__":
    sys.exit(main())
