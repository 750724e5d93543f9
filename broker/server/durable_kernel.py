"""Runs the kernel and performs its effects: at once in memory, or when the durability gate releases them.

An input that may be recorded is taken when there is room for its record. Without, requests are refused as busy, and
what has happened anyway (a client has gone, somebody unsubscribes) waits until there is room.

Once nothing can be kept any more, `failed` says why; then nothing is sent that has not been safe before.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Final, final

from ..events import ForetellError
from ..kernel import Effects, Input, Kernel, Received, Send, Tick
from ..kernel.listing import failure
from ..storage import StorageError
from ..wire import ROW_OF, Busy
from .durability_gate import DurabilityGate
from .logs import LOG, say


@final
class DurableKernel:
    """Inputs in with `request`, `happen` and `step`; what may be sent comes out of `ready`."""

    def __init__(self, kernel: Kernel, keeper: DurabilityGate | None) -> None:
        self._kernel: Final = kernel
        self._keeper = keeper
        self._ended: DurabilityGate | None = None  # in good order, but for closing
        self._postponed: deque[Input] = deque()
        self._sends: list[Send] = []
        self.failed: Exception | None = None

    # ---- inputs ----

    def request(self, received: Received, now: int) -> None:
        """A message of a client. Raises nothing for what a client does; an exception is a mistake of the kernel."""
        message = received.message
        when_full = ROW_OF[type(message)].when_full
        if self._keeper is None or when_full == "take":
            self.step(received, now)
        elif when_full == "wait":
            self.happen(received, now)
        else:
            try:
                self._keeper.check_room()
            except Busy as error:
                self.perform(Effects([Send(received.session, failure(message.correlation, error))]), now)
            except StorageError as error:
                self.fail(error)
            else:
                self.step(received, now)

    def happen(self, arrived: Input, now: int) -> None:
        """What cannot be refused, and may be recorded."""
        if self._keeper is None:
            self.step(arrived, now)
            return
        if not (isinstance(arrived, Tick) and self._postponed) and arrived not in self._postponed:
            self._postponed.append(arrived)
        while self._postponed and self.failed is None:
            try:
                self._keeper.check_room()
            except Busy:
                return
            except StorageError as error:
                self.fail(error)
                return
            self.step(self._postponed.popleft(), now)

    def step(self, arrived: Input, now: int) -> None:
        """Any other."""
        effects = self._kernel.step(arrived, now)
        for each in effects.given_up:
            cursor, position, deliveries = each.cursor, each.position, each.deliveries
            say(logging.WARNING, "result set aside", cursor=cursor, position=position, deliveries=deliveries)
        self.perform(effects, now)

    def perform(self, effects: Effects, now: int) -> None:
        """Send this after all that came before, and after what has been recorded."""
        if self._keeper is None:
            self._sends += effects.sends
            return
        try:
            self._keeper.keep(effects.records, effects.sends, now)
        except ForetellError as error:
            self.fail(error)  # the kernel is ahead of the journal

    # ---- effects ----

    def ready(self) -> list[Send]:
        """What may be sent now, in order."""
        if self._keeper is not None and self.failed is None:
            self._sends += self._keeper.released()
        sends, self._sends = self._sends, []
        return sends

    def advance(self, now: int) -> None:
        """Go on with what the disk has done, and begin what it is to do."""
        if self._keeper is not None and self.failed is None:
            try:
                self._keeper.advance(now, self._kernel.work is None)
            except StorageError as error:
                self.fail(error)

    @property
    def holding(self) -> bool:
        """Whether something waits to be safe."""
        return self._keeper is not None and self._keeper.holding

    @property
    def crowded(self) -> bool:
        """Whether so much waits that nothing more should be taken."""
        return self._keeper is not None and self._keeper.crowded

    def patience(self, now: int) -> float | None:
        """Seconds until `advance` has something to do by itself; None if there is nothing."""
        return None if self._keeper is None else self._keeper.patience(now)

    # ---- the end ----

    def fail(self, error: Exception) -> None:
        """Nothing can be kept any more, because of this."""
        if self.failed is None:
            if isinstance(error, StorageError):
                LOG.error("the broker ends: %s", error)
            self.failed = error

    def finish(self, now: int) -> None:
        """No more records come. Everything is made safe; or, where that cannot be, it is given up and never sent."""
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        if self.failed is None:
            try:
                self._sends += keeper.finish()
                self._ended = keeper
                return
            except StorageError as error:
                self.fail(error)
        self._sends.clear()
        keeper.abandon()

    def close(self, now: int) -> None:
        """After `finish`: keep the state, so that the next start has nothing to replay. Raises StorageErrors."""
        ended, self._ended = self._ended, None
        if ended is not None:
            ended.close(now, self._kernel.work is None)

    def abandon(self) -> None:
        """Not in good order; does nothing after `finish` and `close`."""
        if self._keeper is not None:
            self._keeper.abandon()
        if self._ended is not None:
            self._ended.abandon()
        self._keeper = self._ended = None
