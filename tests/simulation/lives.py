"""What simulated histories of a broker have in common: its disk and journal, and how each life ends. What is said to
the broker, and what must hold of it, belongs to broker_lives and revision_lives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Final

from doubles.simulated_files import PowerLoss, SimulatedFiles

from broker.kernel import Kernel
from broker.server.durability_gate import DurabilityGate
from broker.server.replicated_state import ReplicatedState
from broker.server.worker import Task
from broker.storage import Durability, StorageError, StorageFailed, StorageFull, Store
from broker.storage.settings import FSYNC

BEGIN: Final = 1_000_000
"""The clock when the first life begins."""


class LateHands:
    """Does what it is given when the simulation likes."""

    def __init__(self, tasks: deque[Task]) -> None:
        self.tasks = tasks

    def give(self, task: Task) -> None:
        self.tasks.append(task)

    def close(self) -> None:
        while self.tasks:
            self.tasks.popleft().run()


class Lives(ABC):
    """All lives of one broker. `met` counts what has happened, to see that everything does."""

    store: Store
    gate: DurabilityGate
    kernel: Kernel

    def __init__(self, seed: int, record_bytes: int) -> None:
        self.random = random = Random(seed)
        self.disk = SimulatedFiles(random)
        self.settings = Durability(
            fsync=random.choice(FSYNC),
            interval=random.randrange(1, 2_000),
            segment_bytes=random.randrange(500, 4_000),
            growth_bytes=random.randrange(100, 2_000),
            record_bytes=record_bytes,
        )
        self.checkpoint_bytes = random.randrange(100, 3_000)
        self.now = BEGIN
        self.met: dict[str, int] = {}
        self.tasks: deque[Task] = deque()

    @abstractmethod
    def start(self) -> None:
        """Recover, check what was recovered, and open a gate and a kernel, to which the clients come."""

    @abstractmethod
    def converse(self) -> None:
        """A life, until the gate fails or enough was said."""

    @abstractmethod
    def hear_last(self) -> None:
        """What the gate releases when the broker ends in good order."""

    @abstractmethod
    def forget(self) -> None:
        """What was told is not promised any more."""

    def count(self, event: str) -> None:
        self.met[event] = self.met.get(event, 0) + 1

    def run(self) -> None:
        for _ in range(self.random.randrange(2, 5)):
            self.live()
        self.disk.losing_power_after = self.disk.failing_after = self.disk.capacity = None
        self.start()
        self.disk.kill()

    def live(self) -> None:
        random, disk = self.random, self.disk
        disk.losing_power_after = random.randrange(0, 200) if random.random() < 0.4 else None
        disk.failing_after = random.randrange(0, 40) if random.random() < 0.1 else None
        try:
            self.start()
            self.converse()
            if self.kernel.work is not None:
                self.count("ended within a batch")
            closing = self.gate.failed is None and random.random() < 0.2
            if closing:
                self.gate.finish()
                self.hear_last()
            if self.gate.failed is not None:
                assert isinstance(self.gate.failed, StorageError), self.gate.failed
                self.count("failed")  # a sync that fails drops what was not durable yet
                disk.kill()
                self.lose()
            elif closing:
                self.gate.close(self.now, self.kernel.work is None)
                self.count("closed")
                disk.kill()
            elif random.random() < 0.5:
                disk.lose_power()
                self.lose()
            else:
                disk.kill()
                self.count("killed")
        except (PowerLoss, StorageFailed):
            disk.lose_power()
            self.lose()
            self.count("power lost")
        except StorageFull:
            disk.kill()
        disk.capacity = None

    def lose(self) -> None:
        """What was not durable is gone, and only `always` has promised it."""
        if self.settings.fsync != "always":
            self.forget()

    def open_gate(self, state: ReplicatedState) -> None:
        tasks = self.tasks = deque()

        def hands(name: str, notify: Callable[[], None]) -> LateHands:
            return LateHands(tasks)

        durability = self.settings.label()
        self.gate = DurabilityGate(self.store, state, durability, self.checkpoint_bytes, lambda: None, hands)
