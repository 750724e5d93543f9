"""Random engines at the extremes answer as those of the sources do in another process. Long form: torture.engines."""

from __future__ import annotations

from hypothesis import settings
from torture.engines import attack

ENGINES = 2 * settings().max_examples
"""60 in `make test`, 240 in `make verify`, where the engine here is the compiled one."""


def test_random_engines_at_the_extremes_are_equal() -> None:
    met = attack(ENGINES, 1)
    assert met["engines"] >= ENGINES // 2
    assert met["results"] > ENGINES // 2
    assert met["snapshots"] > 0
    assert {"DefinitionError", "EventError"} <= met.keys()
