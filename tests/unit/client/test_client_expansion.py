"""Compressed results told in full: what a client expands and counts is what the engine has found."""

from __future__ import annotations

from collections.abc import Callable

import msgpack
import pytest

from broker.engine import Engine, Match
from broker.engine.matches import match_graph
from broker.events import LimitExceeded
from client import Notification
from client.expansion import count

LETTERS = "a[1].ty = 'A' AND a[i].ty = 'A' AND b.ty = 'B'"
ANY = f"PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match(a[], b) {{ [k] AND {LETTERS} }}"
TWO = ANY.replace("S b", "S+ b[]").replace("a[], b)", "a[], b[])").replace("b.ty", "b[1].ty")
RISING = "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND a[i].p > a[i-1].p AND b.ty = 'B' }"
TAIL = " WITHIN {} OUTPUT compressed"


def engine(query: str, lineage: bool | None = None) -> Engine:
    made = Engine()
    made.add_stream("S", {"ty": "string", "k": "int", "p": "float"})
    made.subscribe("q", language="sase", query=query, lineage=lineage)
    return made


def told(match: Match) -> Notification:
    """As it comes out of a broker."""
    return Notification(msgpack.unpackb(msgpack.packb(match.line())))


def row(time: int) -> tuple[str, int, float]:
    return ("B" if time % 9 == 0 else "A", time % 2, float(time * 7 % 11))


@pytest.mark.parametrize("query", [ANY, RISING, TWO])
@pytest.mark.parametrize("within", [7, 18])
def test_the_client_expands_what_the_engine_found(query: str, within: int) -> None:
    made = engine(query + TAIL.format(within))
    seen = 0
    for time in range(1, 60):
        results = made.publish("S", [time], [row(time)])
        compressed = [told(match) for match in results]
        expected = [(m.start, m.end, m.lineage, m.bindings) for m in results.expanded()]
        found = [(n.start, n.end, n.lineage, n.bindings) for c in compressed for n in c.expanded()]
        assert sorted(found, key=repr) == sorted(expected, key=repr)
        assert [c.tuples for c in compressed] == [count(c.line()["matches"]) for c in compressed]
        seen += len(found)
    assert seen > 10, "a stream without matches would prove nothing"


def test_a_window_of_two_to_the_sixty_matches_is_counted_without_making_one() -> None:
    made = engine(ANY.replace("[k] AND ", "") + TAIL.format(100))
    made.publish("S", list(range(1, 61)), [("A", 0, 1.0)] * 60)
    [match] = made.publish("S", [61], [("B", 0, 1.0)])
    notification = told(match)
    graph = notification.line()["matches"]
    assert notification.tuples == count(graph) == 2**60 - 1
    assert len(graph["events"]) + len(graph["links"]) < 400, "linear in the window"
    first = next(notification.expanded())
    assert first.bindings == {"a": [60], "b": [61]}


def test_any_other_result_expands_to_itself() -> None:
    plain = Notification({"kind": "match", "subscription": "s", "id": "f00", "start": 1, "end": 3, "data": {}})
    assert list(plain.expanded()) == [plain]


def test_what_is_not_told_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    query = ANY.replace("[k] AND ", "") + TAIL.format(100)

    def last(made: Engine) -> Notification:
        made.publish("S", [1, 2], [("A", 0, 1.0)] * 2)
        [match] = made.publish("S", [3], [("B", 0, 1.0)])
        return told(match)

    refusal = "subscription 'q': the broker has reported only one of 3 matches and their number"
    with pytest.raises(LimitExceeded, match=refusal):
        last(engine(query, lineage=False)).expanded()
    assert last(engine(query, lineage=False)).tuples == 3
    monkeypatch.setattr(match_graph, "EXPANSION_LINKS_MAX", 4)
    with pytest.raises(LimitExceeded, match=refusal):
        last(engine(query)).expanded()


@pytest.mark.parametrize("query", [ANY, RISING])
def test_a_graph_read_later_is_the_same(query: str) -> None:
    """Results are read when the client has credits; until then the stream has gone on."""
    made = engine(query + TAIL.format(18))
    kept: list[tuple[Match, Callable[[], object]]] = []
    lines = []
    for time in range(1, 90):
        for match in made.publish("S", [time], [row(time)]):
            kept.append((match, match.line))
            lines.append(msgpack.packb(match.line()))
    assert [msgpack.packb(read()) for _, read in kept] == lines
    assert [match == match._replace(expansion=match.expansion) for match, _ in kept] == [True] * len(kept)
