"""The automata of windows: their sizes, bounds on open starts, and what is refused because it is too large."""

from __future__ import annotations

import time
from itertools import product
from math import prod
from typing import Any

import pytest

from broker.algebra.terms import describe
from broker.algebra.window.lowering import lower
from broker.automaton.analyses.window_bounds import window_bounds
from broker.automaton.analyses.window_key import window_key
from broker.automaton.automaton import Automaton
from broker.automaton.constructions.windows import automaton_of_windows, classes, impossible
from broker.automaton.windows.drawing import windows_diagram, windows_lines
from broker.automaton.windows.window_automaton import WindowAutomaton
from broker.events.errors import LimitExceeded
from broker.events.schema import Schema
from broker.language.window import parse

SCHEMA = Schema.declare({"ty": "string", "v": "int", "flag": "bool", "x": "float"})
TIGHT = "[x >= 9007199254740992 AND x < 9007199254740993]"  # a float satisfies it
EVEN = (
    "START x, END y WHERE x.ty = 'A' AND y.ty = 'B' AND EXISTS SET P: x IN P AND NOT y IN P AND "
    "ALL z, u: z >= x AND u = z + 1 IMPLIES NOT (z IN P IFF u IN P)"
)


def made(windows: str) -> Automaton:
    text = f"FROM S WINDOW {windows}"
    return automaton_of_windows(lower(parse(text), text, lambda name: SCHEMA, lambda: ["S"]), text)


def tables(windows: str) -> WindowAutomaton:
    found = made(windows).windows
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("windows", "prefix", "body"),
    [
        ("EVERY 100 EVENTS", 100, 1),
        ("LAST 100 EVENTS EVERY 10 EVENTS", 10, 1),
        ("LAST 1000 EVENTS EVERY 1 EVENT", 1, 1),
        ("AFTER any* MATCHING [ty = 'A'] any* [ty = 'B'] & any{1,1000}", 1, 3),
        ("AFTER any* MATCHING [ty = 'A'] any{0,98} [ty = 'B']", 1, 3),
        ("AFTER any* MATCHING [ty = 'A'] (any{2,9}){7,1000} [ty = 'B']", 1, 3),
        ("AFTER any* MATCHING ((any{1,1000}){1,1000}){1,1000}", 1, 1),
        ("AFTER any* MATCHING [ty = 'A'] (any & !([ty = 'B']))* [ty = 'B']", 1, 3),
        (EVEN, 1, 5),
    ],
)
def test_lengths_need_no_states(windows: str, prefix: int, body: int) -> None:
    (part,) = tables(windows).parts
    assert len(part.starts) == prefix
    assert len(part.final) <= body


@pytest.mark.parametrize(
    ("windows", "key"),
    [
        ("AFTER any* MATCHING [ty = 'A' AND v > 1] [v < 1]", "ty = 'A'"),
        ("AFTER any* MATCHING [v > 1] any* [ty = 'A']", "ty = 'A'"),
        ("AFTER any* [ty = 'A'] MATCHING [v > 1]", "ty = 'A'"),
        ("AFTER any* MATCHING [ty = 'A' AND v > 1 OR ty = 'A' AND v < 1] any*", "ty = 'A'"),
        ("AFTER any* MATCHING [ty = 'A']? [v > 1]", ""),
        ("AFTER any* MATCHING [ty = 'A' OR v > 1]", ""),
        ("AFTER any* MATCHING [ty = 'A'] OR AFTER any* MATCHING [v > 1]", ""),
        ("AFTER any* MATCHING any & !([ty = 'A'])", ""),
        ("AFTER any* MATCHING [x = 2 AND v > 1]", ""),
        ("EVERY 5", ""),
    ],
)
def test_the_key_of_windows_is_what_all_of_them_want(windows: str, key: str) -> None:
    found = tables(windows)
    assert [describe(atom) for atom in window_key(found, (0, 1), found.atoms)] == ([key] if key else [])


@pytest.mark.parametrize(
    ("windows", "blamed"),
    [
        ("AFTER any* MATCHING any{2} & any{3}", ["any{2} & any{3}"]),
        ("AFTER any* MATCHING any{5000} & any{6000}", ["any{5000} & any{6000}"]),
        ("AFTER any* MATCHING any ([flag] | any{2} & any{3} any)", []),
        ("AFTER any* MATCHING any (any{2} & any{3} | any{4} & any{5})", ["any{2} & any{3}"]),
        ("AFTER any* MATCHING any{0} | any{2} & any{3}", ["any{2} & any{3}"]),
        ("AFTER any{0} | any{2} & any{3} MATCHING any", []),
        ("AFTER any{2} & any{3} MATCHING any{3} & any{4}", ["any{2} & any{3}", "any{3} & any{4}"]),
        ("AFTER any* MATCHING [flag]{3} & any{2}", ["[flag]{3} & any{2}"]),
        ("AFTER any* MATCHING [flag]{3} & any{3}", []),
        ("AFTER any* MATCHING [flag]+ & !([flag]+)", ["[flag]+"]),
        ("START x, END y WHERE x < y AND y < x", ["AND y < x"]),
        ("START x, END y WHERE x < y", []),
        ("LAST 10 EVENTS", []),
        ("LAST 10 min", []),
    ],
)
def test_what_matches_nothing_is_said_with_its_place(windows: str, blamed: list[str]) -> None:
    text = f"FROM S WINDOW {windows}"
    expression = lower(parse(text), text, lambda name: SCHEMA, lambda: ["S"])
    found = [text[at:] for at, _ in impossible(expression, text)]
    assert len(found) == len(blamed)
    assert all(map(str.startswith, found, (each.removeprefix("[") for each in blamed)))


def test_equal_windows_written_in_different_ways_are_one_automaton() -> None:
    one = made("AFTER any* MATCHING [ty = 'A'] any{0,98} [ty = 'B'] | [ty = 'A'] [ty = 'B']")
    assert made("AFTER any* MATCHING [ty = 'A'] ([ty = 'B'] | any{0,98} [ty = 'B'])") == one
    assert made("AFTER (any*)* MATCHING any+") == made("AFTER any* MATCHING any any*")


def test_exclusive_conditions_give_few_classes() -> None:
    types = " | ".join(f"[ty = '{number}']" for number in range(20))
    assert len(tables(f"AFTER any* MATCHING {types}").classes) == 21
    ranges = " ".join(f"[v > {number}]" for number in range(20))
    assert len(tables(f"AFTER any* MATCHING {ranges}").classes) == 21
    assert len(tables("AFTER any* MATCHING [v IS NULL] [v IS NOT NULL] [v IN (1, 2)] [v BETWEEN 2 AND 5]").classes) == 5


def test_long_lists_divide_values_into_few_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def counted(*regions: Any) -> Any:
        looked.append(prod(map(len, regions)))
        return product(*regions)

    monkeypatch.setattr(classes, "product", counted)
    numbers = ", ".join(map(str, range(40)))
    texts = ", ".join(f"'{number}'" for number in range(40))
    spelled = " AND ".join(f"x != {number}" for number in range(40))
    listed = f"[ty NOT IN ({texts}) OR v NOT IN ({numbers})]"
    assert len(tables(f"AFTER any* MATCHING {listed}").classes) == 2
    assert len(tables(f"AFTER any* MATCHING {listed} [ty NOT IN ({texts}) OR ({spelled})] [ty = '7']").classes) == 8
    assert looked
    assert max(looked) <= 5 * 4 * 4


def test_too_many_states_are_refused_soon_with_the_place_of_the_part() -> None:
    before = time.process_time()
    with pytest.raises(LimitExceeded, match="line 1, column 46: expected an expression after MATCHING with at most"):
        made("AFTER any* MATCHING ([v = 1] | any* [v > 2] any{16} [v = 3])")
    assert time.process_time() - before < 20  # a second or two on an idle machine


@pytest.mark.parametrize(
    ("windows", "verdict", "starts", "again", "over"),
    [
        ("AFTER any* MATCHING [ty = 'A'] [ty != 'A']* [ty = 'B']", "bounded", 1, True, None),
        ("AFTER any* MATCHING [ty = 'A'] [ty != 'A' AND ty != 'B']* [ty = 'B']", "bounded", 1, False, 1),
        ("AFTER any* MATCHING [ty = 'A'] any* [ty = 'B']", "unbounded", None, True, None),
        ("AFTER any* MATCHING [ty = 'A'] any{3} | [ty = 'A'] any{4}", "bounded", 5, False, 9),
        ("AFTER any* MATCHING [ty = 'A']{3,10} [ty = 'B']", "bounded", 10, False, 8),
        ("AFTER any* MATCHING [flag]{3,10} any", "bounded", 11, False, 60),
        ("EVERY 20 EVENTS", "bounded", 1, False, 1),
        ("LAST 20 EVENTS EVERY 5 EVENTS", "bounded", 4, False, 4),
        ("LAST 20 EVENTS EVERY 1 EVENT", "bounded", 20, False, 20),
        ("AFTER any* MATCHING any{1,3}", "bounded", 3, False, 6),
        ("AFTER any* MATCHING any{1,3} KEEP LONGEST", "bounded", 3, False, 3),
        ("AFTER any* MATCHING [flag]{3,10} any KEEP SHORTEST", "bounded", 4, False, 4),
        ("LAST 10 min EVERY 5 min", "bounded", 2, False, 2),
        ("SESSION 5 min", "bounded", 1, False, 1),
        ("AFTER any* MATCHING any [v > prev.v]*", "unknown", None, True, None),
        ("AFTER any* MATCHING any [flag]* WITHIN 5", "unknown", None, True, None),
        ("AFTER any* MATCHING any [x > prev.x]*", "unbounded", None, True, None),
        ("AFTER any* MATCHING [x > 3] [x < 2 AND x > prev.x]*", "bounded", 1, False, 1),
        ("AFTER any* MATCHING [x = 1] [x > prev.x AND x < 2]* [x = 2]", "bounded", 1, False, 1),
        ("AFTER any* MATCHING [x >= 1 AND x > prev.x] [x > prev.x AND x < 2]* [x = 2]", "unbounded", None, False, None),
        ("AFTER any* MATCHING [x = 1] ([x > prev.x AND x = 1] | [x < prev.x AND x = 1])*", "bounded", 1, False, 1),
        ("AFTER any* MATCHING [x > prev.x AND ty = 'A']+", "unknown", None, True, None),
        (f"AFTER any* MATCHING {TIGHT} [x = prev.x AND {TIGHT[1:]}*", "unknown", None, True, None),
    ],
)
def test_verdicts_on_open_starts(
    windows: str, verdict: str, starts: int | None, again: bool, over: int | None
) -> None:
    bounds = window_bounds(tables(windows))
    assert (bounds.verdict, bounds.starts, bounds.again, bounds.over) == (verdict, starts, again, over)
    assert bool(bounds.witness) == (verdict != "bounded")


def test_people_read_the_events_that_open_more_and_more_windows() -> None:
    lines = windows_lines(tables("AFTER any* MATCHING [ty = 'A'] any* [ty = 'B']"))
    assert lines[-1] == "open starts: unbounded, one more each time these events come: [ty = 'A']"
    graph = windows_diagram("q", tables("AFTER any* MATCHING [ty = 'A'] [v > prev.v]"))
    assert [edge.label for edge in graph.edges] == ["any event", "ty = 'A'", "v > prev.v", "may begin", "a window"]
    graph = windows_diagram("q", tables("AFTER any* MATCHING [ty = '$.A']"))
    assert "ty = '$.A'" in [edge.label for edge in graph.edges]
