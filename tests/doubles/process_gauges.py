"""What a process holds as the system sees it, and waiting for a condition; no bound and no judgement belong here.

How much memory a process holds after a load is as much the allocator's affair as the program's: what was needed once
may stay with the process. A leak is what every further load of the same kind adds. So tests repeat a load until it adds
nothing, and do not compare with the beginning.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

WAIT_SECONDS_MAX: Final = 60.0
"""For a condition that is certain to come: longer than any pause of a busy machine."""


def resident_kilobytes(process: int) -> int:
    """The memory that the process holds now."""
    return _status(process, "VmRSS:")


def peak_kilobytes(process: int) -> int:
    """The most that it has held."""
    return _status(process, "VmHWM:")


def open_files(process: int) -> int:
    """Files, sockets and the like."""
    return len(os.listdir(f"/proc/{process}/fd"))


def children(process: int) -> list[int]:
    """The processes that it has begun and that have not ended, or not been waited for."""
    found: list[int] = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):  # it may end meanwhile
            _, _, rest = Path(f"/proc/{name}/stat").read_text().rpartition(")")
            if int(rest.split()[1]) == process:
                found.append(int(name))
    return sorted(found)


def comes_true(condition: Callable[[], bool], seconds: float = WAIT_SECONDS_MAX) -> bool:
    """Whether it is so within the time; looked at a hundred times a second."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return condition()
        time.sleep(0.01)
    return True


def growth_of_repeated(load: Callable[[], object], process: int, enough: int, rounds: int = 8) -> list[int]:
    """Kilobytes that each round has added, until one has added at most `enough`; a leak makes it go on to the end."""
    grown: list[int] = []
    while len(grown) < rounds and (not grown or grown[-1] > enough):
        before = resident_kilobytes(process)
        load()
        grown.append(resident_kilobytes(process) - before)
    return grown


def _status(process: int, field: str) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition(field)[2].split()[0])
