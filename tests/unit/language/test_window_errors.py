"""What is wrong with a window query is said in one line, with its place."""

from __future__ import annotations

import pytest

from broker.engine import Engine
from broker.events import ForetellError

CHAIN = " ".join(f"[v = {number}]" for number in range(61))
LONG = " ".join(["any*"] * 500)
STATES = "AFTER any* MATCHING ([v = 1] | any* [v > 2] any{16} [v = 3])"
MANY = "9" * 5_000
BACK = " ".join(f"[v > prev{number}.v]" for number in range(1, 15))
NESTED = "(" * 60 + "[v > 1]" + "{1,100})" * 60


@pytest.mark.parametrize(
    ("windows", "place", "said"),
    [
        ("AFTER any* MATCHING any{0}", 35, "expected events after MATCHING, found an expression that only"),
        ("AFTER any* MATCHING (any{0})*", 36, "expected events after MATCHING, found an expression that only"),
        ("AFTER any* MATCHING", 34, "expected '[', any, '!' or '(', found the end of the query"),
        ("AFTER MATCHING any", 21, "expected '[', any, '!' or '(', found 'MATCHING'"),
        ("AFTER any* MATCHING ()", 36, "expected '[', any, '!' or '(', found ')'"),
        ("AFTER any* MATCHING any{3,2}", 38, "expected the smaller number first, found '{3,2}'"),
        ("AFTER any* MATCHING any{99999999}", 38, "expected at most 1000000 repetitions, found '{99999999}'"),
        (f"AFTER any* MATCHING any{{{MANY}}}", 38, "expected at most 1000000 repetitions, found '{9999"),
        (f"AFTER any* MATCHING any{{1,{MANY}}}", 38, "expected at most 1000000 repetitions, found '{1,9999"),
        ("AFTER any* MATCHING any{-1}", 38, "expected {n}, {n,} or {n,m}, found '{-1}'"),
        ("AFTER any* MATCHING any{1.5}", 38, "expected {n}, {n,} or {n,m}, found '{1.5}'"),
        ("AFTER any* MATCHING any{}", 38, "expected {n}, {n,} or {n,m}, found '{}'"),
        ("AFTER any* MATCHING any{0} & any{2}", 35, "expected events after MATCHING, found an expression that only"),
        ("AFTER any* MATCHING any OR AFTER any* MATCHING any{0,0}", 62, "expected events after MATCHING, found an"),
        ("AFTER any* MATCHING []", 36, "expected an attribute, a number, a string or '(', found ']'"),
        (
            "AFTER any* MATCHING (((any{1,1000000}){1,1000000}){1,1000000}){1,1000000}",
            38,
            "expected windows of at most 1000000000000 events, or of any number of them, found 10000000",
        ),
        ("AFTER any* MATCHING ([v = 1]{1000}){1000}", 39, "expected an expression after MATCHING with at most 10"),
        ("AFTER any* MATCHING ([v = 1]{2,100000}){1,9}", 39, "expected an expression after MATCHING whose states"),
        ("AFTER ([v = 1]{2,100000}){1,9} MATCHING any", 25, "expected an expression after AFTER whose states"),
        (f"AFTER any* MATCHING {NESTED}", 98, "expected an expression after MATCHING whose states take at most 200000"),
        (f"AFTER any* MATCHING {BACK}", 209, "expected conditions that divide events into at most 4096 classes"),
        (f"AFTER any* MATCHING {'(' * 500}any{')' * 500}", 135, "expected at most 100 levels of nesting, found more"),
        (f"AFTER any* MATCHING {LONG}", 35, "expected a regular expression of at most 400 parts, found 1001"),
        (f"AFTER any* MATCHING {CHAIN}", 568, "expected at most 60 different conditions on events, found more"),
        (STATES, 46, "expected an expression after MATCHING with at most 10000 states, found one with more"),
        ("AFTER any* [v > 2] any{16} MATCHING any", 21, "expected an expression after AFTER with at most 10000 states"),
        ("EVERY 20000 EVENTS", 21, "expected at most 10000 events between the beginnings of two windows, found 20000"),
        ("LAST 3 EVENTS EVERY 10001 EVENTS", 35, "expected at most 10000 events between the beginnings of two windows"),
        (f"LAST {MANY} EVENTS", 20, "expected a whole number of events, at most 1000000"),
        ("LAST 9999999999999 EVENTS", 20, "expected a whole number of events, at most 1000000"),
        ("LAST 1 day EVERY 1 us", 20, "expected at most 10000 windows over one event, found 86400000000"),
        ("LAST 5 EVENTS EVERY 3 us", 35, "expected both sizes in events or both as durations, found one of each"),
        ("EVERY 0 EVENTS", 21, "expected a size of at least 1, found 0"),
        ("EVERY 0 us", 21, "expected a size of at least 1, found 0"),
        ("SESSION -1 us", 23, "expected a number, found '-'"),
        ("AFTER any* MATCHING any WITHIN -1 us", 46, "expected a number, found '-'"),
        ("AFTER any* MATCHING [v > prev17.v]", 40, "expected prev, prev2 up to prev16, found prev17"),
        ("AFTER any* MATCHING [v > prev0.v]", 40, "expected prev, prev2 up to prev16, found prev0"),
        ("AFTER any* MATCHING [v > $1.v]", 40, "expected an attribute by its bare name, found '$1.v'"),
        ("AFTER any* MATCHING [w > 1]", 36, "unknown attribute 'w'"),
        ("START x, END y WHERE x.v < y.v", 42, "expected a condition on one event, found 'x' and 'y'"),
        ("START x, END y WHERE x.v + y.v > 3", 42, "expected a condition on one event, found 'x' and 'y'"),
        ("START x, END y WHERE x.v IN (1, y.v)", 47, "expected a condition on one event, found 'x' and 'y'"),
        ("START x, END y WHERE EXISTS z: z.v > prev(x).v", 52, "expected a condition on one event, found 'z' and 'x'"),
        (f"START x, END y WHERE x.v < prev{MANY}(x).v", 42, "expected a name of at most 128 characters, found 5004"),
        ("START x, END y WHERE x.v < prev17(x).v", 42, "expected prev, prev2 up to prev16, found prev17"),
        ("START x, END x WHERE x.v < 1", 28, "expected another variable for END than for START, found 'x'"),
        ("START x, END y WHERE z.v < 1", 36, "unknown variable 'z'; expected one of x, y"),
        ("START x, END y WHERE EXISTS x: x.v < 1", 36, "expected a new variable, found 'x', which is bound already"),
        ("START x, END y WHERE EXISTS a, b, c, d, e: a < b", 36, "expected at most 6 variables at one place"),
        ("START x, END y WHERE EXISTS SET A, B, C, D, E: x IN A", 36, "expected at most 6 variables at one place"),
        ("START x, END y WHERE EXISTS SET P: x < P", 54, "expected the variable of an event, found 'P', that of a set"),
        ("START x, END y WHERE x IN y", 36, "expected the variable of a set, found 'y', that of an event"),
        ("START x, END y WHERE x = y + 2", 42, "expected the next position, such as z + 1"),
        ("EVERY 3 EVENTS AGGREGATE from() AS f", 40, "expected from() beside windows of the clock alone"),
        ("EVERY 3 EVENTS AGGREGATE sum(ty) AS f", 44, "expected a number in sum, found a value of type string"),
        ("EVERY 3 EVENTS AGGREGATE sum(prev.v) AS f", 44, "expected an attribute of the event by its bare name"),
        ("EVERY 3 EVENTS AGGREGATE quantile(v, 2) AS f", 52, "expected a number from 0 to 1 as the share"),
        ("EVERY 3 EVENTS AGGREGATE sum(v) AS f, sum(v) AS f", 63, "expected each name once, found 'f' twice"),
        ("EVERY 3 us KEEP LONGEST", 31, "expected no KEEP beside windows of the clock"),
    ],
)
def test_bad_windows_are_refused_in_one_line_with_the_place(windows: str, place: int, said: str) -> None:
    engine = Engine()
    engine.add_stream("S", {"ty": "string?", "v": "int?"})
    with pytest.raises(ForetellError) as found:
        engine.subscribe("q", language="window", query=f"FROM S WINDOW {windows}")
    assert str(found.value).startswith(f"subscription 'q': line 1, column {place}: {said}")
    assert "\n" not in str(found.value)
    assert engine.statistics()["windows"] == 0


@pytest.mark.parametrize(
    ("windows", "found"),
    [
        ("LAST 10 min EVERY 5 min", "windows of the clock"),
        ("SESSION 5 min", "windows that are told when they are over, such as SESSION"),
    ],
)
def test_forecasts_of_windows_that_no_event_ends_are_refused_by_name(windows: str, found: str) -> None:
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "v": "int"}, "ty")
    with pytest.raises(ForetellError, match=f"forecast: expected windows that an event ends, found {found}"):
        engine.subscribe(
            "q",
            language="window",
            query=f"FROM S BY ty WINDOW {windows} AGGREGATE sum(v) AS s",
            forecast={"within": 3, "threshold": 0.5},
        )
