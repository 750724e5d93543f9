"""However a batch is divided: each subscription finds the same results with the same ids, in the same order.

The broker relies on it: it works on a batch in pieces that depend on how long they take, and after a crash in one go.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from strategies import composite_subscriptions as ptopss
from strategies import sase, windows
from strategies.forecasts import engine_for, played, subscribe
from strategies.typed_queries import SCHEMAS, histories, programs

from broker.engine import Engine, Match
from broker.events import DefinitionError
from broker.language.cayuga.printer import print_query
from broker.language.window import print_query as print_window_query
from broker.language.window.syntax import WindowQuery
from broker.storage.engine_digest import engine_digest

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
lawful = settings(max_examples=max(20, settings().max_examples // 5), suppress_health_check=slow)

Happened = tuple[str, int, tuple[Any, ...], int]  # stream, time, row, start


def told(engine: Engine, history: Sequence[Happened], lengths: Iterable[int]) -> dict[str, list[str]]:
    """What each subscription finds, batches of one stream's consecutive events being divided into such pieces."""
    found: dict[str, list[str]] = {}
    rest = iter(lengths)
    at = 0
    while at < len(history):
        upto = at + 1
        most = next(rest, len(history))
        while upto < len(history) and upto - at < most and history[upto][0] == history[at][0]:
            upto += 1
        streams, times, rows, starts = zip(*history[at:upto])
        result: Match
        for result in engine.publish(streams[0], times, rows, range(at + 1, upto + 1), starts):
            found.setdefault(result.subscription, []).append(json.dumps(result.line()))
        at = upto
    return found


def check(whole: Engine, divided: Engine, history: Sequence[Happened], lengths: Sequence[int]) -> None:
    note(lengths)
    assert told(divided, history, lengths) == told(whole, history, ())
    assert engine_digest(divided.snapshot()) == engine_digest(whole.snapshot())


lengths = st.lists(st.integers(1, 6), max_size=30)


@lawful
@given(programs(), histories(), lengths)
def test_of_cayuga(program: dict[str, Any], history: list[Any], lengths: list[int]) -> None:
    engines = Engine(), Engine()
    for engine in engines:
        for stream, schema in SCHEMAS.items():
            engine.add_stream(stream, schema.declared())
        for name, syntax in program.items():
            engine.subscribe(name, query=print_query(syntax), lineage=True)
    check(*engines, [(each.stream, each.time, each.row, each.start) for each in history], lengths)


@lawful
@given(st.lists(ptopss.subscriptions(most=4), min_size=1, max_size=3), ptopss.histories(), lengths)
def test_of_composites(texts: list[str], history: list[Any], lengths: list[int]) -> None:
    engines = Engine(), Engine()
    for engine in engines:
        for stream, attributes in ptopss.STREAMS.items():
            engine.add_stream(stream, attributes)
        for number, text in enumerate(texts):
            try:
                engine.subscribe(f"q{number}", "ptopss", text, report="all" if number else "completions")
            except DefinitionError:
                assume(False)
    check(*engines, [(stream, time, row, time) for stream, time, row in history], lengths)


@lawful
@given(st.lists(st.one_of(sase.queries(), sase.lacking()), min_size=1, max_size=3), sase.histories(), lengths)
def test_of_sase(texts: list[str], history: list[Any], lengths: list[int]) -> None:
    engines = Engine(), Engine()
    for engine in engines:
        for stream, schema in sase.SCHEMAS.items():
            engine.add_stream(stream, schema.declared())
        for number, text in enumerate(texts):
            engine.subscribe(f"q{number}", "sase", text)
    check(*engines, [(stream, time, row, time) for stream, time, row in history], lengths)


@lawful
@given(played(), lengths)
def test_of_forecasts(case_and_history: Any, lengths: list[int]) -> None:
    case, history = case_and_history
    engines = engine_for(case), engine_for(case)
    for engine in engines:
        assume(subscribe(engine, "q", case))
    check(*engines, [(each.stream, each.time, each.row, each.start) for each in history], lengths)


@lawful
@given(st.lists(windows.queries(), min_size=1, max_size=3), windows.streams(20), lengths)
def test_of_windows(queries: list[WindowQuery], events: list[windows.Event], lengths: list[int]) -> None:
    engines = Engine(), Engine()
    for engine in engines:
        engine.add_stream("S", windows.SCHEMA.declared())
        for number, query in enumerate(queries):
            engine.subscribe(f"q{number}", "window", print_window_query(query), lineage=True)
    check(*engines, [("S", time, row, time) for time, row in events], lengths)
