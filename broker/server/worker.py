"""Runs tasks in a thread that waits for the disk in place of the loop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final, Protocol, final


class Task(Protocol):
    """A task. `run` is called once; it stores its outcome and raises nothing."""

    def run(self) -> None: ...


class Hands(Protocol):
    """Runs tasks, one after the other, and notifies after each."""

    def give(self, task: Task) -> None: ...

    def close(self) -> None: ...


@final
class Worker:
    """Runs one task after the other, and calls `notify` after each, in its own thread."""

    __slots__ = ("_notify", "_tasks", "_thread")

    def __init__(self, name: str, notify: Callable[[], None]) -> None:
        self._notify: Final = notify
        self._tasks: Final[SimpleQueue[Task | None]] = SimpleQueue()
        self._thread: Final = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def give(self, task: Task) -> None:
        """Queue a task, from any thread."""
        self._tasks.put(task)

    def close(self) -> None:
        """Wait for all tasks, and end the thread."""
        self._tasks.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task.run()
            self._notify()
