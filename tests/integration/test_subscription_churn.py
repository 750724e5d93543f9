"""Comings and goings under load, 6,000 in `make test` and 24,000 in `make verify`: memory returns, invariants hold,
residents notice nothing.

In a process of its own, so that memory is the engine's alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[2]
CHURN = """
    import ctypes, gc, json, random, sys
    from broker.engine import Engine

    CHANGES, GUESTS, NAMES = int(sys.argv[1]), 1_000, 50
    chance = random.Random(20260521)

    def made():
        engine = Engine()
        engine.add_stream("S", {"name": "string", "price": "float"})
        for i in range(200):
            engine.subscribe(f"resident {i}".replace(" ", "-"), query=text(i % NAMES, i))
        return engine

    def text(name, i):
        first = f"FILTER{{name = 'N{name}' AND price > {i % 90}.5}} S"
        return [
            f"FILTER{{price < {i % 70}.25}}({first} NEXT{{$2.name = $1.name}} S)",
            f"FILTER{{price > 1.{i % 9} * price_1 AND DUR < 500}}({first} NEXT{{$2.name = $1.name}} S)",
            f"FILTER{{n > 2}}((SELECT *, 1 AS n FROM {first})"
            " FOLD{$2.name = $.name, $2.price > $.price, $.n + 1 AS n} S)",
            f"FILTER{{name = 'N{name}' AND price > {i % 90}.5 AND price < {i % 90 + 5}.5}} S",
            f"{first} NEXT{{}} (S NEXT{{$2.name = $1.name AND DUR < {i % 30 + 2}}} S)",
        ][i % 5]

    def resident_memory():
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        return int(open("/proc/self/statm").read().split()[1])

    time = 0
    def rows(n):
        return [(f"N{chance.randrange(NAMES)}", chance.uniform(0, 100)) for _ in range(n)]

    quiet, busy = made(), made()
    differences, checked = 0, 0
    def publish(n):
        global time, differences, checked
        times, batch = list(range(time, time + n)), rows(n)
        time += n
        calm = sorted(m.id for m in quiet.publish("S", times, batch))
        other = sorted(m.id for m in busy.publish("S", times, batch) if m.subscription.startswith("resident"))
        differences += calm != other
        checked += len(calm)

    guests = []
    def churn(changes):
        for change in range(changes):
            # Always up to the same peak first, so that both measurements come after the same height of memory.
            if change >= GUESTS and guests and (len(guests) >= GUESTS or chance.random() < 0.5):
                at = chance.randrange(len(guests))
                guests[at], guests[-1] = guests[-1], guests[at]
                busy.unsubscribe(guests.pop())
            else:
                name = f"guest-{change}-{chance.randrange(10**9)}"
                busy.subscribe(name, query=text(chance.randrange(NAMES), chance.randrange(1000)))
                guests.append(name)
            if change % 20 == 0:
                publish(10)
        while guests:
            busy.unsubscribe(guests.pop())
        publish(10)
        busy.runtime.runs.purge()
        busy.check_invariants()

    churn(max(10_000, CHANGES // 6))  # the memory of texts that were compiled before is bounded, and has to fill first
    before = resident_memory()
    churn(CHANGES)
    after = resident_memory()
    print(json.dumps({"before": before, "after": after, "differences": differences, "checked": checked,
                      "states": [quiet.statistics()["states"], busy.statistics()["states"]]}))
"""


@pytest.mark.slow
def test_many_changes_leave_nothing_behind() -> None:
    command = [sys.executable, "-c", textwrap.dedent(CHURN), str(200 * settings().max_examples)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["differences"] == 0
    assert found["checked"] > 1_000
    assert found["states"][0] == found["states"][1]
    assert found["after"] <= 1.05 * found["before"], found
