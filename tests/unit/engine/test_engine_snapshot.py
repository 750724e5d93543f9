"""Snapshots: sections with versions, what is refused and how, and the form of before there were sections."""

from __future__ import annotations

import json
import random
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgpack
import pytest

from broker.engine import Engine
from broker.engine.snapshot import is_older
from broker.events.errors import DefinitionError
from broker.storage.engine_digest import engine_digest

FORMAT_5 = Path(__file__).parent / "snapshots" / "format_5.msgpack"
"""Made by the last version that wrote that form, of keyed states, a published stream, words that came and went on two
streams, tuples with and without partitions, forecasts with a machine, and patterns in all representations of runs;
after 100 events of `fed`."""
CONTINUED = "5e7f2bc612067e4c"
"""The digest of what that version found in the next 200."""


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


def test_the_form_without_sections_is_read_and_goes_on_as_its_version_did() -> None:
    saved = FORMAT_5.read_bytes()
    assert is_older(saved)
    engine = Engine.restore(saved)
    engine.check_invariants()
    again = engine.snapshot()
    assert not is_older(again)
    other = Engine.restore(again)
    lines = fed(engine, 100, 300)
    assert lines == fed(other, 100, 300)
    text = json.dumps(lines, sort_keys=True)
    assert blake2b(text.encode(), digest_size=8).hexdigest() == CONTINUED


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
        (lambda found: found["sections"]["forecasts"].__setitem__(0, 2), "version 2 of its section 'forecasts'"),
        (lambda found: found["sections"].__setitem__("windows", [1, []]), "version 1 of its section 'windows'"),
        (lambda found: found["sections"]["lanes"].__setitem__(0, 0), "reads version 1"),
        (lambda found: found["sections"].pop("lanes"), "damaged"),
        (lambda found: found.__setitem__("format", 7), "format 5 or 6, found format 7"),
        (lambda found: found.__setitem__("sections", [1]), "damaged"),
    ],
)
def test_what_this_version_does_not_read_is_refused_by_name(change: Any, told: str) -> None:
    found = msgpack.unpackb(with_words("AB").snapshot(), strict_map_key=False)
    change(found)
    with pytest.raises(DefinitionError, match=told) as refused:
        Engine.restore(msgpack.packb(found))
    assert ("*.checkpoint" in str(refused.value)) == ("damaged" not in told)


def test_windows_that_are_cells_now_are_refused_with_the_way_to_go_on() -> None:
    engine = Engine()
    engine.add_stream("S", {"ty": "string"})
    query = "FROM S\na, b, c: TRUE\nMATCH a; b @(t(b) - t(a) > 5); c"
    engine.subscribe("q", language="ptopss", query=query, report="all")
    engine.publish("S", [1], [("A",)])
    found = msgpack.unpackb(engine.snapshot(), strict_map_key=False)
    ((_, [[_, [[[_, runner]], *_]]]),) = found["sections"]["machines: tuple_counts"][1]
    runner[:1] = [[1, 0, 0, 0], [], [], []]
    with pytest.raises(DefinitionError, match=r"windows .* counted by cells.*\*\.checkpoint"):
        Engine.restore(msgpack.packb(found))


def test_runs_of_a_group_in_another_form_are_refused_with_the_way_to_go_on() -> None:
    """Those of `a AND b` with unlike texts lay with their texts alone once, and now with their steps, too."""
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "x": "float"})
    for number in range(3):
        query = f"FROM S a: ty = 'A' AND x > {number} b: ty = 'B' AND x < {number} MATCH a AND b WITHIN 9"
        engine.subscribe(f"q{number}", language="ptopss", query=query)
    engine.publish("S", [1, 2], [("A", 2.5), ("B", 0.5)])
    found = msgpack.unpackb(engine.snapshot(), strict_map_key=False)
    ((_, (_, _, ((_, cell),), _)),) = found["sections"]["machines: groups"][1]
    cell["texts"] = cell.pop("logs")
    with pytest.raises(DefinitionError, match=r"runs of a group .* another form now.*\*\.checkpoint"):
        Engine.restore(msgpack.packb(found))
    cell["logs"] = cell.pop("texts")[:1] + [[["C", 5]]]
    with pytest.raises(DefinitionError, match="damaged"):
        Engine.restore(msgpack.packb(found))


@pytest.mark.parametrize("change", [lambda machine: machine.pop(), lambda machine: machine[-1].__setitem__(1, 2)])
def test_runs_of_before_computed_values_could_differ_are_refused(change: Any) -> None:
    """Such runs have fewer numbers than now: those of a chain would be read at wrong places."""
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "x": "float"})
    for number in range(3):
        query = f"FILTER{{x - x_1 > {number}}}(FILTER{{ty = 'A'}} S NEXT{{$2.ty = $1.ty}} S)"
        engine.subscribe(f"q{number}", language="cayuga", query=query)
    engine.publish("S", [1, 2], [("A", 2.5), ("A", 0.5)])
    found = msgpack.unpackb(engine.snapshot(), strict_map_key=False)
    assert list(Engine.restore(msgpack.packb(found)).publish("S", [3], [("A", 3.0)]))
    ((_, machine),) = found["sections"]["machines: groups"][1]
    change(machine)
    with pytest.raises(DefinitionError, match=r"runs of a group .* another form now.*\*\.checkpoint"):
        Engine.restore(msgpack.packb(found))


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
