"""What a forecast asks of windows beside that they end: that an aggregate of theirs exceeds a number.

The states of its chain tell apart how far the open window has come: its *level* is how many of the cuts the aggregate
of its events so far exceeds. The cuts are quarters of the number, where that is positive, and the number itself.

Here: that question. Not here: what has been measured so far (the executor of windows).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

from ..automaton.automaton import Automaton
from ..events.errors import DefinitionError, shown

LEVELS: Final = 4
NUMBERS: Final = ("int", "float")


@final
class Exceeding:
    """`position`: of the aggregate in a window's values; `cuts` ascending, the last one is the number."""

    def __init__(self, name: str, position: int, number: float) -> None:
        self.name = name
        self.position = position
        self.cuts: list[float] = [number]
        if number > 0:
            self.cuts = [number * level / LEVELS for level in range(1, LEVELS)] + [number]

    @property
    def cells(self) -> int:
        """The number of levels."""
        return len(self.cuts) + 1

    def level(self, value: Any) -> int:
        """The level of an open window with this value. Null has exceeded nothing."""
        return 0 if value is None else sum([value > cut for cut in self.cuts])

    def holds(self, value: Any) -> bool:
        """Whether a window with this value is one that the forecast is about."""
        return value is not None and value > self.cuts[-1]


def exceeding_of(written: object, automaton: Automaton) -> Exceeding | None:
    """The question as the subscription has it, such as {"total": 100}; None without one. Raises DefinitionError."""
    if written is None:
        return None
    if automaton.windows is None:
        raise DefinitionError("forecast: exceeds: expected windows with AGGREGATE, found a subscription without")
    known = [attribute for attribute in automaton.schema.attributes if attribute.type in NUMBERS]
    if not isinstance(written, Mapping) or len(written) != 1:
        raise _wrong("one aggregate and a number, such as { total = 100 }", written)
    ((name, number),) = written.items()
    if name not in [attribute.name for attribute in known]:
        names = ", ".join(attribute.name for attribute in known) or "none"
        raise _wrong(f"an aggregate that is a number ({names})", name)
    if isinstance(number, bool) or not isinstance(number, int | float) or number - number != 0:
        raise _wrong(f"a finite number for {name}", number)
    return Exceeding(name, automaton.schema.position(name), number)


def _wrong(expected: str, found: object) -> DefinitionError:
    return DefinitionError(f"forecast: exceeds: expected {expected}, found {shown(found)}")
