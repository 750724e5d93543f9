"""The embedded API: refusals that change nothing, results as a sequence, ids, subscriptions that come late."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.engine import Engine, Options
from broker.engine.results import expanded
from broker.engine.shares import taken_out
from broker.events.errors import (
    DefinitionError,
    EventError,
    LateEvent,
    LimitExceeded,
    QueryError,
    UnknownStream,
    UnknownSubscription,
)

JUMP = "FILTER{price > 1.05 * price_1}(S NEXT{$2.name = $1.name} S)"


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    made.add_stream("S", {"name": "string", "price": "float"})
    return made


def ticks(engine: Engine, *prices: float, at: int = 1, name: str = "IBM") -> list[tuple[str, int, int]]:
    times = list(range(at, at + len(prices)))
    return [(m.subscription, m.start, m.end) for m in engine.publish("S", times, [(name, p) for p in prices])]


@pytest.mark.parametrize("nothing", [(), [], iter(())])
def test_what_is_no_engines_results_has_no_shares(nothing: object) -> None:
    """So it is where a batch had only late events: nothing was published, and there is an empty tuple instead."""
    assert taken_out(nothing) == []
    assert list(expanded(nothing)) == []  # type: ignore[arg-type]


def test_a_match_and_its_line(engine: Engine) -> None:
    engine.subscribe("jumps", query=JUMP, lineage=True)
    (match,) = engine.publish("S", [1, 2], [("IBM", 100.0), ("IBM", 106.0)], ids=[7, 9])
    assert match.line() == {
        "kind": "match",
        "subscription": "jumps",
        "id": match.id,
        "start": 1,
        "end": 2,
        "lineage": [7, 9],
        "data": {"name_1": "IBM", "price_1": 100.0, "name": "IBM", "price": 106.0},
    }


def test_without_lineage_the_key_is_absent(engine: Engine) -> None:
    engine.subscribe("all", query="S")
    (match,) = engine.publish("S", [1], [("IBM", 1.0)])
    assert "lineage" not in match.line()


def test_ids_depend_on_name_text_and_contributions_only(engine: Engine) -> None:
    engine.subscribe("jumps", query=JUMP)
    other = Engine(Options(indexes=False))
    other.add_stream("S", {"name": "string", "price": "float"})
    other.subscribe("noise", query="S NEXT{} S")
    other.subscribe("jumps", query="FILTER { price>1.05*price_1 } ( S NEXT {$2.name=$1.name} S )")
    rows = [("IBM", 100.0), ("X", 1.0), ("IBM", 106.0), ("IBM", 120.0)]
    ours = [m.id for m in engine.publish("S", [1, 2, 3, 4], rows)]
    theirs = [
        m.id for i, row in enumerate(rows, 1) for m in other.publish("S", [i], [row]) if m.subscription == "jumps"
    ]
    assert ours == theirs
    assert len(set(ours)) == 2


def test_equal_results_are_told_apart_across_batches(engine: Engine) -> None:
    engine.subscribe("all", query="S")
    whole = Engine.restore(engine.snapshot())
    ids = [m.id for i in (1, 1, 2) for m in engine.publish("S", [5], [("IBM", 1.0)], ids=[i])]
    assert len(set(ids)) == 3
    assert ids == [m.id for m in whole.publish("S", [5, 5, 5], [("IBM", 1.0)] * 3, ids=[1, 1, 2])]


def test_results_are_a_sequence(engine: Engine) -> None:
    for number in range(3):
        engine.subscribe(f"q{number}", query=JUMP)
    engine.subscribe("all", query="S")
    results = engine.publish("S", [1, 2, 3], [("IBM", 100.0), ("IBM", 106.0), ("IBM", 120.0)])
    assert len(results) == 9
    assert list(results) == [results[i] for i in range(9)]
    assert results[-1] == results[8]
    assert results[2:4] == [results[2], results[3]]
    with pytest.raises(IndexError):
        results[9]


def test_results_stay_what_they_were(engine: Engine) -> None:
    engine.subscribe("all", query="S")
    results = engine.publish("S", [1], [("IBM", 1.0)])
    engine.subscribe("more", query="S")
    engine.unsubscribe("all")
    assert [m.subscription for m in results] == ["all"]


@pytest.mark.parametrize(
    ("times", "rows", "error"),
    [
        ([5], [("IBM", "x")], EventError),
        ([5], [("IBM",)], EventError),
        ([5, 4], [("IBM", 1.0), ("IBM", 1.0)], LateEvent),
        ([5, 5], [("IBM", 1.0)], EventError),
        ([5], [("IBM", float("nan"))], EventError),
        ([2], [("IBM", 1.0)], LateEvent),
    ],
)
def test_a_refused_batch_changes_nothing(
    engine: Engine, times: list[int], rows: list[tuple[str, float]], error: type[Exception]
) -> None:
    engine.subscribe("jumps", query=JUMP)
    ticks(engine, 1.0, 2.0, 3.0)
    before = engine.snapshot()
    with pytest.raises(error):
        engine.publish("S", times, rows)
    assert engine.snapshot() == before


def test_ids_must_fit(engine: Engine) -> None:
    with pytest.raises(EventError, match="64 bits"):
        engine.publish("S", [1], [("IBM", 1.0)], ids=[2**64])


def test_refused_definitions_change_nothing(engine: Engine) -> None:
    engine.subscribe("a", query="FILTER{price > 1} S PUBLISH A")
    before = engine.snapshot()
    for error, name, query in [
        (QueryError, "b", "FILTER{prize > 1} S"),
        (QueryError, "b", "FILTER{price >} S"),
        (DefinitionError, "a", "S"),
        (DefinitionError, "b c", "S"),
        (DefinitionError, "b", "S PUBLISH S"),
        (DefinitionError, "b", "SELECT price FROM S PUBLISH A"),
        (DefinitionError, "b", "A PUBLISH A"),
        (LimitExceeded, "b", "(" + " UNION ".join(["S NEXT{} S"] * 90) + ") NEXT{} S"),
        (DefinitionError, "b", "S" + " NEXT{} S" * 90),
    ]:
        with pytest.raises(error):
            engine.subscribe(name, query=query)
    engine.check_invariants()
    assert engine.snapshot() == before


def test_unknown_names(engine: Engine) -> None:
    with pytest.raises(UnknownStream, match="unknown stream 'T'"):
        engine.publish("T", [1], [()])
    engine.subscribe("stocks", query="S PUBLISH P")
    with pytest.raises(UnknownStream, match="made of results"):
        engine.publish("P", [1], [("IBM", 1.0)])
    with pytest.raises(UnknownSubscription, match="did you mean 'stocks'"):
        engine.unsubscribe("stock")
    with pytest.raises(DefinitionError, match="publishes a stream of this name"):
        engine.add_stream("P", {"a": "int"})
    with pytest.raises(DefinitionError, match="another definition"):
        engine.add_stream("S", {"a": "int"})


def test_circles_are_refused_over_several_subscriptions(engine: Engine) -> None:
    engine.subscribe("a", query="S PUBLISH A")
    engine.subscribe("b", query="A PUBLISH B")
    with pytest.raises(DefinitionError, match="its own results through the stream 'A'"):
        engine.subscribe("c", query="B PUBLISH A")


def test_the_last_publisher_stays_while_somebody_reads(engine: Engine) -> None:
    engine.subscribe("writer", query="FILTER{price > 1} S PUBLISH P")
    engine.subscribe("reader", query="P")
    with pytest.raises(DefinitionError, match="'reader' reads the stream 'P'"):
        engine.unsubscribe("writer")
    assert [name for name, _, _ in ticks(engine, 2.0)] == ["writer", "reader"]
    engine.subscribe("second", query="FILTER{price > 5} S PUBLISH P")
    engine.unsubscribe("writer")
    assert ticks(engine, 2.0, at=2) == []
    engine.unsubscribe("reader")
    engine.unsubscribe("second")
    engine.check_invariants()
    engine.subscribe("other", query="SELECT price FROM S PUBLISH P")


def test_a_late_subscriber_sees_only_what_began_after_it_came(engine: Engine) -> None:
    engine.subscribe("early", query=JUMP)
    ticks(engine, 100.0)
    engine.subscribe("late", query=JUMP)
    assert ticks(engine, 106.0, at=2) == [("early", 1, 2)]
    assert ticks(engine, 112.0, at=3) == [("early", 2, 3), ("late", 2, 3)]


def test_load_resolves_any_order_and_names_the_place(tmp_path: Path) -> None:
    path = tmp_path / "subs.toml"
    head = '[streams.S]\nattributes = { a = "int" }\n'
    reader = '[subscriptions.reader]\nlanguage = "cayuga"\nquery = "P NEXT{} P"\n'
    writer = '[subscriptions.writer]\nlanguage = "cayuga"\nquery = "FILTER{a > 1} S PUBLISH P"\n'
    path.write_text(head + reader + writer)
    assert set(Engine.load(path).subscriptions) == {"reader", "writer"}
    path.write_text(head + reader.replace("NEXT{} P", "NEXT{} P PUBLISH Q") + writer.replace("} S", "} Q"))
    with pytest.raises(DefinitionError, match=r"subs\.toml: .*in a circle: 'reader', 'writer'"):
        Engine.load(path)
    path.write_text(head + writer.replace("a >", "b >"))
    with pytest.raises(QueryError, match=r"subs\.toml: subscription 'writer': line 1, column 8: unknown attribute 'b'"):
        Engine.load(path)
    path.write_text(head + writer.replace("PUBLISH P", "PUBLISH S"))
    with pytest.raises(DefinitionError, match=r"'writer': line 1, column \d+: cannot publish 'S', a declared stream"):
        Engine.load(path)
    path.write_bytes(b"\xef\xbb\xbf" + (head + writer).encode())
    assert list(Engine.load(path).subscriptions) == ["writer"]
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DefinitionError, match="expected UTF-8 text"):
        Engine.load(path)


@pytest.mark.parametrize("data", [b"", b"x", b"\x80", b"\x81\xa5magic\xa1x", b"\xc1" * 9])
def test_bytes_that_are_no_snapshot_are_refused(data: bytes) -> None:
    with pytest.raises(DefinitionError, match="expected a snapshot"):
        Engine.restore(data)


def test_admission_limits() -> None:
    engine = Engine(Options(streams_max=1, subscriptions_max=1))
    engine.add_stream("S", {"a": "int"})
    with pytest.raises(LimitExceeded, match="streams_max"):
        engine.add_stream("T", {"a": "int"})
    engine.subscribe("a", query="S")
    with pytest.raises(LimitExceeded, match="subscriptions_max"):
        engine.subscribe("b", query="S")
