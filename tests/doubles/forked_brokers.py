"""`foretell serve` in processes that start at once: copies of one that has imported everything before. For tests
that start a broker hundreds of times; what it does is what the shell does, with its output and its exit status.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, final

from doubles.broker_process import python_process

LOOKS_MAX: Final = 12_000
"""Counted, as the machine may stand still: at least a minute."""

LISTENING: Final = "listening on "

_FORKING: Final = """
    import os, sys
    import client, zmq
    import broker.server
    from broker.command.shell import perform
    for line in sys.stdin:
        folder, config = line.rstrip("\\n").split("\\t")
        process = os.fork()
        if process == 0:
            for number, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
            status = perform(["serve", "--config", config])
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        print(process, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


@final
@dataclass
class ForkedBroker:
    """One that was started. `address` is empty, and `status` what it ended with, where it does not listen."""

    process: int
    folder: Path
    answers: IO[str]
    address: str = ""
    status: int | None = None

    @property
    def out(self) -> str:
        return (self.folder / "out").read_text(encoding="utf-8")

    @property
    def complaints(self) -> list[str]:
        """The lines of its standard error."""
        return (self.folder / "err").read_text(encoding="utf-8").splitlines()

    def end(self, by: int = signal.SIGKILL) -> int:
        """Its exit status."""
        if self.status is None:
            os.kill(self.process, by)
            self.status = int(self.answers.readline())
        return self.status


@final
class Forking:
    """Starts brokers, one at a time."""

    def __init__(self, requests: IO[str], answers: IO[str], folder: Path) -> None:
        """`folder`: where their output goes."""
        self._requests = requests
        self._answers = answers
        self._folder = folder

    @contextmanager
    def broker(self, config: Path) -> Iterator[ForkedBroker]:
        """A broker that listens, or has ended by itself; killed with the block."""
        (self._folder / "out").unlink(missing_ok=True)
        self._requests.write(f"{self._folder}\t{config}\n")
        self._requests.flush()
        started = ForkedBroker(int(self._answers.readline()), self._folder, self._answers)
        try:
            self._await_word(started)
            yield started
        finally:
            started.end()

    def _await_word(self, started: ForkedBroker) -> None:
        for _ in range(LOOKS_MAX):
            said = started.out if (self._folder / "out").exists() else ""
            if said.startswith(LISTENING) and said.endswith("\n"):
                started.address = said.splitlines()[0].removeprefix(LISTENING)
                return
            if _has_ended(started.process):
                started.status = int(self._answers.readline())
                return
            time.sleep(0.005)
        raise AssertionError(f"neither listens nor ends: {started.out}")


def _has_ended(process: int) -> bool:
    try:
        _, _, rest = Path(f"/proc/{process}/stat").read_text().rpartition(")")
    except OSError:
        return True
    return rest.split()[0] in "ZX"


@contextmanager
def forked_brokers(folder: Path) -> Iterator[Forking]:
    """They end with the block."""
    with python_process(_FORKING) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Forking(process.stdin, process.stdout, folder)
