"""Snapshots: sections with versions, and what is refused and how."""

from __future__ import annotations

import random
from typing import Any

import msgpack
import pytest

from broker.engine import Engine
from broker.events.errors import DefinitionError
from broker.storage.engine_digest import engine_digest


def fed(engine: Engine, first: int, upto: int) -> dict[str, list[Any]]:
    """Events of S and T, one a microsecond; lines by subscription."""
    drawn = random.Random(7)
    events = [
        ("S" if drawn.random() < 0.7 else "T", drawn.randrange(3), drawn.choice("ABCD"), drawn.random() * 10)
        for _ in range(upto)
    ]
    found: dict[str, list[Any]] = {}
    for time in range(first, upto):
        stream, key, letter, x = events[time]
        row = (letter, key, x) if stream == "S" else (key, x)
        for result in engine.publish(stream, [time], [row], [time + 1]).expanded():
            found.setdefault(result.subscription, []).append(result.line())
    for result in engine.finish():
        found.setdefault(result.subscription, []).append(result.line())
    return found


def word(letters: str) -> str:
    """Neighbours, and `;` between words."""
    names = [f"o{at}" for at in range(len(letters.replace(";", "")))]
    rest = iter(names)
    match = ", ".join(next(rest) if letter != ";" else letter for letter in letters).replace(", ;, ", "; ")
    defined = "\n".join(f"{name}: ty = '{letter}'" for name, letter in zip(names, letters.replace(";", "")))
    return f"FROM S\n{defined}\nMATCH {match}"


def with_words(*words: str) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "k": "int", "x": "float"})
    engine.add_stream("T", {"k": "int", "x": "float"})
    for letters in words:
        name = letters.replace(";", "_")
        engine.subscribe(name, language="ptopss", query=word(letters), report="completions")
    return engine


def test_an_engine_that_was_restored_says_the_same_of_itself() -> None:
    """Whatever has come and gone before: a broker compares digests when it starts."""
    engine = with_words("D;B", "AB", "C", "C;D", "CD")
    fed(engine, 0, 20)
    engine.unsubscribe("D_B")
    engine.subscribe("BA", language="ptopss", query=word("BA"), report="completions")
    fed(engine, 20, 40)
    saved = engine.snapshot()
    again = Engine.restore(saved)
    assert engine_digest(again.snapshot()) == engine_digest(saved)
    assert fed(again, 40, 80) == fed(engine, 40, 80)
    assert engine_digest(again.snapshot()) == engine_digest(engine.snapshot())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda found: found["sections"]["forecasts"].__setitem__(0, 1), "version 1 of its section 'forecasts'"),
        (lambda found: found["sections"].__setitem__("windows", [1, []]), "version 1 of its section 'windows'"),
        (lambda found: found["sections"]["lanes"].__setitem__(0, 0), "reads version 1"),
        (lambda found: found["sections"].pop("lanes"), "damaged"),
        (lambda found: found.__setitem__("format", 6), "format 7, found format 6"),
        (lambda found: found.__setitem__("sections", [1]), "damaged"),
    ],
)
def test_what_this_version_does_not_read_is_refused_by_name(change: Any, told: str) -> None:
    found = msgpack.unpackb(with_words("AB").snapshot(), strict_map_key=False)
    change(found)
    with pytest.raises(DefinitionError, match=told) as refused:
        Engine.restore(msgpack.packb(found))
    assert ("*.checkpoint" in str(refused.value)) == ("damaged" not in told)


@pytest.mark.parametrize(
    "window", ["EVERY 100", "EVERY 8 EVENTS", "SESSION 200", "AFTER any* MATCHING any{8}", "LAST 9 EVERY 3"]
)
@pytest.mark.parametrize("value", [2**62, -(2**62)])
def test_sums_that_64_bits_do_not_hold_are_saved(window: str, value: int) -> None:
    def found(saved_after: int) -> list[Any]:
        engine = Engine()
        engine.add_stream("S", {"v": "int"})
        engine.subscribe("q", language="window", query=f"FROM S WINDOW {window} AGGREGATE sum(v) AS s, avg(v) AS m")
        lines: list[Any] = []
        for time in range(1, 12):
            lines += [match.line() for match in engine.publish("S", [time], [(value,)])]
            if time == saved_after:
                saved = engine.snapshot()
                engine = Engine.restore(saved)
                assert len(engine_digest(saved)) == 32
        return lines + [match.line() for match in engine.finish()]

    whole = found(0)
    assert len(whole) > 0
    assert all(found(after) == whole for after in range(1, 11))


def test_an_unknown_type_of_a_value_is_refused() -> None:
    saved = Engine().snapshot()
    content = msgpack.unpackb(saved, strict_map_key=False) | {"more": msgpack.ExtType(9, b"x")}
    with pytest.raises(DefinitionError, match="unknown type 9"):
        Engine.restore(msgpack.packb(content))
