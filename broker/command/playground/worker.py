"""A process of its own that answers the questions of the page, and is ended when it takes too long.

A query can need any time and memory. Here it takes that from nobody else: the process has limits, and after its end the
next question starts another one. It says when it is ready,
then reads a question a line, and writes an answer a line.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, final

ANSWER_SECONDS_MAX: Final = 10.0
"""A question that takes longer has no answer."""
START_SECONDS_MAX: Final = 120.0
"""How long the process may load before the first question; seconds on a machine that is not busy."""
START_PATIENCE_SECONDS: Final = 5.0
"""So long a question waits for that beside a broker, whose connections are short; then it is asked again."""
MEMORY_BYTES_MAX: Final = 4 * 2**30
"""Of address space, which is more than the memory that is used."""
IDLE_SECONDS_MAX: Final = 600.0
"""Beside a broker the process ends when nobody has asked for so long."""
NICENESS: Final = 10


@final
class PlaygroundProcess:
    """Asks the process, which it starts when it is needed; one question at a time, from any thread.

    `beside`: it runs beside a broker: it gives way to it, and ends when nobody asks.
    """

    def __init__(self, beside: bool = False) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._beside = beside
        self._ready_by: float | None = None  # None: the process is ready
        self._idle: threading.Timer | None = None

    def ask(self, question: Mapping[str, Any], seconds: float = ANSWER_SECONDS_MAX) -> dict[str, Any]:
        """The answer. It has an `error` if the process took too long, or ended; `starting`: ask again."""
        with self._lock:
            self._wait_anew()
            try:
                process = self._started()
            except TimeoutError:
                self._stop()
                return {"error": f"expected a process within {START_SECONDS_MAX:g} s: the machine is too busy"}
            if process is None:
                return {"starting": True}
            assert process.stdin is not None
            try:
                process.stdin.write(json.dumps(question).encode() + b"\n")
                process.stdin.flush()
                line = self._line(process, seconds)
            except OSError:
                line = b""
            if line is None:
                self._stop()
                return {"error": f"stopped after {seconds:g} s"}
            if not line:
                self._stop()
                return {"error": "stopped: it needed too much memory"}
            found: dict[str, Any] = json.loads(line)
            return found

    def start(self) -> None:
        """Start the process, so that it is there when somebody has something to ask."""
        with self._lock:
            try:
                self._started()
            except TimeoutError:
                self._stop()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            self._stop()

    def _wait_anew(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._beside:
            self._idle = threading.Timer(IDLE_SECONDS_MAX, self.close)
            self._idle.daemon = True
            self._idle.start()

    def _started(self) -> subprocess.Popen[bytes] | None:
        """The process; None: it is not ready yet. Raises TimeoutError."""
        if self._process is None or self._process.poll() is not None:
            self._stop()
            command = [sys.executable, "-m", __name__, *(["beside"] if self._beside else [])]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
            self._ready_by = time.monotonic() + START_SECONDS_MAX
        if self._ready_by is not None:
            patience = self._ready_by - time.monotonic()
            if self._beside:
                patience = min(patience, START_PATIENCE_SECONDS)
            if self._line(self._process, patience) is None:
                if time.monotonic() >= self._ready_by:
                    raise TimeoutError
                return None
            self._ready_by = None
        return self._process

    @staticmethod
    def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """The next line; empty: the process has ended; None: it took too long."""
        assert process.stdout is not None
        until = time.monotonic() + seconds
        parts: list[bytes] = []
        while (left := until - time.monotonic()) > 0:
            if select.select([process.stdout], [], [], left)[0]:
                part = process.stdout.read(2**20)
                if not part:
                    return b""
                parts.append(part)
                if part.endswith(b"\n"):
                    return b"".join(parts)
        return None

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def give_way() -> None:
    """Leave processors and memory to others: where these are scarce, the system ends this process first."""
    os.nice(NICENESS)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def serve(beside: bool) -> None:
    """Answer until the questions end."""
    from .answering import Answering, answered
    from .examples import EXAMPLES, example_text
    from .trial import Chosen

    if beside:
        give_way()
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    except (ImportError, ValueError, OSError):
        pass  # another system, or a lower limit is set already
    answering = Answering()
    for example in EXAMPLES:  # loads all languages
        answering.run(Chosen(example_text(example.name)), {})
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(answered(answering, line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.argv[1:] == ["beside"])
