"""The engine against the executable meaning, on random programs and random streams, also beside subscriptions of other
languages that read the same events.

Batches are short here; test_laws_columns holds long ones to what is found event by event.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from doubles.read_columns import in_columns
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from strategies.typed_queries import SCHEMAS, STREAMS, Happening, histories, programs

from broker.algebra.cayuga.lowering import lower
from broker.algebra.cayuga.semantics import evaluate_queries
from broker.algebra.operators import Query
from broker.algebra.semantics import Bag, Occurrence
from broker.engine import Engine, Match, Options
from broker.language.cayuga.printer import print_query
from broker.language.cayuga.syntax import CelQuery as Syntax

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
heavy = settings(max_examples=5 * settings().max_examples, suppress_health_check=slow)
medium = settings(max_examples=2 * settings().max_examples, suppress_health_check=slow)
light = settings(max_examples=settings().max_examples, suppress_health_check=slow)

BESIDE = (
    ("window", "FROM T WINDOW EVERY 2 EVENTS AGGREGATE count(*) AS n"),
    ("window", "FROM S BY k WINDOW LAST 3 EVENTS AGGREGATE sum(a) AS n"),
    ("sase", "PATTERN SEQ(T a, S b) WHERE skip_till_next_match(a, b) { b.a > a.a } WITHIN 9"),
)

Found = tuple[str, tuple[Any, ...], int, int, tuple[int, ...]]


def typed(program: dict[str, Syntax]) -> dict[str, Query]:
    schemas = dict(SCHEMAS)
    found = {}
    for name, syntax in program.items():
        found[name] = lower(syntax, "", schemas.get, list)
        if syntax.publish is not None:
            schemas[syntax.publish] = found[name].schema
    return found


def bags(history: list[Happening]) -> dict[str, Bag]:
    streams: dict[str, Bag] = {name: [] for name in STREAMS}
    for h in history:
        streams[h.stream].append(Occurrence(h.row, h.start, h.time, (h.id,)))
    return streams


def meaning(program: dict[str, Syntax], history: list[Happening]) -> Counter[Found]:
    results = evaluate_queries(typed(program), bags(history))
    return Counter((name, exact(e.row), e.start, e.end, e.lineage) for name, bag in results.items() for e in bag)


def exact(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values with their types: 1, 1.0 and TRUE are different results."""
    return tuple((type(v).__name__, v) for v in row)


def found(matches: list[Match]) -> Counter[Found]:
    return Counter(
        (m.subscription, exact(tuple(m.data.values())), m.start, m.end, tuple(m.lineage or ())) for m in matches
    )


def fresh(options: Options | None = None) -> Engine:
    engine = Engine(options)
    for name, attributes in STREAMS.items():
        engine.add_stream(name, attributes)
    return engine


def subscribe(engine: Engine, program: dict[str, Syntax]) -> None:
    for name, syntax in program.items():
        text = print_query(syntax)
        note(f"{name}: {text}")
        engine.subscribe(name, query=text, lineage=True)


def feed(engine: Engine, history: list[Happening]) -> list[Match]:
    """Event by event: the smallest batches."""
    matches: list[Match] = []
    for h in history:
        matches += engine.publish(h.stream, [h.time], [h.row], [h.id], [h.start])
    return matches


def feed_in_batches(engine: Engine, history: list[Happening]) -> list[Match]:
    """All consecutive events of one stream at once."""
    matches: list[Match] = []
    at = 0
    while at < len(history):
        upto = at
        while upto < len(history) and history[upto].stream == history[at].stream:
            upto += 1
        part = history[at:upto]
        columns = [h.time for h in part], [h.row for h in part], [h.id for h in part], [h.start for h in part]
        matches += in_columns(engine.publish(part[0].stream, *columns))
        at = upto
    return matches


@heavy
@given(programs(), histories(), st.sets(st.sampled_from(BESIDE), max_size=2))
def test_engine_finds_what_the_semantics_says(
    program: dict[str, Syntax], history: list[Happening], beside: set[tuple[str, str]]
) -> None:
    engine = fresh()
    subscribe(engine, program)
    for number, (language, text) in enumerate(sorted(beside)):
        engine.subscribe(f"beside{number}", language, text)
    matches = feed_in_batches(engine, history)
    engine.check_invariants()
    assert found([m for m in matches if m.subscription in program]) == meaning(program, history)


switches = st.builds(
    Options,
    indexes=st.booleans(),
    arcs_few=st.sampled_from([0, 0, 2, 8]),
)


@medium
@given(programs(most=6), histories(), switches)
def test_switches_and_batch_sizes_change_nothing(
    program: dict[str, Syntax], history: list[Happening], options: Options
) -> None:
    plain, other = fresh(), fresh(options)
    for engine in (plain, other):
        subscribe(engine, program)
    batched = feed_in_batches(plain, history)
    single = feed(other, history)
    other.check_invariants()
    assert found(batched) == found(single)
    assert sorted(m.id for m in batched) == sorted(m.id for m in single)
    assert len({m.id for m in batched}) == len(batched), "two results with one id"


@light
@given(programs(), histories())
def test_a_merged_program_is_its_automata_side_by_side(program: dict[str, Syntax], history: list[Happening]) -> None:
    merged = fresh()
    subscribe(merged, program)
    together = feed(merged, history)
    for name in program:
        if any(s.publish is not None for s in program.values()):
            break  # a reader cannot be alone
        alone = fresh()
        subscribe(alone, {name: program[name]})
        own = [m for m in together if m.subscription == name]
        assert sorted(own) == sorted(feed(alone, history))


@light
@given(programs(), programs(), histories(), st.data())
def test_coming_and_going_disturbs_nobody(
    program: dict[str, Syntax], guests: dict[str, Syntax], history: list[Happening], data: st.DataObject
) -> None:
    """Guests come and go at random; residents see what they would have seen alone, guests what happened meanwhile."""
    guests = {f"guest-{name}": Syntax(s.source, None) for name, s in guests.items() if reads_only_declared(s)}
    quiet, busy = fresh(), fresh()
    subscribe(quiet, program)
    subscribe(busy, program)
    calm = feed(quiet, history)
    present: dict[str, int | None] = {}
    seen: list[Match] = []
    expected: Counter[Found] = Counter()
    since: int | None = None
    for h in history:
        for name, syntax in guests.items():
            if data.draw(st.integers(0, 3)) == 0:
                if name in present:
                    busy.unsubscribe(name)
                    expected += visit(name, syntax, history, present.pop(name), h.id)
                else:
                    busy.subscribe(name, query=print_query(syntax), lineage=True)
                    present[name] = since
                busy.check_invariants()
        seen += feed(busy, [h])
        since = h.time
    for name, arrived in present.items():
        expected += visit(name, guests[name], history, arrived, len(history) + 1)
    busy.check_invariants()
    assert sorted(m for m in seen if m.subscription in program) == sorted(calm)
    assert found([m for m in seen if m.subscription in guests]) == expected
    for name in [*present, *reversed(program)]:
        busy.unsubscribe(name)
    busy.check_invariants()
    assert busy.statistics()["states"] == 0
    assert busy.statistics()["runs"] == 0


def reads_only_declared(syntax: Syntax) -> bool:
    return all(f"'P{n}'" not in repr(syntax.source) for n in range(5))


def visit(name: str, syntax: Syntax, history: list[Happening], since: int | None, until: int) -> Counter[Found]:
    """What a guest sees: events of later epochs than the one in which it came, up to the event at which it went."""
    part = [h for h in history if (since is None or h.time > since) and h.id < until]
    return meaning({name: syntax}, part)


@light
@given(programs(), histories(), st.data())
def test_a_snapshot_at_any_point_changes_nothing(
    program: dict[str, Syntax], history: list[Happening], data: st.DataObject
) -> None:
    whole, engine = fresh(), fresh()
    subscribe(whole, program)
    subscribe(engine, program)
    at = data.draw(st.integers(0, len(history)))
    before = feed(engine, history[:at])
    saved = engine.snapshot()
    engine = Engine.restore(saved)
    engine.check_invariants()
    assert Engine.restore(engine.snapshot()).snapshot() == engine.snapshot()
    after = feed(engine, history[at:])
    engine.check_invariants()
    assert sorted(before + after) == sorted(feed(whole, history))
    assert engine.statistics()["runs"] == whole.statistics()["runs"]
