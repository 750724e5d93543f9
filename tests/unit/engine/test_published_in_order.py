"""Streams that revised results make up, for readers in order: what becomes final for them, and when.

Each of them gets what it would get if the events had been held back. Random scripts: tests/laws/test_laws_disorder.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.events.stream import Disorder

EVENTS = (  # time, values; in the order of arrival
    (1, ("K", "A", 1)), (2, ("L", "A", 2)), (3, ("K", "B", 3)), (4, ("L", "B", 4)), (7, ("L", "A", 6)),
    (5, ("K", "B", 5)), (6, ("K", "C", 7)), (8, ("L", "C", 8)), (10, ("K", "C", 9)), (9, ("K", "A", 2)),
)  # fmt: skip
RISES = """FROM S BY k REGISTER s INT = 0 START a FINAL c
a -> b WHEN ty = 'A' SET s = x
b -> b WHEN ty != 'C'
close: b -> c WHEN ty = 'C' SET s = s + x
WITHIN 100 PUBLISH D"""
SUMS = "FROM D REGISTER t INT = 0 START a FINAL b, c a -> b SET t = s b -> b b -> c SET t = t + s PUBLISH E"
THREES = "FROM S BY k WINDOW AFTER [x > 0] MATCHING any any any AGGREGATE sum(x) AS s PUBLISH D"
ONE, TWO = (("afa", RISES),), (("afa", RISES), ("afa", SUMS))
READERS = (
    ("cayuga", "SELECT s FROM FILTER{s > 0}(D)"),
    ("sase", "PATTERN SEQ(D a, D b) WHERE skip_till_any_match(a, b) { a.s <= b.s } WITHIN 100 us RETURN a.s, b.s AS z"),
    ("ptopss", "FROM D\na: s > 0\nMATCH a"),
    ("window", "FROM D WINDOW AFTER [s > 0] MATCHING any any AGGREGATE sum(s) AS z"),
    ("afa", "FROM D REGISTER z INT = 0 START a FINAL b a -> b WHEN s > 0 SET z = s"),
)
TWO_DEEP = tuple((language, re.sub(r"\bD\b", "E", re.sub(r"\bs\b", "t", text))) for language, text in READERS)


def played(
    disorder: Disorder,
    publishers: tuple[tuple[str, str], ...],
    join: int,
    promise: Any = None,
    lateness: int | None = None,
    update: bool = False,
) -> tuple[dict[str, list[object]], list[int]]:
    """What readers get that come before the event with the index `join`, behind a punctuation; how much of it had
    become final by then, and by each later event."""
    engine = Engine()
    engine.add_stream("S", {"k": "string", "ty": "string", "x": "int"}, disorder=disorder, lateness=lateness)
    for at, (language, text) in enumerate(publishers):
        engine.subscribe(f"q{at}", language, text)
    readers = READERS if len(publishers) == 1 else TWO_DEEP
    found: dict[str, list[object]] = {f"r{at}": [] for at in range(len(readers))}
    upto: list[int] = []

    def add(results: Any) -> None:
        for match in results:
            if match.subscription in found:
                assert match.kind == "match"
                found[match.subscription].append((match.start, match.end, match.lineage, list(match.data.values())))
        upto.append(sum(map(len, found.values())))

    for at, (time, row) in enumerate(EVENTS):
        if at == join:
            if lateness is None:
                add(engine.punctuate(min(coming for coming, _ in EVENTS[at:])))
            if promise is not None:
                engine.punctuate(20, "S", promise)
            if update:
                engine.update("q0", ["close: b -> c WHEN ty = 'B' SET s = s + x"], ["close"])
            for number, (language, text) in enumerate(readers):
                engine.subscribe(f"r{number}", language, text, results="final")
            again = Engine.restore(engine.snapshot())
            assert again.snapshot() == engine.snapshot()
            engine = again
        add(engine.publish("S", [time], [row], [at + 1]))
        engine.check_invariants()
    add(engine.finish())
    return found, upto


@pytest.mark.parametrize("join", [0, 4, 5, 6, 8])
@pytest.mark.parametrize("promise", [None, "ty = 'D'"])
@pytest.mark.parametrize("publishers", [ONE, (("window", THREES),), TWO], ids=("afa", "window", "two"))
def test_readers_get_what_has_begun_before_they_came(
    publishers: tuple[tuple[str, str], ...], join: int, promise: str | None
) -> None:
    found, _ = played("speculate", publishers, join, promise)
    assert found == played("buffer", publishers, join, promise)[0]
    assert found["r0"] or join == 8, "it has some to get"


@pytest.mark.parametrize("publishers", [ONE, TWO], ids=("one", "two"))
def test_lateness_makes_final_what_the_end_of_the_input_does_not_have_to(
    publishers: tuple[tuple[str, str], ...],
) -> None:
    found, upto = played("speculate", publishers, 0, lateness=2)
    assert found == played("buffer", publishers, 0, lateness=2)[0]
    assert 0 < upto[-2] < upto[-1], "some before the end, the others at the end"
    without, upto = played("speculate", publishers, 0, lateness=None)
    assert without == found
    assert upto[-2] == 0, "nobody has promised anything before the end"


@pytest.mark.parametrize("join", [0, 4, 6])
@pytest.mark.parametrize("update", [False, True])
def test_also_of_a_publisher_that_gets_events_of_one_key(join: int, update: bool) -> None:
    publishers = (("afa", RISES.replace("WHEN ty = 'A'", "WHEN k = 'K' AND ty = 'A'")),)
    found, _ = played("speculate", publishers, join, update=update)
    assert found == played("buffer", publishers, join, update=update)[0]
    assert found["r0"]


@pytest.mark.parametrize("join", [0, 4, 6])
def test_a_reader_that_comes_after_an_update_gets_what_the_new_arcs_find(join: int) -> None:
    found, _ = played("speculate", ONE, join, update=True)
    assert found == played("buffer", ONE, join, update=True)[0]
    assert found != played("speculate", ONE, join)[0]


def test_what_is_published_by_one_that_was_suspended_is_not_found_again() -> None:
    engine = Engine(Options(runs_max=50))
    engine.add_stream("S", {"ty": "string"}, disorder="speculate")
    grows = "FROM S REGISTER n INT = 0 START a FINAL c a -> a SET n = n + 1 a -> a SET n = n + 2 a -> c WHEN ty = 'B'"
    engine.subscribe("grows", "afa", f"{grows} PUBLISH D")
    told = [each for time in range(1, 40) for each in engine.publish("S", [time], [("A",)], [time])]
    assert [each.kind for each in told] == ["incomplete"]
    engine.subscribe("reader", query="D")
    again = Engine.restore(engine.snapshot())
    for each in (engine, again):
        assert [found.subscription for found in each.publish("S", [40], [("B",)], [40])] == []
        assert [found for found in each.finish() if found.kind == "match"] == []
        each.unsubscribe("reader")
        each.check_invariants()
