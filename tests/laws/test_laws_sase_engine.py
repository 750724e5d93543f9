"""SASE+ in the whole engine: several subscriptions that share an index, come and go, across snapshots and batches.

The truth is semantics_sase, on the events since each came. Machines alone: test_laws_sase.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from strategies.sase import SCHEMAS, histories, lowered, queries

from broker.algebra import semantics_sase as meaning
from broker.algebra.semantics_sase import Event
from broker.engine import Engine, Options

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
RISING = "SELECT * FROM FILTER{p > p_1}(S NEXT{$2.ty = $1.ty} S)"


def truth(text: str, history: list[Event], first: int) -> Counter[Any]:
    """The matches of the events from that number on, as bindings of ids (1-based) and values."""
    pattern = lowered(text)
    seen = history[first:]
    names = [component.name for component in pattern.components]
    found: Counter[Any] = Counter()
    for assignment in meaning.matches(pattern, seen):
        values = meaning.returned(pattern, seen, assignment)
        bound = tuple((name, tuple(first + i + 1 for i in own)) for name, own in zip(names, assignment))
        found[bound, tuple(values)] += 1
    return found


@settings(max_examples=2 * settings().max_examples, suppress_health_check=slow, deadline=None)
@given(
    st.lists(st.tuples(queries(), st.sampled_from([0, 0, 0, 3])), min_size=1, max_size=3),
    histories(),
    st.integers(0, 9),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)
def test_engine_is_the_meaning(
    wanted: list[tuple[str, int]], history: list[Event], cut: int, batch: int, plain: bool, beside: bool
) -> None:
    """`beside`: the streams have another reader, too, whose results come between these."""
    note([text for text, _ in wanted])
    options = Options(columns=False, merging=False, buffer=False, variants=False) if plain else Options()
    engine = Engine(options)
    for stream, schema in SCHEMAS.items():
        engine.add_stream(stream, schema.declared())
    if beside:
        engine.subscribe("rising", query=RISING)
    results: list[Any] = []
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
        results += found.expanded()
        assert number == sum(1 for _ in found)
        at = upto
    results += engine.finish().expanded()
    engine.check_invariants()
    for name, (text, first) in came.items():
        own = [match for match in results if match.subscription == name]
        bags = Counter(
            (tuple((operand, tuple(ids)) for operand, ids in match.bindings.items()), tuple(match.data.values()))
            for match in own
        )
        assert bags == truth(text, history, first)
        assert len({match.id for match in own}) == len(own)
    for name in came:
        engine.unsubscribe(name)
    engine.check_invariants()
    assert not engine.program.kleenes.seats
