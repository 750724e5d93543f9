"""Forks a copy of this process that makes some bytes and ends. Not here: the content of the bytes.

The copy has the memory of one moment, and works while its parent continues. It returns its bytes in an anonymous file
in memory. It ends with its parent, however that ends, and after COPY_SECONDS_MAX in any case, by its parent and by a
timer of its own.

Forking beside other threads is safe here because of what the copy avoids. A lock that another thread held at that
moment stays locked in the copy for ever. So the copy logs nothing, uses no socket, loads no module, and never returns
into its parent's stack: no `finally`, no exit handler and no other thread runs. What it uses is safe: the interpreter's
locks were held by the forking thread or are created anew, and glibc's malloc handles forks itself. It blocks all
signals, because their handlers would wake the parent, and closes all files except its own, among them the sockets and
the lock of the journal's folder, which another process may take as soon as the parent is gone.

If memory runs out, the system ends the copy first.
"""

from __future__ import annotations

import ctypes
import gc
import io
import os
import re
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, NoReturn, final

NICENESS: Final = 10
"""The copy's niceness relative to its parent's: if both need one processor, the copy gets about a tenth of it."""

COPY_SECONDS_MAX: Final = 600
"""How long a copy may work. One that takes longer hangs, or could not finish before the next is due."""

_NAME: Final = ctypes.create_string_buffer(b"foretell copy")  # as `top` shows it; 15 characters at most
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15  # prctl.h
_OPEN_FILES: Final = "/proc/self/fd"
_STANDARD_ERROR: Final = 2
_REASON_BYTES_MAX: Final = 1_000

Work = Callable[[], Iterable[bytes]]


class CopyFailed(Exception):
    """The copy has failed; the text is the reason in one line."""


class CopyLate(CopyFailed):
    """The copy has worked for as long as it may."""


def possible() -> bool:
    """Whether this system supports it."""
    named = hasattr(os, "fork") and hasattr(os, "memfd_create")
    return sys.platform == "linux" and named and _prctl() is not None and os.path.isdir(_OPEN_FILES)


@final
class Forked:
    """A copy of this process, working from its construction on.

    `seconds`: how long it may work, by default COPY_SECONDS_MAX. `awaited`: somebody waits for it, so that it has its
    parent's priority for the processors. Raises OSError if the system has no process or memory for it. Construct it in
    the thread that lives longest, because a copy ends with the thread that forked it.
    """

    def __init__(self, work: Work, seconds: float | None = None, awaited: bool = False) -> None:
        control = _prctl()
        self._lock: Final = threading.Lock()
        self._status: int | None = None
        self._seconds: Final = COPY_SECONDS_MAX if seconds is None else seconds
        self._until: Final = time.monotonic() + self._seconds
        file = io.FileIO(os.memfd_create("foretell"), "r+")
        parent = os.getpid()
        _expect_to_fork_beside_threads()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._process: Final = os.fork()
            if self._process == 0:
                _be_the_copy(parent, control, file, work, self._seconds, awaited)
        except BaseException:
            file.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._file: io.FileIO | None = file

    @property
    def process(self) -> int:
        """The copy's process id."""
        return self._process

    def result(self) -> io.FileIO:
        """Wait for the copy's end; its bytes as a file, which the caller closes. Call it once, from any thread.

        Raises CopyFailed and OSError.
        """
        with self._lock:
            file, self._file = self._file, None
        late = not self._ends_in_time()
        if late:
            self._kill()
        status = os.waitstatus_to_exitcode(self._reap())
        if file is None:
            raise CopyFailed("the copy of the process was discarded")
        file.seek(0)
        if status == 0:
            return file
        if late or status == -signal.SIGALRM:
            file.close()
            raise CopyLate(f"the copy of the process took longer than {self._seconds:,} s (COPY_SECONDS_MAX)")
        with file:
            said = file.read(_REASON_BYTES_MAX) or b""
        if status < 0:
            raise CopyFailed(f"the copy of the process was ended by signal {-status} ({signal.strsignal(-status)})")
        raise CopyFailed(said.decode("utf-8", "replace") or f"the copy of the process ended with status {status}")

    def discard(self) -> None:
        """End the copy if it still works, and remove all of it. From any thread, also during `result`."""
        with self._lock:
            file, self._file = self._file, None
        self._kill()
        self._reap()
        if file is not None:
            file.close()

    def _kill(self) -> None:
        with self._lock:
            if self._status is None:
                os.kill(self._process, signal.SIGKILL)

    def _ends_in_time(self) -> bool:
        """Wait for the copy's end; False if it takes too long. Without system support the copy's timer ends it."""
        with self._lock:
            if self._status is not None:
                return True
            try:
                process = os.pidfd_open(self._process)
            except OSError:
                return True
        try:
            ending = select.poll()
            ending.register(process, select.POLLIN)
            return bool(ending.poll(max(0.0, self._until - time.monotonic()) * 1_000))
        finally:
            os.close(process)

    def _reap(self) -> int:
        # Wait without reaping: until the copy is reaped, within the lock, its process id cannot be reused.
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self._process, os.WEXITED | os.WNOWAIT)
        with self._lock:
            if self._status is None:
                _, self._status = os.waitpid(self._process, 0)
            return self._status


def _prctl() -> Callable[..., int] | None:
    try:
        control = ctypes.CDLL(None).prctl
    except (AttributeError, OSError):
        return None
    control.argtypes, control.restype = (ctypes.c_int, *[ctypes.c_ulong] * 4), ctypes.c_int
    found: Callable[..., int] = control
    return found


def _expect_to_fork_beside_threads() -> None:
    """Suppress the warning that Python gives from 3.12 on, for this module only: forking is safe here, see above.

    Called for each fork, because other code may have changed the filters; an existing filter only moves to the front.
    """
    warnings.filterwarnings("ignore", r".*use of fork\(\) may lead", DeprecationWarning, re.escape(__name__))


# ---- within the copy ----


def _be_the_copy(
    parent: int, control: Callable[..., int] | None, file: io.FileIO, work: Work, seconds: float, awaited: bool
) -> NoReturn:
    status = 1
    try:
        gc.disable()  # a collection would touch, and so copy, all memory
        signal.set_wakeup_fd(-1)
        _end_in_time(seconds)
        if control is not None:
            if control(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):
                raise OSError("the system cannot end the copy with its parent")
            control(_PR_SET_NAME, ctypes.addressof(_NAME), 0, 0, 0)
        if os.getppid() == parent:  # otherwise the parent ended before the copy could ask to end with it
            _close_all_but(_STANDARD_ERROR, file.fileno())
            _step_back(0 if awaited else NICENESS)
            for piece in work():
                _write(file, piece)
            status = 0
    except BaseException as error:
        with suppress(BaseException):
            file.seek(0)
            file.truncate()
            _write(file, _reason(error).encode()[:_REASON_BYTES_MAX])
    finally:
        os._exit(status)


def _end_in_time(seconds: float) -> None:
    """Set the timer, whose signal alone is not blocked here and has no handler."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGALRM,))


def _close_all_but(*kept: int) -> None:
    for descriptor in [int(name) for name in os.listdir(_OPEN_FILES)]:
        if descriptor not in kept:
            with suppress(OSError):  # the descriptor of the listing itself
                os.close(descriptor)


def _step_back(niceness: int) -> None:
    """Lower the copy's priority below its parent's, for processors and when memory runs out."""
    with suppress(OSError):
        os.nice(niceness)
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(descriptor, b"1000")
        os.close(descriptor)


def _write(file: io.FileIO, piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) :]


def _reason(error: BaseException) -> str:
    """The error and its place in one line, made without reading any file."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place, trace = f", at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}", trace.tb_next
    return " ".join(f"{type(error).__name__}: {error}{place}".split())
