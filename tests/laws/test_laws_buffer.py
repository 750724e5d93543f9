"""The reorder buffer: events in any order, held back until they are final, give what the ordered events give.

For every language, with late and withdrawn events, punctuations of all streams and of one, lateness, and snapshots; and
however the events are divided into batches.
"""

from __future__ import annotations

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
    coming = [each for _, each in sorted(enumerate(events), key=lambda pair: (pair[0] + pair[1].late, pair[0]))]
    ahead: dict[str, list[Arrived]] = {name: [each for each in events if each.stream == name] for name in streams}
    in_order = [each for each in events if each.stream not in buffered]
    coming = [in_order.pop(0) if each.stream not in buffered else each for each in coming]
    found: list[Any] = []
    told_to_leave: list[Arrived] = []
    while coming:
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
            engine = Engine.restore(engine.snapshot())
        elif choice == 3 and each.stream in buffered:
            known = engine.disorder.buffer.known if engine.disorder is not None else {}
            if each.id in known:
                found += engine.retract(each.id)
                coming.insert(draw(st.integers(0, len(coming))), each)
                ahead[each.stream].append(each)
    found += engine.finish()
    engine.check_invariants()
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
