"""Scripts for groups: members that come and go, events on coarse grids with ties and nulls, and saves at any point.

An action is one drawn integer, whose digits are its parts: drawing each part by itself takes ten times as long, and
properties of whole streams need many examples.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from doubles.group_runs import Action, Join, Leave, Save, Tick
from hypothesis import strategies as st

THRESHOLDS = (0.0, 1.0, 1.5, 2.0, 3.0, 4.0)
WINDOWS = (0.0, 1.0, 2.0, 2.5, 4.0, 8.0)
VALUES = (0, 1, 1.5, 2, 2, 3, 3.5, 4, 4, 2.5, 1, 3, 2, None)
AFTERS = ((1,), (0, 1, 3), (0, 0, 0, 1))
LARGEST = 2**60
LONG = 10  # one script of so many is a long one
MANY = 500


class Digits:
    """An integer as choices, one after the other."""

    def __init__(self, number: int) -> None:
        self.number = number

    def of(self, choices: Sequence[float | int | None]) -> float | int | None:
        self.number, at = divmod(self.number, len(choices))
        return choices[at]

    def below(self, limit: int) -> int:
        self.number, digit = divmod(self.number, limit)
        return digit


@st.composite
def scripts(
    draw: st.DrawFn, literals: Sequence[Sequence[float]], attributes: int = 2, steps: int = 40, long: bool = True
) -> list[Action]:
    """Joins, then up to so many actions, most of them events; `long`: now and then some hundreds, so that what is kept
    is swept. `literals`: the choices for each."""
    keys = draw(st.integers(1, 3))
    afters = draw(st.sampled_from(AFTERS))

    def join(digits: Digits) -> Join:
        return Join("XYZ"[digits.below(keys)], tuple(float(digits.of(each) or 0) for each in literals))

    def action(number: int) -> Action:
        digits = Digits(number)
        kind = digits.below(16)
        if kind == 0:
            return Leave(digits.below(6))
        if kind == 1:
            return Save()
        if kind == 2:
            return join(digits)
        return Tick(
            "XYZ"[digits.below(keys)], int(digits.of(afters) or 0), tuple(digits.of(VALUES) for _ in range(attributes))
        )

    number = st.integers(0, LARGEST)
    first = [join(Digits(each)) for each in draw(st.lists(number, min_size=1, max_size=5))]
    rest = draw(st.lists(number, min_size=steps // 2, max_size=steps))
    seed = draw(st.integers(0, 2**32)) if long else 0
    if seed % LONG == 1:
        many = random.Random(seed)
        rest += [many.randint(0, LARGEST) for _ in range(MANY)]
    return [*first, *(action(each) for each in rest)]
