"""A stream whose time was none: what reads it is as if subscribed anew, all else as if the stream had never been.

But for two things that cannot be taken back: windows of others have passed, and their runs that ended in the newest
epoch have gone. So there are no such windows here, and what comes afterwards is later than that epoch.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, Final

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from strategies.typed_queries import STREAMS, Happening, histories, programs

from broker.engine import Engine, Options
from broker.language.cayuga.printer import print_query

slow = settings(deadline=None, suppress_health_check=list(HealthCheck))
FAR: Final = 2**60

Texts = dict[str, tuple[str, str]]  # language and text by name, publishers before their readers
Event = tuple[str, int, tuple[Any, ...], int]  # stream, time, row, id

EVERY: Final[Texts] = {
    "pairs": ("cayuga", "SELECT * FROM S NEXT{$1.k = $2.k} S"),
    "soon": ("cayuga", "SELECT * FROM FILTER{DUR < 4}(S NEXT{$1.k = $2.k} S)"),
    "fold": ("cayuga", "SELECT * FROM T FOLD{$1.k = $2.k} T"),
    "mixed": ("cayuga", "SELECT * FROM T NEXT{} S"),
    "of S": ("cayuga", "SELECT * FROM S NEXT{} S PUBLISH P"),
    "of T": ("cayuga", "SELECT * FROM T NEXT{} T PUBLISH P"),
    "over": ("cayuga", "SELECT * FROM P NEXT{} T"),
    "tuples": ("ptopss", "FROM S a: x > 0 b: x = 0 MATCH a; b"),
    "window": ("ptopss", "FROM S BY k a: x > 0 b: x = 0 MATCH (a AND b) WITHIN 5"),
    "words": ("ptopss", "FROM S a: x > 0 b: x = 0 MATCH a, b"),
    "steps": ("sase", "PATTERN SEQ(S a, T b) WHERE skip_till_any_match(a, b) { a.k = b.k } WITHIN 9"),
    "some": ("sase", "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND b.x = 0 } WITHIN 9"),
    "other tuples": ("ptopss", "FROM T a: x > 0 b: x = 0 MATCH a; b"),
    "other words": ("ptopss", "FROM T a: x > 0 b: x = 0 MATCH a, b"),
    "none": ("sase", "PATTERN SEQ(S a, ~(S b), S c) WHERE skip_till_next_match(a, b, c) { b.x = 0 } WITHIN 9"),
}


def named(texts: Texts) -> Texts:
    return {name.replace(" ", "-"): text for name, text in texts.items()}


def made(streams: dict[str, dict[str, str]], options: Options) -> Engine:
    engine = Engine(options)
    for name, attributes in streams.items():
        engine.add_stream(name, attributes)
    return engine


def subscribe(engine: Engine, texts: Texts) -> None:
    for name, (language, query) in texts.items():
        engine.subscribe(name, language, query)


def feed(engine: Engine, events: list[Event]) -> Counter[str]:
    found: list[str] = []
    for stream, time, row, number in events:
        found += [repr(match.line()) for match in engine.publish(stream, [time], [row], [number])]
    return Counter(found)


def over(texts: Texts, streams: dict[str, dict[str, str]], stream: str) -> set[str]:
    """The subscriptions that cannot be without this stream."""
    reached = {stream}
    found: set[str] = set()
    engine = made(streams, Options())
    subscribe(engine, texts)
    for _ in texts:
        for name, subscriber in engine.catalog.subscriptions.items():
            if reached & {source for source, _ in subscriber.form.sources}:
                found.add(name)
                if subscriber.form.publish is not None:
                    reached.add(subscriber.form.publish)
    return found


def check(
    texts: Texts,
    streams: dict[str, dict[str, str]],
    before: list[Event],
    behind: list[Event],
    stream: str,
    options: Options,
) -> None:
    others = [event for event in before if event[0] != stream]
    newest = max([time for _, time, _, _ in others], default=None)
    behind = [event for event in behind if newest is None or event[1] > newest]
    fed = over(texts, streams, stream)

    engine = made(streams, options)
    subscribe(engine, texts)
    feed(engine, before)
    feed(engine, [(stream, FAR + at, row, 900 + at) for at, (of, _, row, _) in enumerate(before) if of == stream])
    engine.reset_time(stream, newest)
    engine.check_invariants()
    assert engine.now == newest
    assert dict(engine.subscriptions).keys() == texts.keys()

    expected = made(streams, options)
    subscribe(expected, {name: text for name, text in texts.items() if name not in fed})
    feed(expected, others)
    subscribe(expected, {name: text for name, text in texts.items() if name in fed})
    saved = Engine.restore(engine.snapshot(), options)
    wanted = feed(expected, behind)
    assert feed(engine, behind) == wanted
    assert feed(saved, behind) == wanted
    engine.check_invariants()


OPTIONS = st.sampled_from([Options(), Options(executors_off=("keyed_runs",))])
STREAM = st.sampled_from("ST")
EVENTS = st.lists(
    st.tuples(STREAM, st.integers(0, 2), st.tuples(st.sampled_from("ab"), st.integers(0, 2))), max_size=12
)


def timed(steps: list[tuple[str, int, tuple[Any, ...]]], start: int) -> list[Event]:
    events: list[Event] = []
    for stream, step, row in steps:
        start += step
        events.append((stream, start, row, len(events) + 10 * start))
    return events


@slow
@given(EVENTS, EVENTS, OPTIONS)
def test_each_language_begins_anew(before: list[Any], behind: list[Any], options: Options) -> None:
    first = timed(before, 1)
    last = max((time for _, time, _, _ in first), default=0)
    streams = {name: {"k": "string", "x": "int"} for name in "ST"}
    check(named(EVERY), streams, first, timed(behind, last), "S", options)


@slow
@given(programs(), histories(), st.integers(0, 20), st.sampled_from(sorted(STREAMS)), OPTIONS)
def test_random_programs_begin_anew(
    program: Any, history: list[Happening], cut: int, stream: str, options: Options
) -> None:
    texts = {name: ("cayuga", print_query(syntax)) for name, syntax in program.items()}
    assume("DUR" not in str(texts))
    events = [replace(each, start=each.time) for each in history]
    plain = [(each.stream, each.time, each.row, each.id) for each in events]
    check(texts, dict(STREAMS), plain[:cut], plain[cut:], stream, options)
