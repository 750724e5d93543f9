"""The long form of the tests beside it: `python -m simulation.storage_torture HISTORIES BITS [SEED]`.

Run in tests/, with the repository on PYTHONPATH. Prints what was met; a failure ends it with its seed.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random
from time import monotonic

from simulation.storage_damage import flips, sample
from simulation.storage_lives import History


def main(lives: int, turned: int, first: int = 0) -> None:
    begun = monotonic()
    met: Counter[str] = Counter()
    for seed in range(first, first + lives):
        history = History(seed)
        try:
            history.run()
        except BaseException:
            print(f"seed {seed}: {history.settings}", file=sys.stderr)
            raise
        met.update(history.events)
    print(f"{lives:,} histories from seed {first} on, {monotonic() - begun:.0f} s: {dict(met)}")
    begun = monotonic()
    outcomes: Counter[str] = Counter()
    for seed in range(first, first + max(1, turned // 1_000)):
        whole = sample(seed, 40, checkpoints=(10, 30) if seed % 2 else ())
        outcomes.update(flips(Random(seed), whole, min(turned, 1_000)))
    print(f"{sum(outcomes.values()):,} bits turned, {monotonic() - begun:.0f} s: {dict(outcomes)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
