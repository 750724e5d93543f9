"""Dividing a history changes nothing: every plan that is admissible gives the embedded engine's results and counts.

Random programs of all languages, streams with ties, hot keys, cuts in the middle of a tie, more slices than events and
buckets without any. The cells are those that Spark's workers do, done here one after the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from doubles.divided_history import DividedHistory, Happened
from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st
from strategies import composite_subscriptions as ptopss
from strategies import forecasts, sase, windows
from strategies import typed_queries as cayuga

from broker.events import Schema, StreamDefinition
from broker.events.errors import DefinitionError, LimitExceeded, QueryError
from broker.forecast.model_file import Model, read_model
from broker.language.cayuga.printer import print_query
from broker.language.subscription import SubscriptionDefinition
from broker.language.window import print_query as print_window_query
from spark_bridge.plan.cell import Point
from spark_bridge.plan.choice import plan_for
from spark_bridge.plan.properties import Purpose
from spark_bridge.plan.scheme import SCHEMES, Plan
from spark_bridge.subscriptions import Subscriptions

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

EVERY = 5
"""One example of so many: each does up to fifty cells, every one with an engine of its own."""

Program = tuple[Subscriptions, DividedHistory]


def declared(streams: dict[str, dict[str, str]], keys: dict[str, str]) -> list[StreamDefinition]:
    return [StreamDefinition(name, Schema.declare(attributes), keys.get(name)) for name, attributes in streams.items()]


def fitting(streams: list[StreamDefinition], wanted: list[SubscriptionDefinition]) -> Subscriptions:
    """Those of the definitions that can be in one engine, in their order."""
    kept: list[SubscriptionDefinition] = []
    for definition in wanted:
        try:
            Subscriptions(streams, [*kept, definition]).engine()
        except (DefinitionError, LimitExceeded, QueryError):
            continue
        kept.append(definition)
    return Subscriptions(streams, kept)


@st.composite
def numbered(draw: st.DrawFn, events: list[tuple[str, int, Any]], starts: list[int]) -> list[Happened]:
    """Events with ids that rise with holes, as those of a broker of which a part is kept."""
    number, found = 0, []
    for (stream, time, row), start in zip(events, starts, strict=True):
        number += draw(st.sampled_from([1, 1, 1, 5]))
        found.append((stream, time, number, start, row))
    return found


@st.composite
def cayuga_programs(draw: st.DrawFn) -> Program:
    streams = declared(cayuga.STREAMS, {"S": "k", "T": "k"})
    texts = []
    for _ in range(draw(st.integers(1, 3))):
        text = draw(forecasts.cayuga_texts())
        if draw(st.booleans()):
            text = f"FILTER{{DUR <= {draw(st.integers(1, 6))}}}({text})"
        texts.append(f"SELECT * FROM {text}" if not text.startswith("SELECT") else text)
    program = draw(cayuga.programs(2)) if draw(st.integers(0, 3)) == 0 else {}
    texts += [print_query(query) for query in program.values()]
    lineage = st.sampled_from([None, None, True])
    wanted = [SubscriptionDefinition(f"q{n}", "cayuga", text, draw(lineage)) for n, text in enumerate(texts)]
    history = draw(cayuga.histories())
    events = [(h.stream, h.time, h.row) for h in history]
    happened = draw(numbered(events, [h.start for h in history]))
    return fitting(streams, wanted), DividedHistory({s.name: s for s in streams}, happened, draw(st.integers(1, 5)))


@st.composite
def ptopss_programs(draw: st.DrawFn) -> Program:
    key = draw(st.sampled_from(["k", "ty"]))
    streams = declared(ptopss.STREAMS, dict.fromkeys(ptopss.STREAMS, key))
    wanted = [
        SubscriptionDefinition(
            f"q{n}", "ptopss", draw(ptopss.subscriptions(most=4)), report=draw(st.sampled_from([None, "completions"]))
        )
        for n in range(draw(st.integers(1, 2)))
    ]
    events = draw(ptopss.histories())
    happened = draw(numbered(events, [time for _, time, _ in events]))
    return fitting(streams, wanted), DividedHistory({s.name: s for s in streams}, happened, draw(st.integers(1, 5)))


@st.composite
def sase_programs(draw: st.DrawFn) -> Program:
    streams = declared({name: schema.declared() for name, schema in sase.SCHEMAS.items()}, {})
    lineage = st.sampled_from([None, None, False])
    wanted = [
        SubscriptionDefinition(f"q{n}", "sase", draw(sase.queries()), draw(lineage))
        for n in range(draw(st.integers(1, 2)))
    ]
    events = draw(sase.histories())
    happened = draw(numbered(events, [time for _, time, _ in events]))
    return fitting(streams, wanted), DividedHistory({s.name: s for s in streams}, happened, draw(st.integers(1, 5)))


@st.composite
def window_programs(draw: st.DrawFn) -> Program:
    streams = declared({"S": windows.SCHEMA.declared()}, {"S": "ty"})
    lineage = st.sampled_from([None, None, False])
    kind = draw(st.sampled_from(["any", "by key", "within a time"]))
    some = windows.queries(windows.brief() if kind == "within a time" else None)
    asked = draw(st.lists(some, min_size=1, max_size=3))
    if kind != "any":
        asked = [replace(query, partition=(windows.TYPE,) if kind == "by key" else ()) for query in asked]
    wanted = [
        SubscriptionDefinition(f"q{n}", "window", print_window_query(query), draw(lineage))
        for n, query in enumerate(asked)
    ]
    events = [("S", time, row) for time, row in draw(windows.streams(14))]
    happened = draw(numbered(events, [time for _, time, _ in events]))
    return fitting(streams, wanted), DividedHistory({s.name: s for s in streams}, happened, draw(st.integers(1, 5)))


@st.composite
def cuts(draw: st.DrawFn, history: DividedHistory) -> list[Point]:
    """Anywhere: before all events, in a tie, at one point twice, after all of them."""
    last = history.happened[-1] if history.happened else ("", 1, 1, 1, ())
    points = st.tuples(st.integers(-1, last[1] + 2), st.integers(-1, last[2] + 1))
    return draw(st.lists(points, max_size=9))


@st.composite
def hot(draw: st.DrawFn, history: DividedHistory, plan: Plan) -> list[Any]:
    """Some values of the key."""
    found: list[Any] = []
    for part in plan.parts:
        for stream, attribute in part.keys:
            place = history.streams[stream].schema.position(attribute)
            found += [row[place] for name, _, _, _, row in history.happened if name == stream]
    values = [value for value in dict.fromkeys(found) if value is not None]
    return draw(st.lists(st.sampled_from(values), max_size=2, unique=True)) if values else []


def planned(subscriptions: Subscriptions, purpose: Purpose, scheme: str | None, draw: Any) -> Plan | None:
    """A plan by that scheme; None where it is refused, which says of whom."""
    number = st.integers(1, 4)
    numbers = draw(number), draw(st.booleans()), draw(st.one_of(st.none(), number))
    try:
        parallelism, shuffled, shards = numbers
        return plan_for(
            subscriptions, purpose, scheme=scheme, parallelism=parallelism, shuffled=shuffled, shards=shards
        )
    except DefinitionError as error:
        refused = str(error)
    assert scheme not in (None, "shards"), "something is always exact"
    assert refused.startswith(f"plan: {scheme}: subscription 'q")
    return None


def check_results(program: Program, data: st.DataObject) -> None:
    subscriptions, history = program
    note([d.query for d in subscriptions.definitions.values()])
    expected, _ = history.embedded(subscriptions)
    for scheme in [None, *SCHEMES]:
        plan = planned(subscriptions, "results", scheme, data.draw)
        if plan is None:
            event(f"{scheme} refused")
            continue
        event(f"{scheme} taken" + (", matches" if expected else ""))
        cells = plan.cells(data.draw(cuts(history)), data.draw(hot(history, plan)))
        assert history.results(subscriptions, cells) == expected, scheme


@settings(max_examples=settings().max_examples // EVERY, suppress_health_check=slow, deadline=None)
@given(cayuga_programs(), st.data())
def test_cayuga(program: Program, data: st.DataObject) -> None:
    check_results(program, data)


@settings(max_examples=settings().max_examples // EVERY, suppress_health_check=slow, deadline=None)
@given(ptopss_programs(), st.data())
def test_ptopss(program: Program, data: st.DataObject) -> None:
    check_results(program, data)


@settings(max_examples=settings().max_examples // EVERY, suppress_health_check=slow, deadline=None)
@given(sase_programs(), st.data())
def test_sase(program: Program, data: st.DataObject) -> None:
    check_results(program, data)


@settings(max_examples=settings().max_examples // EVERY, suppress_health_check=slow, deadline=None)
@given(window_programs(), st.data())
def test_windows(program: Program, data: st.DataObject) -> None:
    check_results(program, data)


@settings(max_examples=settings().max_examples // EVERY, suppress_health_check=slow, deadline=None)
@given(forecasts.played(), st.data())
def test_forecasts_and_counts(played: tuple[forecasts.Case, list[cayuga.Happening]], data: st.DataObject) -> None:
    """Counts add up to those of the whole by any plan that is not refused, also on top of what was trained before."""
    case, events = played
    streams = declared(case.streams, forecasts.KEYS if case.keyed and case.language == "cayuga" else {})
    definition = SubscriptionDefinition("q0", case.language, case.query, None, case.report, case.forecast)
    subscriptions = fitting(streams, [definition])
    named = {stream.name: stream for stream in streams}
    size = data.draw(st.integers(1, 5))
    whole = DividedHistory(named, [(h.stream, h.time, h.id, h.start, h.row) for h in events], size)
    middle = data.draw(st.integers(0, len(events)))
    early = DividedHistory(named, whole.happened[:middle], size)
    before: Model | None = None
    if data.draw(st.booleans()) and len(subscriptions):
        before = read_model(early.embedded(subscriptions)[1], "early")
    history = data.draw(st.sampled_from([whole, DividedHistory(named, whole.happened[middle:], size)]))
    expected, model = history.embedded(subscriptions, before)
    for scheme in [None, *SCHEMES]:
        plan = planned(subscriptions, "counts", scheme, data.draw)
        event(f"counts by {scheme} {'refused' if plan is None else 'taken'}")
        if plan is not None and len(subscriptions):
            cells = plan.cells(data.draw(cuts(history)), data.draw(hot(history, plan)))
            assert history.model(subscriptions, cells, before) == model, scheme
        plan = planned(subscriptions, "results", scheme, data.draw)
        if plan is not None:
            cells = plan.cells(data.draw(cuts(history)), data.draw(hot(history, plan)))
            assert history.results(subscriptions, cells, before) == expected, scheme
