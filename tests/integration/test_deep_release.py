"""Objects are released in depth without harm to the memory around them: with the interpreter's own checks of memory.

In a process of its own: where memory was overwritten, the interpreter ends it.
"""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
from broker.engine import Engine

names = [f"a{number}" for number in range(60)]
chain = "(" * 58 + "S" + "".join(f" NEXT{{$2.n = {number}}} S)" for number in range(58))
deep = None
for join in ("", " AND n = $x"):
    for report in ("completions", "all"):
        engine = Engine()
        engine.add_stream("S", {"name": "string", "n": "int"})
        definitions = " ".join(f"{name}: name = '{name}'{join}" for name in names)
        text = f"FROM S {definitions} MATCH {'; '.join(names)}"
        engine.subscribe("long", language="ptopss", query=text, report=report)
        engine.subscribe("chain", query=f"SELECT n AS n FROM {chain}")
        for repetition in range(3):
            results = engine.publish("S", range(100 * repetition, 100 * repetition + 60), [(name, 1) for name in names])
            deep = (results, deep)
        assert len(results) > 0
        for _ in range(100):
            deep = (engine, deep)
        engine = Engine.restore(engine.snapshot())
        engine.unsubscribe("long")
        del engine, results
        deep = None
print("released")
"""


def test_what_hangs_deep_is_released_without_harm() -> None:
    environment = os.environ | {"PYTHONMALLOC": "debug", "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout) == (0, b"released\n"), ended.stderr[-2000:]
