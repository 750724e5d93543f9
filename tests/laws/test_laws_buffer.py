"""The reorder buffer: events in any order, held back until they are final, give what the ordered events give.

For every language, with late and withdrawn events, punctuations of all streams and of one, lateness, and snapshots; and
however the events are divided into batches. Streams that no subscription reads with others change nothing for these.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st
from strategies import sase
from strategies.afa import query_texts
from strategies.forecasts import played, subscribe

from broker.engine import Engine, Options
from broker.events.errors import LateEvent

EACH = Options(cancelling=False)  # what one event completes and another one of its batch withdraws is told
ATTRIBUTES = {"k": "string?", "ty": "string", "x": "int?"}


@dataclass(frozen=True)
class Arrived:
    """An event; `late`: how many events of later times come before it."""

    stream: str
    time: int
    start: int
    id: int
    row: tuple[Any, ...]
    late: int


def ordered(engine: Engine, events: list[Arrived]) -> list[dict[str, Any]]:
    found: list[Any] = []
    for each in events:
        found += engine.publish(each.stream, [each.time], [each.row], [each.id], [each.start])
    found += engine.finish()
    return lines(found)


def lines(found: list[Any]) -> list[dict[str, Any]]:
    return sorted((each.line() for each in found), key=repr)


class Unrelated:
    """A stream beside those of a case, and a subscription that reads it alone. Another one that relates it to a stream
    of the case comes and goes."""

    def __init__(self, draw: Any, engine: Engine, stream: str) -> None:
        self.draw = draw
        self.relating = f"SELECT 1 AS one FROM {stream} NEXT{{}} Other"
        self.events: list[Arrived] = []
        order = draw(st.sampled_from(["arrival", "buffer", "speculate"]))
        lateness = None if order == "arrival" else draw(st.sampled_from([None, 0, 3]))
        engine.add_stream("Other", {"n": "int"}, disorder=order, lateness=lateness)
        self._subscribe(engine)

    def _subscribe(self, engine: Engine) -> None:
        engine.subscribe("other", query="SELECT * FROM FILTER{DUR < 5}(Other NEXT{} Other)")

    def step(self, engine: Engine) -> list[Any]:
        choice = self.draw(st.integers(0, 7))
        if choice == 0 and "relating" not in engine.subscriptions:
            engine.subscribe("relating", query=self.relating)
        elif choice == 1 and "relating" in engine.subscriptions:
            return list(engine.unsubscribe("relating"))
        elif choice < 4:
            number = 1_000 + len(self.events)
            event = Arrived("Other", self.draw(st.integers(0, 20)), 0, number, (number,), 0)
            with suppress(LateEvent):
                found = engine.publish("Other", [event.time], [event.row], [event.id])
                self.events.append(event)
                return list(found)
        return []

    def check(self, found: list[Any]) -> list[Any]:
        """The results of the others."""
        alone = Engine()
        alone.add_stream("Other", {"n": "int"})
        self._subscribe(alone)
        wanted: list[Any] = []
        for each in sorted(self.events, key=lambda event: (event.time, event.id)):
            wanted += alone.publish("Other", [each.time], [each.row], [each.id])
        assert lines([m for m in found if m.subscription == "other"]) == lines(wanted)
        return [match for match in found if match.subscription not in ("other", "relating")]


def disordered(draw: Any, streams: dict[str, Any], events: list[Arrived], subscriptions: Any) -> list[dict[str, Any]]:
    """What an engine tells in which some streams are buffered. Events that nothing holds back any more are dropped."""
    engine = Engine()
    buffered = draw(st.sets(st.sampled_from(sorted(streams)), min_size=1))
    lateness = draw(st.sampled_from([None, None, 0, 2, 5]))
    for name, attributes in streams.items():
        if name in buffered:
            engine.add_stream(name, attributes, disorder="buffer", lateness=lateness)
        else:
            engine.add_stream(name, attributes)
    subscriptions(engine)
    other = Unrelated(draw, engine, draw(st.sampled_from(sorted(streams)))) if draw(st.booleans()) else None
    coming = [each for _, each in sorted(enumerate(events), key=lambda pair: (pair[0] + pair[1].late, pair[0]))]
    ahead: dict[str, list[Arrived]] = {name: [each for each in events if each.stream == name] for name in streams}
    in_order = [each for each in events if each.stream not in buffered]
    coming = [in_order.pop(0) if each.stream not in buffered else each for each in coming]
    found: list[Any] = []
    told_to_leave: list[Arrived] = []
    while coming:
        if other is not None:
            found += other.step(engine)
            engine.check_invariants()
        each = coming.pop(0)
        ahead[each.stream].remove(each)
        try:
            found += engine.publish(each.stream, [each.time], [each.row], [each.id], [each.start])
        except LateEvent:
            told_to_leave.append(each)
            continue
        engine.check_invariants()
        choice = draw(st.integers(0, 8))
        left = [other.time for own in ahead.values() for other in own]
        if choice == 0 and left:
            found += engine.punctuate(min(left))
        elif choice == 1 and each.stream in buffered and ahead[each.stream]:
            found += engine.punctuate(min(other.time for other in ahead[each.stream]), each.stream)
        elif choice == 2:
            again = Engine.restore(engine.snapshot())
            assert again.snapshot() == engine.snapshot()
            engine = again
        elif choice == 3 and each.stream in buffered:
            if engine.stream_of(each.id) is not None:
                found += engine.retract(each.id)
                coming.insert(draw(st.integers(0, len(coming))), each)
                ahead[each.stream].append(each)
    found += engine.finish()
    engine.check_invariants()
    if other is not None:
        found = other.check(found)
    for each in told_to_leave:
        events.remove(each)
    return lines(found)


def arrived(draw: Any, history: list[tuple[str, int, int, int, tuple[Any, ...]]]) -> list[Arrived]:
    lateness = st.sampled_from([0, 0, 0, 1, 2, 5])
    return [Arrived(*each, draw(lateness)) for each in history]


@given(st.data(), played(timed=False))
def test_held_back_is_ordered(data: st.DataObject, case_and_history: Any) -> None:
    case, history = case_and_history
    note(f"{case.query} {case.report}")

    def subscriptions(engine: Engine) -> bool:
        return subscribe(engine, "q", case, False)

    inorder = Engine()
    for name, attributes in case.streams.items():
        inorder.add_stream(name, attributes)
    if not subscriptions(inorder):
        return
    history = sorted(history, key=lambda h: h.time)
    events = arrived(data.draw, [(h.stream, h.time, h.start, at, h.row) for at, h in enumerate(history, 1)])
    found = disordered(data.draw, case.streams, events, subscriptions)
    assert found == ordered(inorder, events)


@given(st.data(), st.one_of(sase.queries(), sase.lacking()), sase.histories(12))
def test_held_back_patterns_are_ordered(data: st.DataObject, query: str, history: list[Any]) -> None:
    note(query)
    streams = {name: schema.declared() for name, schema in sase.SCHEMAS.items()}
    inorder = Engine()
    for name, attributes in streams.items():
        inorder.add_stream(name, attributes)
    inorder.subscribe("q", "sase", query)
    events = arrived(data.draw, [(name, time, time, at, row) for at, (name, time, row) in enumerate(history, 1)])
    found = disordered(data.draw, streams, events, lambda engine: engine.subscribe("q", "sase", query))
    assert found == ordered(inorder, events)


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[int, int, tuple[Any, ...]]]:
    """Times, ids and rows in their order of arrival."""
    found = []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        row = draw(st.sampled_from(("K", "L"))), draw(st.sampled_from("ABC")), draw(st.sampled_from((0, 1, 2, 3)))
        found.append((draw(st.integers(0, 3)) + number, number, row))
    return found


@given(
    st.lists(query_texts(), min_size=1, max_size=2), rows(), st.sampled_from((None, 0, 2, 4)),
    st.sampled_from((None, 0, 2, 4)), st.lists(st.integers(1, 5), min_size=12, max_size=12),
    st.sampled_from(("each", "final")),
)  # fmt: skip
def test_batches_of_any_length_tell_the_same(
    texts: list[str], events: list[Any], lateness: int | None, speculation: int | None, sizes: list[int], told: str
) -> None:
    logs = []
    for divided, options in ((False, EACH), (True, EACH), (True, Options())):
        engine = Engine(options)
        engine.add_stream("S", ATTRIBUTES, disorder="speculate", lateness=lateness, speculation=speculation)
        for at, text in enumerate(texts):
            engine.subscribe(f"q{at}", "afa", text, results=told)
        found: list[Any] = []
        rest = list(events)
        while rest:
            size = sizes[len(rest) - 1] if divided else 1
            batch, rest = rest[:size], rest[size:]
            columns = [each[0] for each in batch], [each[2] for each in batch], [each[1] for each in batch]
            try:
                engine.check("S", *columns)
            except LateEvent:
                for time, number, row in batch:
                    with suppress(LateEvent):
                        found += engine.publish("S", [time], [row], [number])
            else:
                found += engine.publish("S", *columns)
        found += engine.finish()
        engine.check_invariants()
        logs.append({name: [m.line() for m in found if m.subscription == name] for name in engine.subscriptions})
    assert logs[0] == logs[1]
    assert {name: standing(log) for name, log in logs[0].items()} == {
        name: standing(log) for name, log in logs[2].items()
    }


def standing(log: list[dict[str, Any]]) -> Counter[str]:
    """The matches that were not withdrawn, by id."""
    kinds = {kind: Counter(line["id"] for line in log if line["kind"] == kind) for kind in ("match", "retraction")}
    return kinds["match"] - kinds["retraction"]


QUERIES = {  # of two streams each, or of D, which has the events of both
    "cayuga": "SELECT * FROM FILTER{DUR < 8}(S NEXT{$2.n >= $1.n} R)",
    "sase": "PATTERN SEQ(S a, R b) WHERE skip_till_any_match(a, b) { a.n <= b.n } WITHIN 6 us",
    "ptopss": "FROM S, R\na ON S: n > 0\nb ON R: n < 2\nMATCH a; b WITHIN 6 us",
    "window": "FROM D WINDOW AFTER [n > 0] MATCHING any{2}",
    "afa": "FROM S, R REGISTER w INT = 0 START a FINAL c "
    "a -> b WHEN n > 0 SET w = n b -> b b -> c WHEN n >= w WITHIN 9",
}
LANGUAGES = st.sampled_from(sorted(QUERIES))


def said(found: Any) -> list[dict[str, Any]]:
    """What is told of results; how much is final also depends on the newest time of the others, in order or at the
    end."""
    return [match.line() for match in found if match.kind != "punctuation"]


def component(engine: Engine, number: int, language: str, order: Any, lateness: int | None, punctual: bool) -> None:
    """Streams S and R with this number, and a subscription that reads both; with `punctual`, R is in order."""
    late, other = f"S{number}", f"R{number}"
    engine.add_stream(late, {"n": "int"}, disorder=order, lateness=lateness)
    if punctual:
        engine.add_stream(other, {"n": "int"})
    else:
        engine.add_stream(other, {"n": "int"}, disorder=order, lateness=lateness)
    names = {"S": late, "R": other, "D": f"D{number}"}
    query = re.sub(r"\b[SRD]\b", lambda name: names[name[0]], QUERIES[language])
    if language == "window":
        engine.subscribe(f"u{number}", query=f"SELECT * FROM {late} UNION {other} PUBLISH D{number}")
    engine.subscribe(f"q{number}", language, query, results="each" if language == "afa" else None)


@given(st.data())
def test_what_a_component_is_told_is_what_it_is_told_alone(data: st.DataObject) -> None:
    draw, numbers = data.draw, (0, 1, 2)
    orders, lateness = st.sampled_from(["buffer", "speculate"]), st.sampled_from([None, 0, 2])
    kinds = [(draw(LANGUAGES), draw(orders), draw(lateness), draw(st.booleans())) for _ in numbers]
    together, alone = Engine(), [Engine() for _ in numbers]
    for number in numbers:
        for engine in (together, alone[number]):
            component(engine, number, *kinds[number])
    told: list[list[Any]] = [[] for _ in numbers]
    told_alone: list[list[Any]] = [[] for _ in numbers]

    def tell(found: Any) -> None:
        for match in found:
            told[int(match.subscription[1:])] += said([match])

    arrived = 0
    for at in range(draw(st.integers(4, 24))):
        number, late, promised = draw(st.integers(0, 2)), draw(st.booleans()), draw(st.integers(0, 5)) == 0
        punctual = kinds[number][3] and not late
        stream = f"{'S' if late else 'R'}{number}"
        time = draw(st.integers(0, 20)) if not punctual else arrived + draw(st.integers(0, 3))
        row = (draw(st.integers(0, 2)),)
        try:
            found = together.punctuate(time, stream) if promised else together.publish(stream, [time], [row], [at])
        except LateEvent:
            continue
        arrived = time if punctual and not promised else arrived
        tell(found)
        own = alone[number]
        own_found = own.punctuate(time, stream) if promised else own.publish(stream, [time], [row], [at])
        told_alone[number] += said(own_found)
        if draw(st.integers(0, 6)) == 0:
            together = Engine.restore(together.snapshot())
        together.check_invariants()
        for number in numbers:
            assert told[number][: len(told_alone[number])] == told_alone[number]
            assert kinds[number][3] or told[number] == told_alone[number]
    tell(together.finish())
    for number in numbers:
        told_alone[number] += said(alone[number].finish())
        assert told[number] == told_alone[number]
