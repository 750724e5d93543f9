"""The times that a partial match keeps, and when they need not be kept any more.

A slot's value is a time while some condition on it is open, that is, while it depends on when the later event comes.
A condition that can only fail from now on, and which every way to the end asks, ends the match. Once all are decided
the value becomes DECIDED plus a bit for each that holds: matches that differ in nothing that matters are one.

Here: the slots of one state. Not here: cells.
"""

from __future__ import annotations

from typing import Final, TypeAlias, final

from mypy_extensions import i64

from ....automaton.distances import Distances

Asked: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The numbers of the limits that may still ask for a time, and those of them which every way to the end does ask."""

DECIDED: Final = 1 << 62  # later than any time; limits are bits below it
UNCHANGING: Final = (1 << 62) - 1


def flat(allowed: Distances) -> list[int]:
    """Ranges of distances as low, high, low, high, ..."""
    return [bound for low_high in allowed for bound in low_high]


def within(ranges: list[int], distance: i64) -> bool:
    """Whether a distance lies in one of the ranges."""
    for at in range(0, len(ranges), 2):
        if distance <= ranges[at + 1]:
            return distance >= ranges[at]
    return False


@final
class Slots:
    """The slots of one state. Distances: `ends`, beyond which a match is of no use, `decided`, from which on nothing
    on the slot is open, and `lapse`, the sooner of the two."""

    def __init__(self, times: list[Asked], limits: list[Distances]) -> None:
        self.masks: list[int] = [sum(1 << n for n in asked) for asked, _ in times]
        self.musts: list[int] = [sum(1 << n for n in must) for _, must in times]
        self.bits: list[list[int]] = [[1 << n for n in asked] for asked, _ in times]
        self.ranges: list[list[list[int]]] = [[flat(limits[n]) for n in asked] for asked, _ in times]
        self.ends: list[int] = []
        self.decided: list[int] = []
        for asked, must in times:
            self.ends.append(min([limits[n][-1][1] for n in must], default=DECIDED))
            lasts = [limits[n][-1] for n in asked]
            self.decided.append(max([low if high == DECIDED else high + 1 for low, high in lasts], default=0))
        self.lapse = [min(end + 1, decided) for end, decided in zip(self.ends, self.decided)]

    def settled(self, values: list[int], time: i64) -> bool:
        """Replace in place what is decided for events from `time` on; false where the match is of no use."""
        for slot in range(len(values)):
            value: i64 = values[slot]
            if value >= DECIDED:
                bits = (value - DECIDED) & self.masks[slot]
                must: i64 = self.musts[slot]
                if bits & must != must:
                    return False
                values[slot] = DECIDED + bits
                continue
            distance = time - value
            if distance < self.lapse[slot]:
                continue
            if distance > self.ends[slot]:
                return False
            if distance >= self.decided[slot]:
                bits = 0
                for i in range(len(self.bits[slot])):
                    if within(self.ranges[slot][i], distance):
                        bits |= self.bits[slot][i]
                values[slot] = DECIDED + bits
        return True

    def changes(self, values: tuple[int, ...]) -> i64:
        """The time from which on `settled` will find something new."""
        return _soonest(values, self.lapse, UNCHANGING)

    def end(self, values: tuple[int, ...]) -> i64:
        """The last moment at which a match that keeps these can be completed, as far as they say."""
        return _soonest(values, self.ends, DECIDED)


def _soonest(values: tuple[int, ...], distances: list[int], otherwise: i64) -> i64:
    """The first moment at which a time that is not decided is that far back; `otherwise`, if it is later or none."""
    soonest = otherwise
    for slot in range(len(values)):
        value: i64 = values[slot]
        distance: i64 = distances[slot]
        if value < DECIDED and distance < DECIDED:
            soonest = min(soonest, value + distance)
    return soonest
