"""P-ToPSS through the engine against its executable meaning: random subscriptions, streams and batches, comings and
goings, and snapshots in between."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from doubles.read_columns import in_columns
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from strategies.composite_subscriptions import STREAMS, histories, lowered, subscriptions

from broker.algebra.ptopss import semantics as meaning
from broker.algebra.ptopss.composite import Composite
from broker.automaton.rewriting.table import RULES
from broker.engine import Engine, Match, Options
from broker.events.errors import DefinitionError
from broker.events.schema import Row

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

Tuple: TypeAlias = tuple[int | None, ...]
Truth: TypeAlias = dict[tuple[int, Row], set[Tuple]]  # by completing event and binding


def truth(composite: Composite, history: list[meaning.Event], first: int) -> Truth:
    """The tuples whose events are all from that index on, events by index in the whole history."""
    later = history[first:]
    found: Truth = {}
    for assignment in meaning.tuples(composite, later):
        whole = tuple(None if index is None else index + first for index in assignment)
        end = max(index for index in whole if index is not None)
        found.setdefault((end, meaning.binding(composite, assignment, later)), set()).add(whole)
    return found


def assigned(composite: Composite, match: Match) -> Tuple:
    """Event ids are 1-based indexes."""
    assert match.bindings is not None
    ids = [match.bindings.get(name) for name in composite.names]
    assert [number for bound in ids for number in bound or ()] == match.lineage
    return tuple(None if bound is None else bound[0] - 1 for bound in ids)


def check(
    composite: Composite, report: str, expected: Truth, matches: list[Match], history: list[meaning.Event]
) -> None:
    ids = Counter(match.id for match in matches)
    assert not ids or max(ids.values()) == 1
    seen: Truth = {}
    for match in matches:
        key = (assigned_end(match), tuple(match.data.values()))
        times = [history[number - 1][1] for number in match.lineage or ()]
        assert (match.start, match.end) == (min(times), max(times))
        seen.setdefault(key, set()).add(assigned(composite, match))
        if report == "completions":
            assert match.tuples == len(expected[key])
    if report == "all":
        assert seen == expected
        assert len(matches) == sum(map(len, expected.values()))
    else:
        assert seen.keys() == expected.keys()
        assert all(len(found) == 1 and found <= expected[key] for key, found in seen.items())
        assert len(matches) == len(expected)


def assigned_end(match: Match) -> int:
    return max(match.lineage or ()) - 1


def publish(
    engine: Engine, history: list[meaning.Event], first: int, upto: int, matches: dict[str, list[Match]]
) -> None:
    """In batches of one stream each."""
    while first < upto:
        stream, end = history[first][0], first + 1
        while end < upto and history[end][0] == stream:
            end += 1
        _, times, rows = zip(*history[first:end], strict=True)
        results = engine.publish(stream, times, rows, ids=range(first + 1, end + 1))
        every = list(in_columns(results))
        assert len(results) == len(every)
        assert [results[i] for i in range(len(every))] == every
        for match in every:
            matches[match.subscription].append(match)
        first = end


@settings(max_examples=6 * settings().max_examples, suppress_health_check=slow)
@given(
    st.lists(st.tuples(subscriptions(most=4), st.sampled_from(["all", "completions"])), min_size=1, max_size=4),
    st.data(),
)
def test_engine_is_the_meaning(wanted: list[tuple[str, str]], data: st.DataObject) -> None:
    history = data.draw(histories())
    off = data.draw(st.sampled_from([(), (), ("sequence_trie",), ("sequence_trie", "tuple_counts")]))
    switches = {"indexes": data.draw(st.booleans())}
    rules = data.draw(st.sampled_from([(), tuple([rule.name for rule in RULES])]))
    options = Options(**switches, executors_off=off, rules_off=rules)
    engine = Engine(options)
    for stream, attributes in STREAMS.items():
        engine.add_stream(stream, attributes)
    since: dict[str, tuple[str, Composite, int]] = {}
    matches: dict[str, list[Match]] = {}
    gone: dict[str, int] = {}
    waiting = [(f"q{number}", *asked) for number, asked in enumerate([*wanted, wanted[0]])]
    at = 0
    while at < len(history):
        for _ in range(data.draw(st.integers(0, len(waiting)))):
            name, text, report = waiting.pop(0)
            composite = lowered(text)
            try:
                engine.subscribe(name, language="ptopss", query=text, report=report)
            except DefinitionError as error:
                note(str(error))
                assert not meaning.tuples(composite, history)
                continue
            since[name] = (report, composite, at)
            matches[name] = []
        if len(since) > len(gone) and not data.draw(st.integers(0, 5)):
            name = data.draw(st.sampled_from([name for name in since if name not in gone]))
            engine.unsubscribe(name)
            gone[name] = at
        if not data.draw(st.integers(0, 3)):
            engine.check_invariants()
            engine = Engine.restore(engine.snapshot(), options)
        upto = data.draw(st.integers(at + 1, len(history)))
        publish(engine, history, at, upto, matches)
        at = upto
    engine.check_invariants()
    for name, (report, composite, first) in since.items():
        upto = gone.get(name, len(history))
        check(composite, report, truth(composite, history[:upto], first), matches[name], history)
    for name in since.keys() - gone.keys():
        engine.unsubscribe(name)
    engine.check_invariants()
    assert not any(engine.program.directory.statics)
    assert engine.program.machines.statistics()["machines"] == 0
