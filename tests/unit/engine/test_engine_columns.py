"""Batches by columns: which queries go so, and the edges at which a batch changes its way. All else is the law's."""

from __future__ import annotations

import random
from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.engine.executors.keyed_runs.column_plan import columns_of
from broker.events.column_checks import FEW
from broker.events.errors import EventError

PAIR = "(S NEXT{$2.k = $1.k} S)"
FOLD = "FOLD{$2.k = $.k, $2.p > $.p, $.n + 1 AS n} S"
Rows = list[tuple[Any, ...]]


def engine(*queries: str, by_columns: bool = True) -> Engine:
    made = Engine(Options(batches=by_columns))
    made.add_stream("S", {"k": "string?", "p": "float?", "v": "int?"})
    for number, query in enumerate(queries):
        made.subscribe(f"s{number}", query=query, lineage="FOLD" not in query)
    return made


def goes_by_columns(own: Engine) -> bool:
    runs: Any = own.runtime.runs
    return columns_of(own.program.directory, own.program.directory.stream("S"), runs.matrix) is not None


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ("SELECT * FROM FILTER{p > 1.5 AND v < 3}(S)", True),
        ("SELECT * FROM FILTER{k = 'A' AND p > 1.5 AND v < 3}(S)", True),
        (f"SELECT * FROM FILTER{{p > 1.01 * p_1}}{PAIR}", True),
        (f"SELECT * FROM FILTER{{p > p_1 AND v != v_1 AND DUR < 5}}{PAIR}", True),
        ("SELECT * FROM FILTER{p < 2}(FILTER{k = 'A' AND p > 1.5}(S) NEXT{$2.k = $1.k} S)", True),
        (f"SELECT * FROM FILTER{{n >= 3}}((SELECT *, 1 AS n FROM S) {FOLD})", True),
        (f"SELECT * FROM FILTER{{p > p_1}}({PAIR} NEXT{{$2.k = $1.k}} S)", False),
        ("SELECT * FROM S NEXT{$2.v > $1.v} S", False),
        ("SELECT * FROM S NEXT{$2.k = 'A'} S", False),
        (f"SELECT * FROM FILTER{{p > p_1 + v}}{PAIR}", False),
        (f"SELECT * FROM {PAIR} PUBLISH Pairs", False),
    ],
)
def test_what_goes_by_columns(query: str, fits: bool) -> None:
    assert goes_by_columns(engine(query)) is fits


def both(queries: list[str], batches: list[tuple[list[int], Rows]]) -> list[Any]:
    """What is found, which is the same event by event."""
    found = []
    for by_columns in (False, True):
        own = engine(*queries, by_columns=by_columns)
        found.append([[m.line() for m in own.publish("S", times, rows)] for times, rows in batches])
        own.check_invariants()
    assert found[0] == found[1]
    return found[0]


def rows(count: int, keys: str = "ABC") -> Rows:
    return [(keys[at % len(keys)], float(at % 5), at % 4) for at in range(count)]


@pytest.mark.parametrize("apart", [2, 3, 4])
def test_a_pair_may_last_as_long_as_its_bound(apart: int) -> None:
    """One key, so that each event ends the one before it."""
    query = f"SELECT * FROM FILTER{{DUR <= 4}}{PAIR}"
    (found,) = both([query], [(list(range(0, 40 * apart, apart)), rows(40, "A"))])
    assert len(found) == (39 if apart <= 3 else 0)


def test_events_of_one_key_and_time_do_not_follow_each_other() -> None:
    times = [*range(20), 20, 20, 20, *range(21, 45), 45, 45]
    (found,) = both([f"SELECT * FROM {PAIR}"], [(times, rows(len(times), "A"))])
    assert len(found) == 20 + 2 + 3 + 23 + 2


def test_a_batch_continues_the_last_moment_of_the_one_before() -> None:
    first, second = list(range(30)), [29, 29, *range(30, 60)]
    both([f"SELECT * FROM {PAIR}"], [(first, rows(30, "AB")), (second, rows(32, "BA"))])


def test_nulls_have_no_key_and_compare_with_nothing() -> None:
    own = rows(60, "AB")
    for at in range(0, 60, 7):
        own[at] = (None, None, None)
    for at in range(3, 60, 9):
        own[at] = (own[at][0], None, None)
    queries = [f"SELECT * FROM FILTER{{p != p_1}}{PAIR}", "SELECT * FROM FILTER{v != 2 AND p >= 0}(S)"]
    both(queries, [(list(range(60)), own)])


def test_numbers_that_floats_do_not_hold_go_event_by_event() -> None:
    own: Rows = [("A", 1.0, 2**53 + at % 2) for at in range(40)]
    (found,) = both([f"SELECT * FROM FILTER{{v > v_1}}{PAIR}"], [(list(range(40)), own)])
    assert len(found) == 20


def test_a_product_that_is_no_finite_number_is_null() -> None:
    own: Rows = [("A", 1e308, 0) for _ in range(40)]
    (found,) = both([f"SELECT * FROM FILTER{{p < 10.0 * p_1}}{PAIR}"], [(list(range(40)), own)])
    assert found == []


def test_runs_of_a_fold_outlive_their_batch() -> None:
    """All rise, so that every event ends a match with each before it."""
    own: Rows = [("A", float(at), 0) for at in range(60)]
    query = f"SELECT * FROM FILTER{{n >= 2}}((SELECT *, 1 AS n FROM S) {FOLD})"
    found = both([query], [(list(range(30)), own[:30]), (list(range(30, 60)), own[30:])])
    assert sum(map(len, found)) == sum(range(60))


def test_matches_of_a_fold_are_read_as_they_were_found_after_later_batches_and_changes() -> None:
    """Their runs began in this batch or earlier, some took an event that was recalled, and some have two ends."""
    texts = [
        f"SELECT k, p, n FROM FILTER{{n >= 2 AND v < 5}}((SELECT *, 1 AS n FROM S) {FOLD})",
        f"SELECT k, n, v FROM FILTER{{n >= 2}}((SELECT *, 1 AS n FROM S) {FOLD})",
    ]
    unread: list[list[Any]] = []
    for by_columns in (True, False):
        own = engine(*texts, by_columns=by_columns)
        assert goes_by_columns(own)
        found = []
        for first in range(0, 240, 40):
            own_rows = [("ABC"[at % 3], float(at % 50), at % 7) for at in range(first, first + 40)]
            found.append(own.publish("S", list(range(first, first + 40)), own_rows))
        own.subscribe("late", query=texts[1])
        own.unsubscribe("s1")
        unread.append([match.line() for each in found for match in each])
    assert unread[0] == unread[1]
    assert len(unread[0]) > 500


def test_more_than_one_query_and_keys_that_come_once() -> None:
    queries = [
        f"SELECT * FROM FILTER{{p > p_1}}{PAIR}",
        "SELECT * FROM FILTER{p < 2}(FILTER{k = 'A' AND p > 0.5}(S) NEXT{$2.k = $1.k} S)",
        "SELECT * FROM FILTER{p < 3}(FILTER{k = 'B' AND v > 0}(S) NEXT{$2.k = $1.k AND $2.v > 1} S)",
    ]
    own = rows(80)
    own[40:50] = [(f"K{at}", 1.0, 1) for at in range(10)]
    both(queries, [(list(range(80)), own), (list(range(80, 160)), own)])


def waiting(own: Engine) -> int:
    """Keys whose newest event stands for its runs."""
    runs: Any = own.runtime.runs
    return sum(map(len, runs.waiting))


def test_between_batches_the_newest_event_of_a_key_stands_for_its_runs() -> None:
    own = engine(f"SELECT * FROM FILTER{{p > p_1}}{PAIR}", f"SELECT k, v_1 FROM FILTER{{v < v_1}}{PAIR}")
    keys = [chr(ord("A") + at) for at in range(20)]
    own.publish("S", list(range(20)), [(key, 1.0, 2) for key in keys])
    assert waiting(own) == 19, "the last event of a batch goes the usual way"
    assert own.statistics()["runs"] == 20, "both share a state"
    found = own.publish("S", list(range(20, 40)), [(key, 2.0, 1) for key in keys])
    assert len(found) == 40
    assert next(match.data for match in found if match.subscription == "s1") == {"k": "A", "v_1": 2}
    own.publish("S", [40], [("A", 1.0, 1)])
    assert waiting(own) == 18, "it had its runs when an event came alone"
    own.check_invariants()


def test_a_change_of_the_program_ends_no_wait() -> None:
    own = engine(f"SELECT * FROM FILTER{{p > p_1}}{PAIR}", f"SELECT k FROM FILTER{{p > 3 * p_1}}{PAIR}")
    times, keys = list(range(20)), [chr(ord("A") + at) for at in range(20)]
    own.publish("S", times, [(key, 1.0, None) for key in keys])
    own.subscribe("later", query=f"SELECT k, v_1 FROM FILTER{{p > 2 * p_1}}{PAIR}")
    own.unsubscribe("s1")
    own.check_invariants()
    found = own.publish("S", [time + 20 for time in times], [(key, 9.0, 5) for key in keys])
    assert [match.subscription for match in found] == ["s0"] * 20
    own.unsubscribe("s0")
    own.unsubscribe("later")
    own.runtime.runs.purge()
    own.check_invariants()
    assert waiting(own) == own.statistics()["runs"] == 0


@pytest.mark.parametrize("odd", [None, 2**53 - 1, 3])
def test_values_of_other_kinds_are_kept_as_they_are(odd: int | None) -> None:
    own: Rows = [(f"K{at % 20}", float(at), odd if at % 7 == 0 else at) for at in range(60)]
    own[25] = ("K5", None, None)
    times = list(range(60))
    (first, _, last) = both(
        [f"SELECT * FROM FILTER{{v != v_1}}{PAIR}"],
        [(times[start : start + 20], own[start : start + 20]) for start in (0, 20, 40)],
    )
    assert not first
    assert last


@pytest.mark.parametrize(
    "others", [(), ("SELECT * FROM FILTER{p != 3}(S)",), (f"SELECT * FROM FILTER{{p > p_1}}{PAIR}",)]
)
def test_many_filters_and_pairs_of_a_key_in_one_order(others: tuple[str, ...]) -> None:
    chance = random.Random(1)
    queries = [*others]
    for _ in range(80):
        low, least, key = chance.uniform(0, 9), chance.randrange(9), chance.choice("AB")
        queries += [
            f"SELECT * FROM FILTER{{k = '{key}' AND p >= {low:.2f} AND p <= {low + 2:.2f} AND v > {least}}}(S)",
            f"SELECT * FROM FILTER{{p < {low - 1:.2f}}}(FILTER{{k = '{key}' AND p > {low:.2f}}}(S)"
            " NEXT{$2.k = $1.k} S)",
        ]
    events: Rows = [(chance.choice("ABC"), chance.uniform(0, 11), chance.randrange(11)) for _ in range(400)]
    parts = [(list(range(at, at + 100)), events[at : at + 100]) for at in range(0, 400, 100)]
    found = both(queries, parts)
    assert sum(map(len, found)) > 2_000


def test_results_stay_what_they_were_found_as_when_a_group_gets_another_member() -> None:
    text = "SELECT * FROM FILTER{{k = 'A' AND p >= {} AND p <= 9 AND v > 0}}(S)"
    own = engine(text.format(1), text.format(3))
    found = own.publish("S", list(range(40)), rows(40, "A"))
    counted = len(found)
    own.subscribe("between", query=text.format(2))
    own.subscribe("again", query=text.format(3))
    own.unsubscribe("s0")
    later = own.publish("S", list(range(40, 80)), rows(40, "A"))
    assert len(found) == counted == len(list(found))
    assert {match.subscription for match in found} == {"s0", "s1"}
    assert len(later) == len(list(later))
    assert {match.subscription for match in later} == {"s1", "between", "again"}


def test_texts_of_rows_are_checked_where_they_become_numbers() -> None:
    own = engine("SELECT * FROM FILTER{p > 0}(S)")
    keys = ["", "A", "A\0", "\0", "seven77", "eight888", "é", "日本語", "A" * 40, None]
    many = 10 * FEW
    found = own.publish("S", list(range(many)), [(keys[at % 10], 1.0, at) for at in range(many)])
    assert [match.data["k"] for match in found] == keys * FEW
    later = list(range(many, 2 * many))
    with pytest.raises(EventError, match=r"row 77, attribute 'k': .*not valid Unicode"):
        own.publish("S", later, [("\ud800" if at == 77 else "A", 1.0, at) for at in range(many)])
    with pytest.raises(EventError, match="row 3, attribute 'v'"):
        own.publish("S", later, [("A", 1.0, "x" if at == 3 else at) for at in range(many)])
    found = own.publish("S", later, [(str(at), at, None) for at in range(many)])
    assert [match.data["p"] for match in found] == [float(at) for at in range(1, many)]


def test_many_rows_go_as_few_do() -> None:
    chance = random.Random(2)
    queries = [f"SELECT * FROM FILTER{{p > 1.5 * p_1}}{PAIR}", "SELECT * FROM FILTER{k = 'A' AND v > 3}(S)"]
    queries.append(f"SELECT * FROM FILTER{{n >= 3}}((SELECT *, 1 AS n FROM S) {FOLD})")
    for texts in (["A", "B", "other", None], [str(at) for at in range(4 * FEW)]):
        events: Rows = [
            (chance.choice(texts), chance.choice((None, chance.uniform(0, 9))), chance.choice((None, at % 7)))
            for at in range(3 * FEW)
        ]
        times = list(range(3 * FEW))
        at_once = both(queries, [(times, events)])
        parts = [(times[at : at + 50], events[at : at + 50]) for at in range(0, 3 * FEW, 50)]
        assert [line for part in both(queries, parts) for line in part] == at_once[0]


ACROSS = (
    "SELECT * FROM FILTER{k = 'A' AND p > 10.0}(S) NEXT{$2.k = $1.k AND $2.p < 5.0} T",
    "SELECT * FROM (SELECT *, 1 AS n FROM FILTER{p > 10.0}(S)) FOLD{$2.k = $.k, $2.p > 1.0, $.n + 1 AS n} T",
    "SELECT * FROM S NEXT{$2.k = $1.k} T NEXT{$2.k = $1.k} T",
    "SELECT * FROM FILTER{k = 'A'}(S) NEXT{$2.k = $1.k AND $2.v = $1.v} T",
)


@pytest.mark.parametrize("query", ACROSS)
@pytest.mark.parametrize("size", [1, 2, 16, 32, 64])
def test_runs_that_another_stream_begins_wait_on(query: str, size: int) -> None:
    """An event of a key ends such a run only if the condition says so, also where its stream goes by columns."""
    rows: dict[str, Rows] = {
        "S": [("A", 20.0, 7)] * 64,
        "T": [*[("A", 20.0, 1)] * 63, ("A", 2.0, 7)],
    }
    found = []
    for options, cut in ((Options(batches=False), 1), (Options(), size)):
        for beside in (False, True):
            own = Engine(options)
            for stream in rows:
                own.add_stream(stream, {"k": "string?", "p": "float?", "v": "int?"})
            own.subscribe("s", query=query)
            if beside:  # all other readers of T are machines
                own.subscribe("beside", "window", "FROM T WINDOW EVERY 5 EVENTS AGGREGATE count(*) AS n")
            time, ids = 0, []
            for stream, events in rows.items():
                for at in range(0, 64, cut):
                    part = events[at : at + cut]
                    results = own.publish(stream, list(range(time, time + len(part))), part)
                    ids += [match.id for match in results if match.subscription == "s"]
                    time += len(part)
            own.check_invariants()
            found.append(ids)
    assert len(found[0]) >= 64
    assert found == [found[0]] * 4
