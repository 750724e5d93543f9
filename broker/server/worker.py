"""A thread that waits for the disk in place of the loop. It does not know what it is given to do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final, Protocol, final


class Task(Protocol):
    """Something to be run once. It keeps what came of it, and raises nothing."""

    def run(self) -> None: ...


class Hands(Protocol):
    """Whoever does tasks, one after the other, and says so after each."""

    def give(self, task: Task) -> None: ...

    def close(self) -> None: ...


@final
class Worker:
    """Runs one task after the other, and calls `told` after each, in its own thread."""

    __slots__ = ("_tasks", "_thread", "_told")

    def __init__(self, name: str, told: Callable[[], None]) -> None:
        self._told: Final = told
        self._tasks: Final[SimpleQueue[Task | None]] = SimpleQueue()
        self._thread: Final = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def give(self, task: Task) -> None:
        """From any thread."""
        self._tasks.put(task)

    def close(self) -> None:
        """Come back when everything that was given is done."""
        self._tasks.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task.run()
            self._told()
