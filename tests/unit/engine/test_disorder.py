"""Streams whose events come in any order, through the engine's interface: what is refused, final, held back, told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from broker.engine import Engine, Match, Options
from broker.events.errors import (
    DefinitionError,
    DuplicateEvent,
    EventError,
    LateEvent,
    LimitExceeded,
    QueryError,
    UnknownEvent,
    UnknownStream,
    UnknownSubscription,
    Unsupported,
)

PAIR = "FROM S START a FINAL c a -> b WHEN ty = 'A' b -> c WHEN ty = 'B' WITHIN 10"
FIRST = "FROM S REGISTER n INT = 0 START a FINAL b a -> b WHEN ty = 'A' SET n = x PUBLISH P"


def engine_of(*subscriptions: tuple[str, str], options: Options | None = None, **stream: Any) -> Engine:
    """An engine over S, which speculates unless said, with these languages and queries as q0, q1 and so on."""
    engine = Engine(options)
    engine.add_stream("S", {"ty": "string", "x": "int"}, **{"disorder": "speculate", **stream})
    for at, (language, query) in enumerate(subscriptions):
        engine.subscribe(f"q{at}", language, query)
    return engine


def come(engine: Engine, time: int, ty: str, id: int | None = None, x: int = 0) -> list[Match]:
    return list(engine.publish("S", [time], [(ty, x)], None if id is None else [id]))


def said(found: Iterable[Match]) -> list[tuple[object, ...]]:
    """Kind and lineage of each result; kind and time of a punctuation."""
    return [(m.kind, m.notice.time if m.notice is not None else m.lineage) for m in found]


# --- what is refused ----------------------------------------------------------------------------------------------


def test_ids_of_events_that_may_be_withdrawn_are_different() -> None:
    engine = engine_of(("afa", PAIR))
    come(engine, 5, "A", 1)
    before = engine.snapshot()
    with pytest.raises(DuplicateEvent, match=r"row 0: .* found 1 again"):
        come(engine, 6, "B", 1)
    with pytest.raises(DuplicateEvent, match=r"row 1: .* found 2 again"):
        engine.publish("S", [6, 7], [("B", 0), ("B", 0)], [2, 2])
    with pytest.raises(DuplicateEvent):
        engine.check("S", [6], [("B", 0)], [1])
    assert engine.snapshot() == before
    engine.punctuate(6)
    assert said(come(engine, 6, "B", 1)) == [("match", [1, 1])], "what is final gives its id up"


def test_ids_are_different_from_those_of_streams_in_order_that_are_read_with_them() -> None:
    engine = Engine()
    for name, disorder in (("S", "speculate"), ("T", "arrival"), ("U", "arrival")):
        engine.add_stream(name, {"ty": "string", "x": "int"}, disorder=disorder)  # type: ignore[arg-type]
    engine.subscribe("q", "afa", PAIR.replace("FROM S", "FROM S, T"))
    come(engine, 5, "A", 1)
    engine.publish("U", [5], [("A", 0)], [1])
    with pytest.raises(DuplicateEvent):
        engine.publish("T", [6], [("B", 0)], [1])
    assert said(engine.publish("T", [6], [("B", 0)], [2])) == [("match", [1, 2])]
    with pytest.raises(UnknownEvent):
        engine.retract(2)
    assert said(engine.retract(1)) == [("retraction", [1, 2])]


def test_only_events_that_are_not_final_are_withdrawn() -> None:
    engine = engine_of(("afa", PAIR))
    with pytest.raises(UnknownEvent, match="found 7"):
        engine.retract(7)
    come(engine, 5, "A", 7)
    assert said(engine.retract(7)) == []
    with pytest.raises(UnknownEvent, match="found 7"):
        engine.retract(7)
    come(engine, 5, "A", 7)
    engine.punctuate(6)
    with pytest.raises(UnknownEvent, match="final"):
        engine.retract(7)
    ordered = engine_of(disorder="arrival")
    come(ordered, 1, "A", 1)
    with pytest.raises(UnknownEvent, match="all events are final"):
        ordered.retract(1)


def test_events_behind_a_punctuation_or_the_lateness_are_late() -> None:
    engine = engine_of(("afa", PAIR), lateness=3)
    come(engine, 10, "A", 1)
    with pytest.raises(LateEvent, match="a time of 7 or later"):
        come(engine, 6, "B", 2)
    come(engine, 7, "B", 3)
    engine.punctuate(9)
    with pytest.raises(LateEvent, match="a time of 9 or later"):
        come(engine, 8, "B", 4)
    with pytest.raises(LateEvent, match="row 1: expected a time of 17 or later"):
        engine.publish("S", [20, 16], [("A", 0), ("A", 0)], [5, 6])
    assert engine.events == 2


def test_punctuations_of_streams_and_with_predicates() -> None:
    engine = engine_of(("afa", PAIR))
    engine.add_stream("T", {"ty": "string"})
    with pytest.raises(UnknownStream):
        engine.punctuate(1, "U")
    with pytest.raises(EventError, match="no predicate of a punctuation, since its events are in order"):
        engine.punctuate(1, "T", "ty = 'a'")
    with pytest.raises(EventError, match="a stream beside the predicate"):
        engine.punctuate(1, None, "x > 1")
    with pytest.raises(QueryError, match="stream 'S': line 1, column 3: expected an attribute compared with"):
        engine.punctuate(1, "S", "x > x")
    with pytest.raises(EventError, match="no predicate"):
        Engine().punctuate(1, None, "x > 1")
    with pytest.raises(EventError, match="of all streams"):
        engine_of(disorder="arrival").punctuate(1, "S")


def test_a_buffer_that_is_full_takes_no_more() -> None:
    engine = engine_of(("afa", PAIR), options=Options(buffered_events_max=2))
    come(engine, 1, "A", 1)
    come(engine, 2, "B", 2)
    for call in (engine.publish, engine.check):
        with pytest.raises(LimitExceeded, match="buffered_events_max"):
            call("S", [3], [("A", 0)], [3])
    engine.punctuate(2)
    come(engine, 3, "A", 3)


def test_updates_that_are_refused_change_nothing() -> None:
    engine = engine_of(("afa", PAIR), ("cayuga", "SELECT * FROM S"), options=Options(updates_max=1))
    engine.punctuate(10)
    before = engine.snapshot()
    arc = "b -> c WHEN ty = 'C'"
    for error, words, arguments in [
        (UnknownSubscription, "unknown subscription 'q9'", ("q9", [arc])),
        (Unsupported, "'q1': updates of the language 'cayuga' are not", ("q1", [arc])),
        (QueryError, "'q0': line 1, column 13: unknown attribute or register 'tz'", ("q0", ["b -> c WHEN tz = 'C'"])),
        (QueryError, "a state of the subscription, found 'z'", ("q0", ["b -> z"])),
        (DefinitionError, "the name of an arc to delete, found 'none'", ("q0", [], ["none"])),
        (DefinitionError, "arcs to insert or delete, found none", ("q0",)),
        (DefinitionError, "insert: expected a list of strings", ("q0", arc)),
        (EventError, "a start of 10 or later, since earlier events are final, found 9", ("q0", [arc], [], 9)),
        (EventError, "an end after the start 10, found 10", ("q0", [arc], [], 10, 10)),
        (EventError, "start: expected microseconds", ("q0", [arc], [], 2**62)),
    ]:
        with pytest.raises(error, match=words):
            engine.update(*arguments)  # type: ignore[arg-type]
    assert engine.snapshot() == before
    engine.update("q0", [arc])
    with pytest.raises(LimitExceeded, match="updates_max"):
        engine.update("q0", [arc])


def test_an_update_does_not_lead_on_from_where_runs_have_ended() -> None:
    ending = "FROM S START a FINAL b, c\na -> b WHEN ty = 'A'\na -> c WHEN ty = 'X'"
    engine = engine_of(("afa", ending), ("afa", ending + "\nb -> b WHEN FALSE"))
    engine.publish("S", [1], [("A", 0)])
    with pytest.raises(DefinitionError, match="'q0': expected an arc out of a state whose runs go on"):
        engine.update("q0", ["b -> c WHEN ty = 'C'"])
    engine.update("q1", ["b -> c WHEN ty = 'C'"])
    found = [match.lineage for match in engine.publish("S", [2], [("C", 0)]) if match.subscription == "q1"]
    assert found == [[1, 2]]


def test_a_stream_that_is_read_early_is_not_published_in_order() -> None:
    engine = engine_of(("afa", FIRST), ("afa", "FROM P START a FINAL b a -> b WHEN n > 1"))
    engine.add_stream("T", {"n": "int"})
    with pytest.raises(DefinitionError, match="cannot publish 'P', which 'q1' reads before results are final"):
        engine.subscribe("late", query="SELECT n FROM T PUBLISH P")
    engine.check_invariants()


# --- what is told -------------------------------------------------------------------------------------------------


def test_finality_is_told_where_it_is_promised_or_matters() -> None:
    engine = engine_of(("afa", PAIR), lateness=5)
    assert said(come(engine, 1, "A", 1)) == []
    assert said(come(engine, 2, "B", 2)) == [("match", [1, 2])]
    assert said(come(engine, 7, "X", 3)) == [], "the match ends at 2, and is safe behind it"
    assert said(come(engine, 8, "X", 4)) == [("punctuation", 3)]
    assert said(come(engine, 20, "X", 5)) == []
    assert said(engine.punctuate(16)) == [("punctuation", 16)]
    assert said(engine.punctuate(16)) == []
    assert said(engine.finish()) == [("punctuation", 21)]
    with pytest.raises(LateEvent):
        come(engine, 20, "A", 6)


def test_every_stream_that_a_subscription_reads_must_promise() -> None:
    engine = engine_of(("afa", PAIR))
    engine.add_stream("T", {"ty": "string"}, disorder="buffer")
    engine.subscribe("q1", "afa", "FROM S, T START a FINAL b a -> b WHEN ty = 'A'")
    engine.add_stream("U", {"ty": "string"})

    def final(found: Any) -> list[tuple[str, int]]:
        return [(each.subscription, each.notice.time) for each in found if each.kind == "punctuation"]

    come(engine, 1, "A", 1)
    come(engine, 2, "B", 2)
    assert final(engine.punctuate(5, "S")) == [("q0", 5), ("q1", 5)], "no other stream has begun"
    engine.publish("T", [6], [("A",)])
    assert final(engine.punctuate(9, "S")) == [("q0", 9)]
    assert final(engine.punctuate(8, "T")) == [("q1", 8)]
    engine.publish("U", [8], [("A",)])
    assert final(engine.punctuate(20, "S")) == [("q0", 20)]
    assert final(engine.punctuate(20, "T")) == [("q1", 20)], "neither reads U"
    assert engine.statistics()["finality_behind"] == 0
    with pytest.raises(LateEvent):
        engine.publish("U", [7], [("A",)])


def test_what_is_far_ahead_waits_for_time_to_come_near() -> None:
    engine = engine_of(("afa", PAIR), speculation=3)
    assert said(come(engine, 1, "A", 1) + come(engine, 2, "B", 2)) == []
    assert engine.statistics()["events_ahead"] == 2
    assert said(engine.punctuate(0)) == [("match", [1, 2]), ("punctuation", 0)]
    assert said(come(engine, 3, "A", 3) + come(engine, 4, "B", 4)) == []
    assert said(engine.retract(4)) == []
    assert said(engine.punctuate(2)) == [("punctuation", 2)]
    assert said(come(engine, 4, "B", 4)) == [("match", [3, 4])]


def test_before_each_stream_has_promised_nothing_is_said_to_be_final() -> None:
    engine = engine_of(("afa", PAIR))
    engine.add_stream("T", {"ty": "string"}, disorder="speculate")
    engine.subscribe("q1", "afa", "FROM S, T START a FINAL b a -> b WHEN ty = 'A'")
    come(engine, 3, "A", 1)
    engine.publish("T", [5], [("A",)], [2])
    assert engine.statistics()["finality_behind"] == 2, "since the first event"
    assert [(m.subscription, m.notice.time) for m in engine.punctuate(4, "S") if m.notice is not None] == [("q0", 4)]
    assert engine.statistics()["finality_behind"] == 2
    assert [m.subscription for m in engine.punctuate(5, "T") if m.notice is not None] == ["q1"]
    assert engine.statistics()["finality_behind"] == 1


def test_other_languages_read_the_same_stream_when_it_is_final() -> None:
    engine = engine_of(("cayuga", "FILTER{x > x_1}(S NEXT{} S)"), ("ptopss", "FROM S\nb: x > 1\nMATCH b"))
    assert said([*come(engine, 2, "A", 2, 5), *come(engine, 1, "A", 1, 1), *come(engine, 3, "A", 3, 9)]) == []
    assert said(engine.retract(3)) == []
    found = list(engine.punctuate(3))
    assert [(m.subscription, m.end) for m in found] == [("q1", 2), ("q0", 2)] or len(found) == 2
    assert len(found) == len(list(found)) == 2


def test_results_can_be_read_by_index() -> None:
    engine = engine_of(("afa", PAIR), ("cayuga", "SELECT * FROM S"))
    engine.publish("S", [1, 2], [("A", 0), ("B", 0)], [1, 2])
    found = engine.punctuate(3)
    assert len(found) == 3
    assert [found[at].id for at in range(-3, 3)] == [m.id for m in found] * 2
    assert found[1:] == list(found)[1:]
    with pytest.raises(IndexError):
        found[3]


def test_who_does_too_much_is_suspended_alone() -> None:
    grows = "FROM S REGISTER n INT = 0 START a FINAL c a -> a SET n = n + 1 a -> a SET n = n + 2 a -> c WHEN ty = 'B'"
    engine = engine_of(("afa", grows), ("afa", PAIR), options=Options(runs_max=50))
    found: list[Match] = []
    for time in range(1, 40):
        found += come(engine, time, "A", time)
    (told,) = found
    assert (told.subscription, told.kind, told.limit, told.suspends) == ("q0", "incomplete", "work_max", True)
    assert engine.statistics()["suspended"] == 1
    again = Engine.restore(engine.snapshot())
    for each in (engine, again):
        assert said(come(each, 40, "B", 40)) == [("match", [39, 40])]
        each.check_invariants()
        each.unsubscribe("q0")
        assert each.statistics()["suspended"] == 0


def test_a_subscription_leaves_and_takes_its_copy_along() -> None:
    engine = engine_of(("afa", FIRST))
    engine.subscribe("early", "afa", "FROM P START a FINAL b a -> b WHEN n > 1")
    assert "q0 in order" not in engine.program.machines.registrations
    engine.subscribe("ordered", query="SELECT * FROM FILTER{n > 1}(P)")
    engine.subscribe("final", "afa", "FROM P START a FINAL b a -> b WHEN n > 1", results="final")
    assert "q0 in order" in engine.program.machines.registrations
    told = come(engine, 1, "A", 1, 5)
    assert [m.subscription for m in told] == ["q0", "early"]
    told = list(engine.punctuate(2))
    assert sorted(m.subscription for m in told if m.kind == "match") == ["final", "ordered"]
    assert {m.id for m in told if m.subscription == "final"} != {m.id for m in told if m.subscription == "ordered"}
    again = Engine.restore(engine.snapshot())
    for each in (engine, again):
        each.unsubscribe("ordered")
        each.unsubscribe("final")
        assert "q0 in order" not in each.program.machines.registrations
        each.unsubscribe("early")
        each.unsubscribe("q0")
        each.check_invariants()
    assert engine.snapshot() == again.snapshot()


def test_an_explicit_update_repairs_and_its_opposite_undoes() -> None:
    engine = engine_of(("afa", PAIR))
    engine.publish("S", [1, 2, 3, 4], [("A", 0), ("B", 0), ("A", 0), ("C", 0)], [1, 2, 3, 4])
    inserted = engine.update("q0", ["late: b -> c WHEN ty = 'C'"], [], 3, 5)
    assert said(inserted) == [("match", [3, 4])]
    assert said(engine.update("q0", [], ["late"], 3, 5)) == [("retraction", [3, 4])]
    assert inserted[0].id == engine.update("q0", ["b -> c WHEN ty = 'C'"], [], 3)[0].id
    assert [len(update.insert) for update in engine.updates("q0")] == [1, 0, 1]
    assert Engine.restore(engine.snapshot()).updates("q0") == engine.updates("q0")


def test_explain_and_statistics_know_who_revises() -> None:
    engine = engine_of(("afa", PAIR), ("afa", "FROM S START a FINAL b a -> a a -> b WHEN ty = 'B'"))
    lines = engine.explain()
    assert "q0: executor speculative" in lines
    assert any("q0: 3 states, 2 arcs, 0 registers; runs are kept in blocks beside the events" in line for line in lines)
    assert any("q1: runs stay for ever on the cycle of (any event)" in line for line in lines)
    come(engine, 1, "A", 1)
    figures = engine.statistics()
    assert (figures["speculative"], figures["revising"], figures["buffered_events"]) == (2, 2, 1)
    assert len(engine.diagram().nodes) == 5


def test_a_batch_tells_the_net() -> None:
    columns = [1, 3, 2, 5], [("A", 0), ("B", 0), ("X", 0), ("B", 0)], [1, 2, 3, 4]
    together, alone = engine_of(("afa", PAIR)), engine_of(("afa", PAIR), options=Options(cancelling=False))
    assert said(together.publish("S", *columns)) == []
    assert said(alone.publish("S", *columns)) == [("match", [1, 2]), ("retraction", [1, 2])]
    assert said(together.retract(3)) == [("match", [1, 2])]
    assert said(together.publish("S", [2, 4], [("X", 0), ("A", 0)], [5, 6])) == [
        ("retraction", [1, 2]), ("match", [6, 4]),
    ]  # fmt: skip


def test_arcs_that_no_event_asks_for_any_more_are_forgotten() -> None:
    engine = engine_of(("afa", PAIR.replace("b -> c", "n0: b -> c")), options=Options(updates_max=100))
    for at in range(1, 100):
        engine.update("q0", [f"n{at}: b -> c WHEN x = {at}"], [f"n{at - 1}"])
        come(engine, 10 * at, "A", 2 * at)
        assert said(come(engine, 10 * at + 1, "C", 2 * at + 1, at)) == [("match", [2 * at, 2 * at + 1])]
        if at % 10 == 0:
            engine.punctuate(10 * at)
            arcs = engine.catalog.subscriptions["q0"].revised().arcs
            assert len(arcs) <= 12, "two, and those of the events that are not final"
    engine.update("q0", [], ["n1"])  # it was there, and is named so by an update that is applied again


def test_an_update_of_the_past_finds_results_also_for_one_of_several_that_run_together() -> None:
    engine = Engine()
    engine.add_stream("S", {"ty": "string"}, disorder="speculate")
    text = "FROM S START a FINAL {} a -> a WHEN FALSE a -> b WHEN FALSE a -> c WHEN FALSE WITHIN 9"
    engine.subscribe("q", "afa", text.format("b, c"))
    engine.subscribe("other", "afa", text.format("c"))
    assert list(engine.publish("S", [1, 2], [("A",), ("A",)])) == []
    found = engine.update("q", insert=["new: a -> b WHEN ty = 'A'"], start=0)
    assert [(match.subscription, match.start) for match in found] == [("q", 1), ("q", 2)]
