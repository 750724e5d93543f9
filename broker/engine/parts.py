"""The parts of an engine, and how far time has come: what the functions that change or show an engine work on.

Not here: the calls of users (engine), the questions to it (inspection.view).
"""

from __future__ import annotations

from collections.abc import Iterable

from .disorder.reordering import Reordering
from .dispatch.dispatcher import Dispatcher
from .options import Options
from .program.program import Program
from .program.target import ALWAYS_SINCE
from .subscribing.catalog import Catalog


class EngineParts:
    """`catalog`: streams and subscriptions by name; `program`: their compiled form; `runtime`: what processes events.

    `disorder`: where events wait for earlier ones; None as long as the events of all streams come in order.
    `events`: how many were accepted, which numbers those without an id. `matches`: how many were found; one that equal
    subscriptions share counts once.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.catalog = Catalog(options)
        self.program = Program(options)
        self.runtime = Dispatcher(self.program)
        self.disorder: Reordering | None = None
        self.events = 0
        self.matches = 0

    @property
    def now(self) -> int | None:
        """The newest processed time, in microseconds; None before the first event."""
        if self.disorder is None:
            return self.runtime.now
        return self.disorder.orders.newest(self.catalog.streams)

    def since(self, streams: Iterable[str]) -> int:
        """The newest processed time of streams, and of those whose events share an order of time with them."""
        now = self.runtime.now if self.disorder is None else self.disorder.orders.newest(streams)
        return ALWAYS_SINCE if now is None else now
