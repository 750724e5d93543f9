"""One machine after the other takes a batch: windows beside windows, groups and merged automata, as event by event.

Subscriptions come and go, batches of two streams are rows or columns of any size; now and then a limit is hit or a
condition fails. Patterns that only wait for events of a stream find the same whether windows read it, too.
"""

from __future__ import annotations

import random
from typing import Any

from doubles.read_columns import in_columns
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.engine import Engine, Options
from broker.events.schema import Row

SUMS = "AGGREGATE sum(p) AS s, count(*) AS n"
WINDOWS = (
    "FROM S WINDOW EVERY {0} EVENTS " + SUMS,
    "FROM S BY k WINDOW EVERY {0} EVENTS " + SUMS,
    "FROM S BY k WINDOW EVERY {0} EVENTS AGGREGATE max(p) AS m, sum(v) AS s, avg(p) AS a",
    "FROM S BY k WINDOW LAST {0} EVENTS EVERY 1 EVENT " + SUMS,
    "FROM S BY k WINDOW LAST 4 EVENTS EVERY {0} EVENTS AGGREGATE median(p) AS m, last(k) AS l",
    "FROM S BY k WINDOW LAST 3 EVENTS EVERY 1 EVENT AGGREGATE sum(p * v) AS s, min(p) AS m",
    "FROM S BY k WINDOW EVERY 1{0} " + SUMS,
    "FROM S BY k WINDOW LAST 9 EVERY {0} " + SUMS,
    "FROM S WINDOW EVERY 1{0} AGGREGATE median(p) AS m",
    "FROM S BY k WINDOW SESSION {0} " + SUMS,
    "FROM S BY k WINDOW AFTER any* MATCHING [p > {0}] any* [v < 2] & any{{1,5}} " + SUMS,
    "FROM S BY k WINDOW AFTER any* MATCHING [p > {0}] [v >= 2]* [v < 2] " + SUMS,
    "FROM S WINDOW AFTER any* MATCHING [p > {0}] any* [v < 2] WITHIN 9 " + SUMS,
    "FROM S BY k WINDOW AFTER any* MATCHING [k = 'A' AND p > {0}] any* [v < 2] & any{{1,4}} " + SUMS,
    "FROM S BY k WINDOW AFTER any* MATCHING [p > prev.p]+ KEEP LONGEST " + SUMS,
    "FROM S BY v WINDOW AFTER any* MATCHING [p > {0}]+ " + SUMS,
    "FROM S WINDOW AFTER any* MATCHING any [1 / v > 0] any " + SUMS,
    "FROM T BY k WINDOW EVERY {0} EVENTS " + SUMS,
)
OTHERS = (
    ("cayuga", "SELECT * FROM FILTER{{p > {0}}}(S)"),
    ("cayuga", "SELECT * FROM FILTER{{k = 'A' AND p > {0}}}(S)"),
    ("cayuga", "SELECT * FROM FILTER{{p < {0}}}(S) NEXT{{$2.k = $1.k AND $2.p > $1.p}} S"),
    ("cayuga", "SELECT * FROM FILTER{{p < {0}}}(FILTER{{k = 'A' AND p > 1}}(S) NEXT{{$2.k = $1.k}} S)"),
    ("cayuga", "SELECT * FROM FILTER{{p < {0}}}(FILTER{{k = 'A' AND p > 1}}(T) NEXT{{$2.k = $1.k}} S)"),
    ("cayuga", "SELECT * FROM FILTER{{k = 'A' AND p > 1}}(S) NEXT{{$2.k = $1.k AND $2.p < {0}}} T"),
    ("cayuga", "SELECT * FROM T NEXT{{$2.k = $1.k AND $2.p > $1.p AND $2.v > {0}}} S"),
    ("cayuga", "SELECT * FROM FILTER{{p > {0}}}(T) FOLD{{$2.k = $1.k, $2.p < $.p}} S"),
    ("sase", "PATTERN SEQ(T a, S b) WHERE skip_till_next_match(a, b) {{ [k] AND b.p < {0} }} WITHIN 9"),
    ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ [k] AND a.k = 'A' AND b.p < {0} }} WITHIN 9"),
)
LIMITS: tuple[dict[str, Any], ...] = (
    {}, {}, {}, {"nodes_max": 4}, {"bindings_max": 2}, {"runs_max": 2}, {"work_max": 40}
)  # fmt: skip


def found(seed: int, switches: dict[str, Any], left_out: tuple[str, ...] = ()) -> tuple[dict[str, list[Any]], Any]:
    """By subscription what it has, in order; and figures of what is left in the end. `left_out`: languages."""
    chance = random.Random(seed)
    limits = chance.choice(LIMITS)
    engine = Engine(Options(**limits, **switches))
    for stream in ("S", "T"):
        engine.add_stream(stream, {"k": "string", "p": "float?" if chance.random() < 0.2 else "float", "v": "int"})
    told: dict[str, list[Any]] = {}
    here: list[str] = []
    time = 0
    many = chance.randrange(2, 5)
    for number in range(14):
        if number < many or chance.random() < 0.3:
            language, text = ("window", chance.choice(WINDOWS)) if chance.random() < 0.7 else chance.choice(OTHERS)
            query = text.format(chance.randrange(1, 5))
            if language not in left_out:
                engine.subscribe(f"s{number}", language=language, query=query)
            here.append(f"s{number}")
        elif here and chance.random() < 0.2:
            leaver = here.pop(chance.randrange(len(here)))
            if leaver in engine.subscriptions:
                engine.unsubscribe(leaver)
        times: list[int] = []
        rows: list[Row] = []
        size = chance.choice((1, 3, 9, 30, 300))
        for _ in range(size):
            time += chance.choice((0, 1, 1, 1, 3))
            times.append(time)
            number_or_none = chance.choice([1.5, 2.5, 0.1, 4.0, -3.25])
            rows.append((chance.choice("AAABC"), number_or_none, chance.choice((0, 1, 2, 3, 3, 3)) if size < 30 else 3))
        stream = chance.choice("SST")
        if chance.random() < 0.5:
            names, prices, volumes = zip(*rows)
            columns = {"k": list(names), "p": list(prices), "v": list(volumes)}
            results = engine.publish_columns(stream, columns, times)
        else:
            results = engine.publish(stream, times, rows)
        counted = len(results)
        read = list(in_columns(results))
        assert counted == len(read)
        for match in read:
            told.setdefault(match.subscription, []).append(match)
        engine.check_invariants()
    state = engine.statistics()
    return told, {name: state[name] for name in ("suspended", "window_keys", "window_starts") if name in state}


@settings(max_examples=max(settings().max_examples, 60), deadline=None)
@given(st.integers(0, 2**40))
def test_one_machine_after_the_other_is_event_by_event(seed: int) -> None:
    expected = found(seed, {"batches": False})
    assert found(seed, {}) == expected
    told, left = found(seed, {"window_columns": False})  # machines without columns keep other starts
    assert (told, left["suspended"]) == (expected[0], expected[1]["suspended"])


@settings(deadline=None)
@given(st.integers(0, 2**40))
def test_windows_beside_a_pattern_change_nothing(seed: int) -> None:
    """Whether all readers of a stream are machines, but for patterns that begin on another one and wait for it."""
    plain = {"batches": False}
    alone, _ = found(seed, plain, ("window", "sase"))
    beside, _ = found(seed, {})
    assert {name: beside.get(name) for name in alone} == alone
