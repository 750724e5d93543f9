"""A moved cursor is one from which so much was acknowledged; what operators change is replayed as it was done."""

from __future__ import annotations

from typing import Any

from doubles.guarded_rig import OPS
from doubles.guarded_rig import Rig as GuardedRig
from hypothesis import given
from hypothesis import strategies as st

from broker.events import DefinitionError
from broker.kernel import Received, Record, User
from broker.kernel.cursor import Cursor, restored
from broker.kernel.recent_events import RECENT_EVENTS_MAX, RecentEvents
from broker.kernel.records import BatchTaken
from broker.server.replicated_state import ReplicatedState
from broker.wire import (
    Acknowledge,
    AddStream,
    Administer,
    Publish,
    Refuse,
    Settle,
    Subscribe,
    Unsubscribe,
    encode_result,
)

RESULT = encode_result({"kind": "match", "subscription": "s", "end": 1})
steps = st.lists(
    st.tuples(st.sampled_from(["keep", "keep", "acknowledge", "aside", "place", "settle"]), st.integers(0, 12)),
    max_size=40,
)


@given(steps, st.integers(0, 6), st.integers(1, 6))
def test_a_cursor_counts_as_done_what_was_acknowledged_or_set_aside(
    steps: list[tuple[str, int]], retain: int, notifications: int
) -> None:
    cursor = Cursor("c", "s", "", notifications, 1_000_000, retain)
    done: set[int] = set()
    for what, number in steps:
        waiting = range(max(cursor.first, cursor.acknowledged + 1), cursor.last + 1)
        match what:
            case "keep":
                cursor.keep(RESULT)
            case "acknowledge" if number <= cursor.last:
                cursor.acknowledge(number)
                done.update(range(1, number + 1))
            case "aside" if number in waiting and number not in cursor.aside and not cursor.skips(number):
                cursor.set_aside(number, "no", 1, 1)
                done.add(number)
            case "settle" if number in cursor.letters:
                cursor.settle([number], False)
            case "place":
                kept = max(cursor.first - 1, cursor.last - notifications) <= number <= cursor.last
                before = cursor.save()
                try:
                    cursor.place(number)
                except DefinitionError:
                    assert not kept
                    assert cursor.save() == before
                else:
                    assert kept
                    aside = {each.position for each in cursor.letters} | set(cursor.aside)
                    done = {each for each in done if each > number and each in aside} | set(range(1, number + 1))
        cursor.check_invariants()
        assert cursor.acknowledged == next(each for each in range(len(done) + 1) if each + 1 not in done)
        assert restored(cursor.save()).save() == cursor.save()


texts = st.lists(st.text(max_size=3), min_size=1, max_size=2 * RECENT_EVENTS_MAX)


few = st.lists(st.text(max_size=3), min_size=1, max_size=2)
noted = st.tuples(st.sampled_from("ab"), texts | few, st.booleans())


@given(st.lists(noted, max_size=10) | st.lists(noted, min_size=45, max_size=60), st.integers(1, 30))
def test_the_last_events_are_the_last(batches: list[tuple[str, list[str], bool]], count: int) -> None:
    recent = RecentEvents()
    all_of: dict[str, list[tuple[int, str]]] = {"a": [], "b": []}
    number = 0
    for stream, values, ticks in batches:
        ids = range(number, number + len(values))
        number += len(values)
        recent.note(BatchTaken(stream, [5] * len(values), [(value,) for value in values], ids))
        all_of[stream] += zip(ids, values, strict=True)
        if ticks:
            recent.tick()
        recent.check_invariants()
    for stream, expected in all_of.items():
        found = recent.last(stream, ("x",), count)
        last = expected[-min(count, RECENT_EVENTS_MAX) :]
        assert found == {str(each): {"time": 5, "data": {"x": value}} for each, value in last}


OPERATOR = {OPS: User("ops", ("*",), ("*",), ("*",), ("*",), True)}
NAMES = st.sampled_from(["a", "b"])
POSITIONS = st.integers(0, 8)
ATTRIBUTES = st.sampled_from([{"price": "int"}, {"price": "int", "more": "int?"}])
UNIT = st.sampled_from([None, "s", "ms"])
READ = st.sampled_from(["Stock", "Extra", "A", "B"])
LATE = st.sampled_from([2, 1_000])


def subscribes(name: str, cursor: str | None) -> Subscribe:
    query = f"SELECT * FROM FILTER{{price > 1}}(Stock) PUBLISH {name.upper()}"
    options: dict[str, Any] = {} if cursor is None else {"durable": cursor, "retain": 4}
    return Subscribe(2, name, "cayuga", query, None, None, None, 5, **options)


def replaces(name: str, reads: str, publishes: str, keep_runs: bool) -> Administer:
    query = f"SELECT * FROM FILTER{{price > 2}}({reads}) PUBLISH {publishes}"
    details = {"language": "", "query": query, "keep_runs": keep_runs}
    return Administer(10, "replace-subscription", name, None, details)


def declares(attributes: dict[str, str], lateness: int, unit: str | None) -> AddStream:
    return AddStream(11, "Extra", attributes, None, "buffer", lateness, None, None, unit)


def widens(stream: str, attribute: str) -> Administer:
    return Administer(13, "add-attribute", stream, None, {"attribute": attribute, "type": "int?"})


requests = st.one_of(
    st.builds(subscribes, NAMES, st.none() | NAMES),
    st.builds(Unsubscribe, st.just(3), NAMES),
    st.lists(st.integers(0, 5), min_size=1, max_size=4).map(
        lambda prices: Publish(4, "Stock", None, tuple([(price,) for price in prices]), None, None)
    ),
    st.integers(0, 5).map(lambda price: Publish(4, "Extra", None, ((price,),), None, None)),
    st.builds(Acknowledge, st.just(5), NAMES, POSITIONS),
    st.builds(Refuse, st.just(6), NAMES, POSITIONS, st.just("no")),
    st.builds(Settle, st.just(7), NAMES, POSITIONS.map(lambda each: (each,)), st.booleans()),
    st.builds(Administer, st.just(8), st.just("move-cursor"), NAMES, POSITIONS),
    st.builds(Administer, st.just(9), st.just("delete-subscription"), NAMES),
    st.builds(declares, ATTRIBUTES, LATE, UNIT),
    st.builds(Administer, st.just(12), st.just("delete-stream"), st.sampled_from(["Extra", "Stock", "A"])),
    st.builds(widens, st.sampled_from(["Extra", "Stock", "A"]), st.sampled_from(["more", "y"])),
    st.builds(replaces, NAMES, READ, st.sampled_from(["A", "B", "C"]), st.booleans()),
)


@given(st.lists(requests, max_size=30))
def test_a_replay_of_the_records_is_what_the_kernel_did(messages: list[Any]) -> None:
    """The state of the kernel and the fold over its records save the same bytes."""
    state, records = ReplicatedState(), list[Record]()
    again = ReplicatedState()
    for each in (state, again):
        each.engine.add_stream("Stock", {"price": "int"})
    rig = GuardedRig(OPERATOR, state)
    for now, message in enumerate(messages, 1_000_000):
        effects = rig.kernel.step(Received(OPS[:1].encode(), message, OPS), now)
        rig.kernel.check_invariants()
        records += effects.records
    for position, record in enumerate(records, 1):
        again.replay(position, 0, record)
    assert again.save() == state.save()
