"""SASE+ in the whole engine: several subscriptions that share an index, come and go, across snapshots and batches.

The truth is semantics_sase, on the events since each came. Machines alone: test_laws_sase.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from doubles.read_columns import in_columns
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from strategies.kleene_shapes import columnar, monotone, sharing
from strategies.sase import SCHEMAS, histories, lacking, queries, variants

from broker.algebra.sase import semantics as meaning
from broker.algebra.sase.semantics import Event
from broker.engine import Engine, Match, Options
from client import Notification
from client.expansion import count

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
WAYS = (
    Options(),
    Options(),
    Options(columns=False),
    Options(executors_off=("kleene",)),
)
RISING = "SELECT * FROM FILTER{p > p_1}(S NEXT{$2.ty = $1.ty} S)"


def truth(text: str, history: list[Event], first: int) -> Counter[Any]:
    """The matches of the events from that number on, as bindings of ids (1-based) and values."""
    seen = history[first:]
    found: Counter[Any] = Counter()
    for pattern, assignment in meaning.matches_of_variants(variants(text), seen):
        names = [component.name for component in pattern.components]
        values = meaning.returned(pattern, seen, assignment)
        bound = tuple((name, tuple(first + i + 1 for i in own)) for name, own in zip(names, assignment))
        found[bound, tuple(values)] += 1
    return found


def bound(match: Any) -> tuple[str, tuple[tuple[str, tuple[int, ...]], ...]]:
    return match.subscription, tuple((name, tuple(ids)) for name, ids in match.bindings.items())


def client_expands(results: Sequence[Match]) -> Counter[Any]:
    """What a client makes of the compressed results, whose number it knows before."""
    found: Counter[Any] = Counter()
    for match in results:
        if match.tuples is not None:
            notification = Notification(json.loads(json.dumps(match.line())))
            several = list(notification.expanded())
            assert len(several) == match.tuples == count(notification.line()["matches"])
            assert all(each.end == match.end for each in several)
            found.update(map(bound, several))
    return found


@settings(max_examples=max(200, 2 * settings().max_examples), suppress_health_check=slow, deadline=None)
@given(
    st.lists(st.tuples(st.one_of(queries(), lacking()), st.sampled_from([0, 0, 0, 3])), min_size=1, max_size=3),
    histories(),
    st.integers(0, 9),
    st.integers(1, 3),
    st.sampled_from(WAYS),
    st.booleans(),
)
def test_engine_is_the_meaning(
    wanted: list[tuple[str, int]], history: list[Event], cut: int, batch: int, options: Options, beside: bool
) -> None:
    """`beside`: the streams have another reader, too, whose results come between these."""
    note([text for text, _ in wanted])
    engine = Engine(options)
    for stream, schema in SCHEMAS.items():
        engine.add_stream(stream, schema.declared())
    if beside:
        engine.subscribe("rising", query=RISING)
    results: list[Any] = []
    told: Counter[Any] = Counter()
    came: dict[str, tuple[str, int]] = {}
    at = 0
    while at < len(history):
        for number, (text, when) in enumerate(wanted):
            if f"q{number}" not in came and at >= when:
                engine.subscribe(f"q{number}", language="sase", query=text)
                came[f"q{number}"] = (text, at)
        if at <= cut < at + batch:
            engine = Engine.restore(engine.snapshot(), options)
        stream = history[at][0]
        upto = at + 1
        while upto < min(len(history), at + batch) and history[upto][0] == stream:
            upto += 1
        part = history[at:upto]
        times, rows = [time for _, time, _ in part], [row for _, _, row in part]
        found = engine.publish(stream, times, rows, list(range(at + 1, upto + 1)))
        number = len(found)
        in_columns(found)
        results += found.expanded()
        assert number == sum(1 for _ in found)
        told += client_expands(found)
        at = upto
    found = engine.finish()
    results += found.expanded()
    told += client_expands(found)
    engine.check_invariants()
    compressed = {name for name, (text, _) in came.items() if "OUTPUT compressed" in text}
    assert told == Counter(bound(match) for match in results if match.subscription in compressed)
    for name, (text, first) in came.items():
        own = [match for match in results if match.subscription == name]
        assert Counter((bound(match)[1], tuple(match.data.values())) for match in own) == truth(text, history, first)
        assert len({match.id for match in own}) == len(own)
    for name in came:
        engine.unsubscribe(name)
    engine.check_invariants()
    assert not engine.program.machines.registrations


@settings(max_examples=2 * settings().max_examples, suppress_health_check=slow, deadline=None)
@given(st.one_of(sharing(), sharing(), columnar(), monotone(), lacking()), histories(), st.sampled_from(WAYS))
def test_clients_expand_compressed_results_to_the_meaning(text: str, history: list[Event], options: Options) -> None:
    """However runs are kept; the graphs are read when the stream has gone on."""
    text = text.partition(" OUTPUT ")[0] + " OUTPUT compressed"
    note(text)
    engine = Engine(options)
    for stream, schema in SCHEMAS.items():
        engine.add_stream(stream, schema.declared())
    engine.subscribe("q", language="sase", query=text)
    results = [engine.publish(stream, [time], [row], [at]) for at, (stream, time, row) in enumerate(history, 1)]
    results.append(engine.finish())
    expected: Counter[Any] = Counter()
    for (bindings, _), number in truth(text, history, 0).items():
        expected["q", bindings] += number
    found: Counter[Any] = Counter()
    for each in results:
        found += client_expands(each)
    assert found == expected
