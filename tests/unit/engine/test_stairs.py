"""The least first limit of the members whose last limit a value reaches, against a look at each member."""

from __future__ import annotations

import math
import random
from itertools import product

from broker.engine.executors.packed import floats_of
from broker.engine.executors.speculative.stairs import stairs_of, stairs_text


def test_the_least_first_limit_is_that_of_the_members_who_are_reached() -> None:
    draw = random.Random(7)
    for first_sign, last_sign, count in product((1.0, -1.0), (1.0, -1.0), (1, 2, 17, 60)):
        first = [float(draw.randrange(-9, 9)) for _ in range(count)]
        last = [float(draw.randrange(-9, 9)) for _ in range(count)]
        stairs = stairs_of(stairs_text(floats_of(first), floats_of(last), first_sign, last_sign))
        for value in [*map(float, range(-10, 11)), 0.5, -0.5, 0.5]:
            reached = [mine for mine, other in zip(first, last) if other <= last_sign * value]
            assert stairs.least(value) == first_sign * min(reached, default=math.inf)
