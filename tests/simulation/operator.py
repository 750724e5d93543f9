"""An operator of a simulated broker: moves the reader's cursor, replaces texts, declares and deletes a stream, and adds
attributes. What must hold of it is what must hold anyway: the state is that of the journal, and nobody is told what is
not so.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from simulation.cursor_reader import CURSOR
from simulation.guest import FEEDING, HOST, NAME, SCHEMA

from broker.wire import AddStream, Administer, Failure, Message

EXTRA: Final = "X"
"""A stream that comes and goes."""

FIRST: Final = 1_000
"""Its correlations begin here."""

_REFUSED: Final = (
    "busy", "permission", "definition", "unknown-subscription", "unknown-stream", "unsupported", "session",
)  # fmt: skip
_FED: Final = ("feed.s", "feed.h", "feed.s", "feed.h", NAME)


class Operator:
    """The host in another role. `asked`: what each correlation is about."""

    def __init__(self, random: Random, count: Callable[[str], None]) -> None:
        self.random = random
        self.count = count
        self.asked: dict[int, str] = {}

    def move(self, most: int) -> list[tuple[bytes, Message]]:
        """Move the reader's cursor, if the operator wants to."""
        if self.random.random() < 0.6:
            return []
        return self._administer("move-cursor", CURSOR, self.random.randrange(max(0, most - 9), most + 2))

    def next(self, queries: tuple[str, ...]) -> list[tuple[bytes, Message]]:
        """Something to change; `queries`: the texts that the subscription of all may have."""
        random = self.random
        match random.randrange(9):
            case 0 | 1:
                text, keep_runs = random.choice(queries), random.random() < 0.2
                return self._replace("all", text, keep_runs)
            case 2:
                text = random.choice((*FEEDING.values(), "SELECT * FROM H", "SELECT * FROM S"))
                return self._replace(random.choice(_FED), text, False)
            case 3 | 4:
                return self._administer("delete-stream", random.choice((EXTRA, EXTRA, EXTRA, "S")))
            case 5 if random.random() < 0.4:
                details: dict[str, object] = {"attribute": random.choice("yz"), "type": "int?"}
                return self._administer("add-attribute", random.choice(("S", "H", EXTRA)), None, details)
            case _:
                self.asked[FIRST + len(self.asked)] = "declared"
                return [(HOST, AddStream(FIRST + len(self.asked) - 1, EXTRA, SCHEMA, None, "arrival", None, None))]

    def _replace(self, name: str, text: str, keep_runs: bool) -> list[tuple[bytes, Message]]:
        details: dict[str, object] = {"language": "", "query": text, "keep_runs": keep_runs}
        return self._administer("replace-subscription", name, None, details)

    def _administer(
        self, action: str, name: str, position: int | None = None, details: dict[str, object] | None = None
    ) -> list[tuple[bytes, Message]]:
        correlation = FIRST + len(self.asked)
        self.asked[correlation] = action
        return [(HOST, Administer(correlation, action, name, position, details or {}))]

    def hear(self, message: Message) -> bool:
        """Whether it is an answer to the operator."""
        action = self.asked.get(message.correlation)
        if action is None:
            return False
        if isinstance(message, Failure):
            assert message.code in _REFUSED, message
            self.count(f"operator refused {message.code}")
        else:
            self.count(f"operator {action}")
        return True
