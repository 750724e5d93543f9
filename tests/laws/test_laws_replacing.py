"""A replaced subscription is a new one beside the old, which goes: to those that read what both publish, too.

With its runs kept, a replacement is the update by the arcs in which the texts differ. What is refused changes nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies.typed_queries import STREAMS, Happening, histories, programs, queries

from broker.engine import Engine
from broker.events import ForetellError
from broker.language.cayuga.printer import print_query

slow = settings(deadline=None, suppress_health_check=list(HealthCheck))


def made(texts: dict[str, str]) -> Engine:
    engine = Engine()
    for name, attributes in STREAMS.items():
        engine.add_stream(name, attributes)
    for name, text in texts.items():
        engine.subscribe(name, "cayuga", text)
    return engine


def fed(engine: Engine, events: list[Happening], renamed: dict[str, str]) -> Counter[str]:
    """The results without their ids, which depend on names and texts."""
    lines = [
        match.line()
        for each in events
        for match in engine.publish(each.stream, [each.time], [each.row], [each.id], [each.start])
    ]
    for line in lines:
        line["subscription"] = renamed.get(line["subscription"], line["subscription"])
    return Counter(repr({name: value for name, value in line.items() if name != "id"}) for line in lines)


@slow
@given(programs(), queries(), histories(), st.integers(0, 14), st.data())
def test_a_replacement_is_a_new_subscription_in_the_place_of_the_old(
    program: dict[str, Any], wanted: Any, history: list[Happening], cut: int, data: st.DataObject
) -> None:
    texts = {name: print_query(syntax) for name, syntax in program.items()}
    name = data.draw(st.sampled_from(sorted(texts)))
    publishes = sorted({each.publish for each in program.values() if each.publish is not None})
    stays = data.draw(st.booleans())
    streams = st.sampled_from([None, program[name].publish, *publishes])
    wanted = replace(program[name] if stays else wanted, publish=data.draw(streams))
    engine, other = made(texts), made(texts)
    for each in (engine, other):
        fed(each, history[:cut], {})
    before = engine.snapshot()
    try:
        engine.replace(name, print_query(wanted))
    except ForetellError:
        assert engine.snapshot() == before
        engine.check_invariants()
        return
    engine.check_invariants()
    assert engine.subscriptions[name].query == print_query(wanted)
    renamed = {"beside": name}
    try:
        other.subscribe("beside", "cayuga", print_query(wanted))
        other.unsubscribe(name)
    except ForetellError:  # nobody reads what it publishes, with other attributes from now on
        other = made(texts)
        fed(other, history[:cut], {})
        other.unsubscribe(name)
        other.subscribe(name, "cayuga", print_query(wanted))
        renamed = {}
    saved = Engine.restore(engine.snapshot())
    expected = fed(other, history[cut:], renamed)
    assert fed(engine, history[cut:], {}) == expected
    assert fed(saved, history[cut:], {}) == expected


ARCS = {
    "up": "up: a -> a WHEN x > 1 SET n = n + 1",
    "down": "down: a -> b WHEN x < 2",
    "same": "same: a -> b WHEN x = 1 SET n = 0",
    "on": "on: b -> b WHEN x > 0",
    "back": "back: b -> a WHEN x = 2",
}
FIXED = ["a -> b WHEN x = 3", "b -> b WHEN FALSE"]
some = st.lists(st.sampled_from(sorted(ARCS)), unique=True)
rows = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=12)


def text(names: list[str]) -> str:
    return "\n".join(["FROM S REGISTER n INT = 0 START a FINAL b", *FIXED, *[ARCS[name] for name in names]])


@slow
@given(st.lists(some, min_size=2, max_size=4), st.lists(rows, min_size=4, max_size=4), st.booleans(), st.booleans())
def test_a_replacement_that_keeps_runs_is_the_update_by_the_difference(
    texts: list[list[str]], parts: list[list[tuple[int, int]]], disordered: bool, saved: bool
) -> None:
    engines = [Engine(), Engine()]
    for engine in engines:
        if disordered:
            engine.add_stream("S", {"x": "int"}, None, "speculate", 10)
        else:
            engine.add_stream("S", {"x": "int"})
        engine.subscribe("s", "afa", text(texts[0]))
    present = texts[0]
    found: list[list[str]] = [[], []]
    start = 0
    for names, events in zip([*texts[1:], None], parts):
        times = [start + time for time, _ in (events if disordered else sorted(events))]
        start = max([start, *times])
        for engine, lines in zip(engines, found):
            lines += map(repr, engine.publish("S", times, [(x,) for _, x in events]))
        if names is None:
            break
        insert = [ARCS[name] for name in names if name not in present]
        delete = [name for name in present if name not in names]
        found[0] += map(repr, engines[0].replace("s", text(names), keep_runs=True))
        if insert or delete:
            found[1] += map(repr, engines[1].update("s", insert, delete))
        present = names
        if saved:
            engines[0] = Engine.restore(engines[0].snapshot())
    assert found[0] == found[1]
    assert [Counter(each.insert) for each in engines[0].updates("s")] == [
        Counter(each.insert) for each in engines[1].updates("s")
    ]
