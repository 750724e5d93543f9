"""Which streams wait for each other, and what comes and goes with the subscriptions that relate them."""

from __future__ import annotations

from typing import Any

from broker.engine import Engine

SECOND = 1_000_000
ABSENT = "PATTERN SEQ(A a, ~(A b)) WHERE skip_till_any_match(a, b) { b.x = a.x } WITHIN 2 s"


def engine_of(**subscriptions: str) -> Engine:
    """T is buffered; A and B are in order."""
    engine = Engine()
    engine.add_stream("T", {"x": "int"}, disorder="buffer", lateness=SECOND, idle=SECOND)
    engine.add_stream("A", {"x": "int"})
    engine.add_stream("B", {"x": "int"})
    for name, query in subscriptions.items():
        engine.subscribe(name, "sase" if query.startswith("PATTERN") else "cayuga", query)
    return engine


def told(found: Any) -> list[tuple[str, int]]:
    return [(match.subscription, match.end) for match in found]


def test_an_event_that_waits_silences_no_stream_that_nobody_relates() -> None:
    engine = engine_of(a="A", t="T")
    assert told(engine.publish("T", [10 * SECOND], [(1,)])) == []
    times = [20 * SECOND + at for at in range(300)]
    assert told(engine.publish("A", times, [(1,)] * 300)) == [("a", time) for time in times]
    assert told(engine.publish("T", [9 * SECOND + 1, 12 * SECOND], [(2,), (3,)])) == [
        ("t", 9 * SECOND + 1),
        ("t", 10 * SECOND),
    ]


def test_absence_passes_in_the_time_of_its_own_streams() -> None:
    engine = engine_of(absent=ABSENT)
    engine.publish("T", [1], [(1,)])
    engine.publish("A", [SECOND], [(7,)])
    assert told(engine.publish("B", [3 * SECOND + 1], [(1,)])) == [("absent", SECOND)]  # in order as A is
    late = engine_of(absent=ABSENT.replace("A a", "T a").replace("A b", "T b"))
    late.publish("T", [SECOND], [(7,)])
    assert told(late.publish("B", [90 * SECOND], [(1,)])) == []
    assert told(late.publish("T", [2 * SECOND, 5 * SECOND], [(7,), (7,)])) == []
    assert told(late.publish("T", [9 * SECOND], [(8,)])) == [("absent", 2 * SECOND)]


def test_streams_wait_from_the_subscription_on_that_relates_them() -> None:
    engine = engine_of(a="A", t="T")
    engine.publish("T", [10 * SECOND], [(1,)])
    engine.publish("A", [20 * SECOND], [(1,)])
    engine.subscribe("both", query="SELECT * FROM A NEXT{} T")
    assert told(engine.publish("A", [21 * SECOND], [(2,)])) == []
    again = Engine.restore(engine.snapshot())
    assert again.snapshot() == engine.snapshot()
    for one in (engine, again):
        assert told(one.publish("T", [15 * SECOND], [(3,)])) == [("t", 10 * SECOND)]
        assert told(one.publish("T", [30 * SECOND], [(4,)])) == [("t", 15 * SECOND)]
        assert told(one.publish("A", [40 * SECOND], [(5,)])) == [("a", 21 * SECOND)]
        assert told(one.publish("T", [42 * SECOND], [(6,)])) == [("t", 30 * SECOND), ("both", 30 * SECOND)]
        one.check_invariants()


def test_streams_wait_no_more_once_nobody_relates_them() -> None:
    engine = engine_of(a="A", t="T", both="SELECT * FROM A NEXT{} T PUBLISH D", reader="D")
    engine.publish("T", [10 * SECOND], [(1,)])
    assert told(engine.publish("A", [20 * SECOND], [(1,)])) == []
    assert told(engine.publish("B", [30 * SECOND], [(1,)])) == []
    engine.unsubscribe("reader")
    engine.unsubscribe("both")
    again = Engine.restore(engine.snapshot())
    for one in (engine, again):
        assert told(one.publish("B", [30 * SECOND], [(1,)])) == [("a", 20 * SECOND)]
        assert told(one.publish("A", [31 * SECOND], [(1,)])) == [("a", 31 * SECOND)]
        assert told(one.publish("T", [12 * SECOND], [(1,)])) == [("t", 10 * SECOND)]
        one.check_invariants()


def test_a_stream_of_results_relates_what_it_is_made_of() -> None:
    engine = engine_of(one="SELECT * FROM A PUBLISH D", other="SELECT * FROM T PUBLISH D", reader="D")
    engine.publish("T", [10 * SECOND], [(1,)])
    assert told(engine.publish("A", [20 * SECOND], [(1,)])) == []
    assert told(engine.publish("B", [21 * SECOND], [(1,)])) == []
    assert told(engine.publish("T", [25 * SECOND], [(1,)])) == [
        ("other", 10 * SECOND), ("reader", 10 * SECOND), ("one", 20 * SECOND), ("reader", 20 * SECOND),
    ]  # fmt: skip


def test_a_run_that_the_newest_moment_has_touched_outlives_a_snapshot_while_its_stream_waits_for_another() -> None:
    """The order that both share is not as far as that moment, of which another event may still come."""
    engine = Engine()
    engine.add_stream("S", {"k": "int"}, disorder="buffer")
    engine.add_stream("Other", {"n": "int"})
    engine.subscribe("other", query="SELECT * FROM FILTER{DUR < 5}(Other NEXT{} Other)")
    relating = "SELECT 1 AS one FROM S NEXT{} Other"
    engine.subscribe("relating", query=relating)
    found = list(engine.publish("S", [4], [(1,)]))
    for time in (6, 7):
        found += engine.publish("Other", [time], [(time,)])
    found += engine.unsubscribe("relating")
    found += engine.publish("S", [11], [(1,)])
    engine.subscribe("relating", query=relating)
    found += engine.publish("S", [14], [(1,)])
    engine = Engine.restore(engine.snapshot())
    found += engine.unsubscribe("relating")
    found += engine.publish("S", [19], [(1,)])
    found += engine.publish("Other", [7], [(8,)])
    assert [tuple(match.data.values()) for match in found if match.subscription == "other"] == [(6, 7), (6, 8)]


def test_a_promise_after_a_restart_is_told_once() -> None:
    engine = Engine()
    engine.add_stream("S", {"n": "int"}, disorder="speculate", speculation=0)
    engine.subscribe("q", "afa", "FROM S START a FINAL b a -> b WHEN n > 0")
    engine.publish("S", [1], [(1,)])
    engine = Engine.restore(engine.snapshot())
    assert [result.kind for result in engine.punctuate(4, None)] == ["match", "punctuation"]
