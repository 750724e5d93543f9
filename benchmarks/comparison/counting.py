"""Counts the instructions of a trial's phases, under valgrind's callgrind. No clock belongs here.

A count depends neither on what else the machine does nor on its processor's frequency, and that of the engine repeats
to a few thousandths: it says whether a build does more work, where seconds on a busy machine say nothing. It is no
time: an instruction that waits for memory counts as one, and what the kernel does is not counted. A broker's count
depends on when its messages come too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, final

from ..measuring import BenchmarkError, trial
from .phases import LIBRARY

SOURCE: Final = Path(__file__).with_name("phases.c")
DUMP: Final = "instructions.out"
LIBRARY_FILE: Final = "phases.so"
_PHASE: Final = re.compile(r"^desc: Trigger: Client Request: (\S+)$", re.MULTILINE)
_TOTAL: Final = re.compile(r"^totals: (\d+)$", re.MULTILINE)


def build_counter(folder: Path) -> None:
    """Compiles phases.c into the folder. Raises BenchmarkError where valgrind or a compiler is missing."""
    if shutil.which("valgrind") is None:
        raise BenchmarkError("counting instructions: valgrind is missing")
    made = folder / LIBRARY_FILE
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(made), str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        complaint = done.stderr.strip().splitlines() or ["no complaint"]
        raise BenchmarkError(f"counting instructions: phases.c: {complaint[0]}")


def counted(module: str, job: Mapping[str, Any], build: Path, library: Path, dumps: Path) -> tuple[Any, dict[str, int]]:
    """What a trial says, and the instructions of its phases. The dumps stay in their folder, for callgrind_annotate."""
    # Strings hash alike in both builds: a dictionary's collisions are no difference between them.
    variables = {LIBRARY: str(library), "PYTHONHASHSEED": "0"}
    said = trial(module, job, folder=build, under=command(dumps), variables=variables)
    return said, instructions(dumps)


def command(dumps: Path) -> list[str]:
    """What runs a program so that its instructions can be counted; its dumps go to this folder, which is made anew."""
    shutil.rmtree(dumps, ignore_errors=True)
    dumps.mkdir(parents=True)
    return ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={dumps / DUMP}"]


def instructions(dumps: Path) -> dict[str, int]:
    """By phase, what the dumps of one trial count together."""
    found: dict[str, int] = {}
    for file in dumps.glob(f"{DUMP}.*"):
        text = file.read_text(encoding="utf-8", errors="replace")
        phase, total = _PHASE.search(text), _TOTAL.search(text)
        if phase is not None and total is not None:
            found[phase[1]] = found.get(phase[1], 0) + int(total[1])
    return found


@final
class Counter:
    """Counts in another process, from without. Without a folder of dumps nothing is counted."""

    def __init__(self, process: int, dumps: Path | None) -> None:
        self._process = process
        self._dumps = dumps
        self._counted = 0

    def begin(self) -> None:
        self._control("--instr=on")
        self._control("--zero")

    def end(self) -> int:
        """The instructions since `begin`."""
        if self._dumps is None:
            return 0
        self._control("--dump")
        self._control("--instr=off")
        totals = [_TOTAL.search(file.read_text(encoding="utf-8", errors="replace")) for file in self._dumped()]
        before, self._counted = self._counted, sum(int(total[1]) for total in totals if total is not None)
        return self._counted - before

    def _dumped(self) -> list[Path]:
        assert self._dumps is not None
        return list(self._dumps.glob(f"{DUMP}.*"))

    def _control(self, order: str) -> None:
        if self._dumps is not None:
            subprocess.run(["callgrind_control", order, str(self._process)], capture_output=True, check=True)
