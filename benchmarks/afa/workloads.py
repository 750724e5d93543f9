"""The events and queries of AFA's section 7, and how events come late.

Here: prices by the paper's generator, V patterns (Q1, Q2; Q2 also with the price to come back to in its register, which
late events do not change, instead of a sum), words of ticks (Q3), a run that waits. Not here: running
them (trial), their targets (targets).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, TypeAlias

from broker.events.schema import Row

Arrival: TypeAlias = tuple[int, Row]  # time and id, row: key, step of the price, price

ATTRIBUTES: Final = {"key": "string", "step": "float", "price": "float"}
SEED: Final = 2010
STEP: Final = (0.70, 0.30)  # mean and deviation of a step's size
DROP: Final = 0.25
LETTERS: Final = 8

Q1: Final = """FROM Stock{by}
REGISTER depth INT = 0, vs INT = 0
START q0
FINAL q3
a0: q0 -> q1 WHEN step < -0.25
a1: q1 -> q1 WHEN step < 0 SET depth = depth + 1
a2: q1 -> q2 WHEN step < 0 SET depth = depth + 1
a3: q2 -> q2 WHEN step >= 0 AND (vs + 1 < {k} OR depth > 1) SET depth = depth - 1
a4: q2 -> q1 WHEN step >= 0 AND vs + 1 < {k} SET depth = depth - 1, vs = vs + 1
a5: q2 -> q3 WHEN step >= 0 AND depth - 1 = 0 AND vs + 1 = {k} SET depth = depth - 1, vs = vs + 1
WITHIN {within}"""

CAN: Final = """FROM Stock{by}
REGISTER depth INT = 0, vs INT = 0, at INT = 0
START q0
FINAL q3
a0: q0 -> run WHEN step < -0.25 SET at = 1
a1: run -> run WHEN at = 1 AND step < 0 SET depth = depth + 1
a2: run -> run WHEN at = 1 AND step < 0 SET depth = depth + 1, at = 2
a3: run -> run WHEN at = 2 AND step >= 0 AND (vs + 1 < {k} OR depth > 1) SET depth = depth - 1
a4: run -> run WHEN at = 2 AND step >= 0 AND vs + 1 < {k} SET depth = depth - 1, vs = vs + 1, at = 1
a5: run -> q3 WHEN at = 2 AND step >= 0 AND depth - 1 = 0 AND vs + 1 = {k} SET depth = depth - 1, vs = vs + 1
WITHIN {within}"""

Q2: Final = """FROM Stock{by}
REGISTER below FLOAT = 0
START q0
FINAL q3
a0: q0 -> q1 WHEN step < -0.25 SET below = step
a1: q1 -> q1 WHEN step < 0 SET below = below + step
a2: q1 -> q2 WHEN step < 0 SET below = below + step
a3: q2 -> q2 WHEN step >= 0 AND below + step < 0 SET below = below + step
a4: q2 -> q1 WHEN step >= 0 AND below + step < 0 SET below = below + step
a5: q2 -> q3 WHEN step >= 0 AND below + step >= 0 SET below = below + step
WITHIN {within}"""

Q2_KEPT: Final = """FROM Stock{by}
REGISTER level FLOAT = 0
START q0
FINAL q3
a0: q0 -> q1 WHEN step < -0.25 SET level = price - step
a1: q1 -> q1 WHEN step < 0
a2: q1 -> q2 WHEN step < 0
a3: q2 -> q2 WHEN step >= 0 AND price < level
a4: q2 -> q1 WHEN step >= 0 AND price < level
a5: q2 -> q3 WHEN step >= 0 AND price >= level
WITHIN {within}"""

WAITING: Final = """FROM Stock{by}
REGISTER first FLOAT = 0
START q0
FINAL q2
a0: q0 -> q1 WHEN step < -1.15 SET first = price
a1: q1 -> q1 WHEN {ignored}
a2: q1 -> q2 WHEN price >= first
WITHIN {within}"""


def ignoring(text: str) -> str:
    """Q1 so that its runs ignore events with the step 0."""
    loops = "\n".join(f"i{at}: q{at} -> q{at} WHEN step = 0" for at in (1, 2))
    return text.replace("step >= 0", "step > 0").replace("WITHIN", f"{loops}\nWITHIN")


def q3(word: str, within: int, by: str = "") -> str:
    """A word of ticks: u is one upwards, d one downwards."""
    arcs = [f"a{at}: q{at} -> q{at + 1} WHEN step {'>=' if letter == 'u' else '<'} 0" for at, letter in enumerate(word)]
    return "\n".join([f"FROM Stock{by}", "START q0", f"FINAL q{len(word)}", *arcs, f"WITHIN {within}"])


def falls(count: int) -> list[str]:
    """Q2 with other drops: the first as it is, the others with drops that few events have, each its own."""
    first = Q2.format(by="", within=500)
    drops = [1.6 + 2.4 * number / count for number in range(count - 1)]
    return [first, *(first.replace("step < -0.25", f"step < -{drop:.6f}") for drop in drops)]


def words(count: int) -> list[str]:
    """Different words of 8 letters, at most 256; the first is that of Q3."""
    found = [f"{number:08b}".replace("0", "d").replace("1", "u") for number in range(1 << LETTERS)]
    random.Random(SEED).shuffle(found)
    return found[:count]


def rows(count: int, up: float = 0.5, keys: int = 1) -> list[Row]:
    """Prices that go up with probability `up`, and the keys in turn."""
    drawn = random.Random(f"{SEED} {up}")
    price = 100.0
    found: list[Row] = []
    for number in range(count):
        size = max(0.0, drawn.gauss(*STEP))
        step = size if drawn.random() < up else -size
        price += step
        found.append((f"K{number % keys}", step, price))
    return found


def arrivals(events: Sequence[Row], share: float = 0.0, moved: int = 1_000) -> list[Arrival]:
    """One event a time unit, in the order in which they come: that share comes up to `moved` time units late."""
    drawn = random.Random(f"{SEED} {share} {moved}")
    placed = []
    for number, row in enumerate(events, 1):
        late = drawn.randint(1, moved) if drawn.random() < share else 0
        placed.append((number + late, late, number, row))
    placed.sort(key=lambda each: each[:3])
    return [(number, row) for _, _, number, row in placed]


def ignorable(events: Sequence[Row], share: float) -> list[Row]:
    """The same events, of which that share has the step 0, which a query can ignore."""
    drawn = random.Random(f"{SEED} ignorable {share}")
    return [(row[0], 0.0, row[2]) if drawn.random() < share else row for row in events]
