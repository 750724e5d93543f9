"""Register automata that differ in the constants of a loop run as one, and each has the results that it has alone."""

from __future__ import annotations

import random
from itertools import product
from typing import Any, Final

import pytest

from broker.engine import Engine, Options

HEAD: Final = "FROM S{by}\nREGISTER n INT = 0, top FLOAT = 0\nSTART a\nFINAL d\nup: a -> b WHEN {up}\n"
BODIES: Final = {
    "a text and a number": "stay: b -> b WHEN k = '{l}' AND x >= {c}\ndown: b -> d WHEN k = '{l}' AND x < {c}",
    "equal numbers at both sides": "stay: b -> b WHEN x >= {c}\ndown: b -> d WHEN x <= {c}",
    "numbers that are not parted": "stay: b -> b WHEN x > {c}\ndown: b -> d WHEN x < {e}",
    "one side alone": "stay: b -> b WHEN x >= {c}\ndown: b -> d WHEN x > {c}",
    "a text alone": "stay: b -> b WHEN k = '{m}'\ndown: b -> d WHEN k = '{l}' AND x < {c}",
    "below": "stay: b -> b WHEN x <= {c}\ndown: b -> d WHEN x > {c}",
    "counted": "stay: b -> b WHEN x >= {c} SET n = n + 1\ndown: b -> d WHEN x < {c} AND n > 1",
    "rising": "stay: b -> b WHEN x > top AND x >= {c} SET top = x\ndown: b -> d WHEN x < {e}",
    "a state behind": "stay: b -> b WHEN k = '{l}' AND x >= {c}\non: b -> c WHEN x < {c}\ndown: c -> d WHEN x > {e}",
    "the loop behind": "on: b -> c WHEN k = '{m}'\ndown: c -> d WHEN x < {c}\nstay: c -> c WHEN k = '{l}' AND x >= {c}",
    "any event": "stay: b -> b\ndown: b -> d WHEN k = '{l}' AND x < {c}",
    "the other attribute": "stay: b -> b WHEN y >= {c}\ndown: b -> d WHEN x < {c}",
    "two numbers": "stay: b -> b WHEN x >= {c} AND y <= {f}\ndown: b -> d WHEN x < {c} AND z >= {e}",
    "three numbers": "stay: b -> b WHEN z >= {e} AND y <= {f} AND x > {e}\ndown: b -> d WHEN z < {f} AND x < {f}",
    "an integer": "stay: b -> b WHEN z >= {c}\ndown: b -> d WHEN z < {c}",
    "in a line": "on: b -> c WHEN x BETWEEN {e} AND {f}\ndown: c -> d WHEN y < {f} AND z > {e}",
}
STARTS: Final = ("k = '{k}' AND x > {e}", "k = '{k}'", "x > {e}", "x > {e} AND z <= {f}")
ALONE: Final = Options(together=False, templates=False)
VALUES: Final = (0.0, 1.0, 2.0, 3.0)


def text(body: str, start: str, by: str, draw: random.Random) -> str:
    constants = {"k": draw.choice("KL"), "l": draw.choice("KL"), "m": draw.choice("KL")}
    numbers = {"c": draw.choice("123"), "e": draw.choice("012"), "f": draw.choice(("1.5", "2", "3"))}
    whole = HEAD + body + "\nWITHIN " + draw.choice(("4", "9"))
    return whole.replace("{up}", start).replace("{by}", by).format_map(constants | numbers)


def row(draw: random.Random) -> tuple[Any, ...]:
    key, x = draw.choice(("K", "K", "L", None)), draw.choice((*VALUES, None))
    return key, x, draw.choice(VALUES), draw.choice((0, 1, 2, 3))


def told(engine: Engine, results: Any, found: dict[str, list[str]]) -> None:
    for match in results:
        found.setdefault(match.subscription, []).append(repr(match))


def played(options: Options, body: str, start: str, by: str, seed: int) -> dict[str, list[str]]:
    """Twelve subscriptions, of which some come later and some leave; the engine is saved and restored in between."""
    draw = random.Random(seed)
    engine = Engine(options)
    engine.add_stream("S", {"k": "string?", "x": "float?", "y": "float", "z": "int"})
    found: dict[str, list[str]] = {}
    for number in range(8):
        engine.subscribe(f"s{number}", language="afa", query=text(body, start, by, draw))
    time = 0
    for step in range(40):
        time += draw.choice((0, 1, 1, 2))
        told(engine, engine.publish("S", [time], [row(draw)]), found)
        if step == 16:
            engine.unsubscribe("s3")
            for number in range(8, 12):
                engine.subscribe(f"s{number}", language="afa", query=text(body, start, by, draw))
        if step == 30:
            engine = Engine.restore(engine.snapshot(), options)
            engine.unsubscribe("s9")
        engine.check_invariants()
    return {name: sorted(matches) for name, matches in found.items()}


@pytest.mark.parametrize("form", BODIES)
def test_each_has_the_results_that_it_has_alone(form: str) -> None:
    matches = 0
    for seed, (start, by) in enumerate(product(STARTS, ("", " BY k"))):
        expected = played(ALONE, BODIES[form], start, by, seed)
        assert played(Options(), BODIES[form], start, by, seed) == expected
        matches += sum(map(len, expected.values()))
    assert matches > 20


def test_runs_that_differ_in_a_loop_are_one_machine() -> None:
    """Ten thousand texts of a hundred symbols each would be a hundred machines, of which each event asks all."""
    engine = Engine()
    engine.add_stream("S", {"k": "string?", "x": "float?", "y": "float", "z": "int"})
    draw = random.Random(1)
    for number in range(50):
        engine.subscribe(f"s{number}", language="afa", query=text(BODIES["a text and a number"], STARTS[0], "", draw))
    engine.publish("S", [1], [("K", 3.0, 0.0, 1)])
    assert engine.statistics()["speculative"] == 1


def test_a_loop_ignores_its_events_as_before() -> None:
    """What a family notes of a loop is no event of the match."""
    engine = Engine()
    engine.add_stream("S", {"k": "string?", "x": "float?", "y": "float", "z": "int"})
    for number, least in enumerate(("1", "2")):
        query = "FROM S START a FINAL d up: a -> b WHEN x > 5 stay: b -> b WHEN x >= {} down: b -> d WHEN x < 1"
        engine.subscribe(f"s{number}", language="afa", query=query.format(least))
    rows: list[tuple[Any, ...]] = [("K", value, 0.0, 1) for value in (6.0, 1.5, 3.0, 0.0)]
    found = list(engine.publish("S", [1, 2, 3, 4], rows))
    assert [(match.subscription, match.lineage) for match in found] == [("s0", [1, 4])]
