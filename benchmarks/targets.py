"""What Foretell must reach and aims for, as data; and how a figure is judged by it. Nothing is measured here.

Units are those of unit.py. The figures for the uncompiled form are ten times (must) and eight times (aim) the compiled
ones. A row is judged by its median.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from .measuring import Spread

UNCOMPILED_MUST, UNCOMPILED_AIM = 10, 8


@final
@dataclass(frozen=True, slots=True)
class Target:
    """`measure` is what the figures count. They may be at most that much, or, with `at_least`, at least."""

    must: float
    aim: float
    measure: str = "units"
    at_least: bool = False

    def uncompiled(self) -> Target:
        """The target of the same row without compilation."""
        return Target(self.must * UNCOMPILED_MUST, self.aim * UNCOMPILED_AIM, self.measure, self.at_least)

    def reached(self, found: Spread) -> str:
        """aim, must or no."""
        for name, limit in (("aim", self.aim), ("must", self.must)):
            if found.median >= limit if self.at_least else found.median <= limit:
                return name
        return "no"


EMBEDDED: Final[Mapping[str, Target]] = {
    "W1": Target(4, 1.4),
    "W2": Target(7, 2.9),
    "W4 N=10,000": Target(5, 1.7),
    "W4 N=100,000": Target(8, 2.3),
    "W5 N=10,000": Target(6, 2.1),
    "W5 N=100,000": Target(30, 9.4),
}
COLUMNS: Final[Mapping[str, Target]] = {  # in batches of 1,000
    "W1": Target(1.0, 0.7),
    "W2": Target(1.2, 1.0),
    "W4 N=10,000": Target(1.5, 1.0),
    "W4 N=100,000": Target(3.0, 2.0),
    "W5 N=10,000": Target(1.5, 1.2),
    "W5 N=100,000": Target(4.5, 2.7),
}
GROWTH: Final = Target(2.5, 1.5, "times")
THROUGH_BROKER: Final = Target(1 / 2, 2 / 3, "of the embedded rate", at_least=True)
FROM_PARQUET: Final = Target(0.4, 0.6, "of reading alone", at_least=True)
SUBSCRIPTION_BYTES: Final = Target(1_000, 500, "B")
RUN_BYTES: Final = Target(150, 100, "B")
KEY_BYTES: Final = Target(300, 214, "B")
REGISTERING_TEXT: Final = Target(60, 15, "s")
REGISTERING_PARSED: Final = Target(2, 0.3, "s")
COMPOSITES: Final[Mapping[int, Target]] = {10_000: Target(20, 8), 100_000: Target(250, 100)}
COMPOSITE_GROWTH: Final = Target(1, 1, "exponent")

KLEENE: Final[Mapping[str, Target]] = {
    "W3 W=500": Target(6, 2),
    "W3 W=5,000": Target(20, 7.6),
    "max W=500": Target(5, 1.4),
    "max W=5,000": Target(5, 1.75),
}
KLEENE_NAIVE: Final = Target(7, 7, "times as fast", at_least=True)
KLEENE_SWITCH: Final = Target(2, 4, "times as fast", at_least=True)
KLEENE_VARIANTS: Final = Target(5, 2.3, "times")
KLEENE_GROWTH: Final = Target(3, 1.5, "times")
KLEENE_LETTERS: Final = Target(10, 0.1, "us")
KLEENE_MEMORY: Final = Target(1.1, 1.02, "times")

AFA: Final[Mapping[str, Target]] = {
    "Q1": Target(5, 3.5),
    "Q1 W=2,000": Target(5, 3.5),
    "Q2": Target(3.2, 2.1),
    "Q3": Target(2.8, 1.8),
    "Q1, 20% late": Target(12.5, 8.4),
    "Q2, 20% late": Target(7.5, 4.9),
    "waiting W=2,000, 0% late": Target(15, 12),
    "waiting W=2,000, 5% late": Target(15, 12),
    "waiting W=2,000, 20% late": Target(15, 12),
    "Q1, 10,000 keys": Target(20, 17),
    "Q3, 10,000 keys": Target(20, 14),
}
AFA_WORDS: Final = Target(6, 4.2, "times")
AFA_CHANGES: Final = Target(1.5, 1.35, "times")
AFA_CHANGE: Final[Mapping[str, Target]] = {
    "Q3, a change every 10": Target(12, 6, "us"),
    "Q3, an arc for 10 events": Target(12, 6, "us"),
    "Q3, an arc for 1,000 events": Target(151, 100, "us"),
}
AFA_FALLS: Final = Target(3, 1.5, "times")
BUFFER: Final = Target(1.3, 1.15, "times")
AFA_MEMORY: Final = Target(1.1, 1.02, "times")

WINDOWS: Final[Mapping[str, Target]] = {
    "tumble 100": Target(3, 1.2),
    "tumble 100, 10,000 keys": Target(15, 6),
    "slide 100 by 10": Target(3, 1.2),
    "slide 1,000 by 1, sum and max": Target(4, 1.5),
    "session 300 by name": Target(3, 1.2),
    "session 300, 10,000 keys": Target(15, 6),
    "A until the next B": Target(3, 1.2),
    "A any* B to 1,000": Target(2, 0.8),
    "A any* B to 1,000, 10,000 keys": Target(15, 6),
    "clock 1,000 by name": Target(2, 0.5),
    "clock 1,000 by 100 by name": Target(2, 0.5),
    "clock 1,000, 10,000 keys": Target(10, 4.5),
    "clock 1,000 by 100, 10,000 keys": Target(10, 4.5),
}
WINDOWS_LATE: Final[Mapping[str, Target]] = {"A until the next B, 100 late": Target(2, 1.5, "times")}
WINDOWS_FAMILY: Final = Target(10, 5, "times")
WINDOWS_FAMILY_UNITS: Final[Mapping[int, Target]] = {1_000: Target(15, 7)}  # by its members
WINDOWS_DORMANT: Final = Target(0.5, 0.3)  # more than one subscription alone, where no event touches any
WINDOWS_TOUCHED: Final = Target(1, 0.7)  # more than that, for each subscription that an event touches
WINDOWS_GROWTH: Final = Target(1.3, 1.1, "times")
