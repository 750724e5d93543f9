"""Streams with times: made only while a subscription reads times, for declared, published and internal streams."""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine, Match
from broker.engine.program.directory import NO_STREAM
from broker.events.errors import DefinitionError, QueryError

GAPS = "SELECT n, p, time - start AS gap FROM FILTER{time - start < 5}(S NEXT{$2.n = $1.n} S)"
PLAIN = "S NEXT{$2.n = $1.n} S"
ROWS = [(1, "x", 1), (3, "y", 2), (4, "x", 3), (9, "y", 4), (9, "x", 5), (12, "x", 6)]


def engine_of(**queries: str) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"n": "string", "p": "int"})
    for name, query in queries.items():
        engine.subscribe(name, query=query, lineage=True)
    return engine


def played(engine: Engine, rows: list[tuple[int, str, int]] = ROWS, size: int = 1) -> list[Match]:
    found: list[Match] = []
    for at in range(0, len(rows), size):
        part = rows[at : at + size]
        found += engine.publish("S", [row[0] for row in part], [row[1:] for row in part])
        engine.check_invariants()
    return found


def of(found: list[Match], name: str) -> list[tuple[list[int] | None, dict[str, Any]]]:
    return [(match.lineage, match.data) for match in found if match.subscription == name]


WANTED = [
    ([1, 3], {"n": "x", "p": 3, "gap": 3}),
    ([5, 6], {"n": "x", "p": 6, "gap": 3}),
]


@pytest.mark.parametrize("size", [1, 2, 6])
def test_who_reads_times_reads_them_beside_others_and_alone(size: int) -> None:
    alone = played(engine_of(gaps=GAPS), size=size)
    beside = played(engine_of(plain=PLAIN, gaps=GAPS, filtered="FILTER{p > 1} S"), size=size)
    assert of(alone, "gaps") == of(beside, "gaps") == WANTED
    assert of(beside, "plain") == of(played(engine_of(plain=PLAIN), size=size), "plain")
    assert [match.id for match in alone] == [match.id for match in beside if match.subscription == "gaps"]


def test_rows_with_times_are_made_only_while_they_are_read() -> None:
    engine = engine_of(plain=PLAIN)
    directory = engine.program.directory
    assert all(number == NO_STREAM for number in directory.timed)
    engine.subscribe("gaps", query=GAPS)
    engine.subscribe("more", query=GAPS)
    assert directory.timed[directory.streams["S"]] == directory.streams["S with time"]
    played(engine)
    engine.unsubscribe("gaps")
    assert "S with time" in directory.streams
    engine.unsubscribe("more")
    assert "S with time" not in directory.streams
    assert all(number == NO_STREAM for number in directory.timed)
    assert len(of(played(engine, [(time + 20, name, p) for time, name, p in ROWS]), "plain")) == 6


def test_results_have_times_where_they_are_events() -> None:
    rises = "SELECT n, p FROM FILTER{p > p_1}(S NEXT{$2.n = $1.n} S) PUBLISH Rises"
    engine = engine_of(rises=rises, times="SELECT n, time, start FROM Rises", again="Rises NEXT{$2.n = $1.n} Rises")
    found = played(engine)
    assert [match.data for match in found if match.subscription == "times"] == [
        {"n": "x", "time": 4, "start": 1},
        {"n": "y", "time": 9, "start": 3},
        {"n": "x", "time": 9, "start": 4},
        {"n": "x", "time": 12, "start": 9},
    ]
    for name in ("times", "again", "rises"):
        engine.unsubscribe(name)
    assert set(engine.program.directory.streams) == {"S"}


def test_a_right_operand_has_times() -> None:
    pairs = "(SELECT n AS m, p AS q FROM S NEXT{$2.n = $1.n} S)"
    engine = engine_of(q=f"SELECT p, q, time - start AS lasted FROM S NEXT{{$2.start - $1.time < 2}} {pairs}")
    found = of(played(engine, [(1, "x", 1), (3, "y", 2), (4, "y", 3), (5, "z", 4), (6, "z", 5)]), "q")
    assert found == [([3, 4, 5], {"p": 3, "q": 5, "lasted": 2})]
    engine.unsubscribe("q")
    assert set(engine.program.directory.streams) <= {"S"}


def test_a_declared_attribute_hides_the_built_in_one() -> None:
    engine = Engine()
    engine.add_stream("S", {"time": "string", "p": "int"})
    engine.subscribe("own", query="SELECT time, start FROM S", lineage=True)
    engine.subscribe("named", query="SELECT start FROM (SELECT p AS start FROM S)", lineage=True)
    found = list(engine.publish("S", [7], [("noon", 1)], starts=[5]))
    assert [match.data for match in found] == [{"start": 1}, {"time": "noon", "start": 5}]
    with pytest.raises(QueryError, match="expected a number"):
        engine.subscribe("wrong", query="FILTER{time - start < 5} S")


def test_a_restored_engine_goes_on_with_times() -> None:
    engine = engine_of(gaps=GAPS, plain=PLAIN)
    before = played(engine, ROWS[:3])
    restored = Engine.restore(engine.snapshot())
    assert [of(before + played(each, ROWS[3:]), "gaps") for each in (engine, restored)] == [WANTED, WANTED]


def test_starts_are_those_of_the_events() -> None:
    engine = engine_of(gap="SELECT p, start, time FROM S NEXT{$2.start - $1.time < 3} S")
    found = [*engine.publish("S", [4, 10], [("x", 1), ("x", 2)], starts=[2, 6])]
    assert [match.data for match in found] == [{"p": 2, "start": 2, "time": 10}]


def test_a_stream_whose_times_are_read_keeps_its_attributes() -> None:
    """Times stand behind the attributes: the automata would read another one in their place."""
    engine = engine_of(q=GAPS)
    with pytest.raises(DefinitionError, match="stream 'S': subscription 'q' reads its times; unsubscribe that first"):
        engine.add_attribute("S", "venue", "string?")
    assert of(played(engine), "q") == WANTED
    engine.unsubscribe("q")
    engine.add_attribute("S", "venue", "string?")


def test_variants_of_a_pattern_see_the_same_times() -> None:
    """Only the variants that have an optional element read its time."""
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "n": "int"})
    query = "PATTERN SEQ(S a, S? b, S c) WHERE strict_contiguity(a, b, c) { a.ty = 'A' AND b.ty = 'B' AND c.ty = 'C' }"
    engine.subscribe("q", language="sase", query=query + " WITHIN 100 RETURN b.time AS at, c.n AS n")
    rows = [("A", 1), ("B", 2), ("C", 3), ("A", 4), ("C", 5)]
    found = [match.data for match in engine.publish("S", [1, 2, 4, 7, 9], rows)]
    assert found == [{"at": 2, "n": 3}, {"at": None, "n": 5}]
