"""The machine of register automata over events in order: what becomes of its results, which lie in columns."""

from __future__ import annotations

import gc
import random

from broker.engine import Engine
from broker.engine.executors.speculative.machine import RegisterMachine
from broker.engine.executors.speculative.timeline import Timeline
from broker.engine.matches.sources import MadeMatches
from broker.engine.results import Results
from broker.engine.shares import MADE_AT_ONCE_MAX, taken_out

PAIR = """FROM S
REGISTER sum INT = 0
START a
FINAL c
x: a -> b WHEN v > {least} SET sum = v
y: b -> c WHEN v > 0
WITHIN 9"""


def engine_of(count: int) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"v": "int"})
    for least in range(count):
        engine.subscribe(f"above_{least}", language="afa", query=PAIR.format(least=least))
    return engine


def test_shares_of_results_in_columns_keep_their_own_results_only() -> None:
    times = list(range(1, MADE_AT_ONCE_MAX))
    rows = [(time % 11,) for time in times]
    engine, again = engine_of(8), engine_of(8)
    wanted = sorted(match for time, row in zip(times, rows) for match in again.publish("S", [time], [row]))
    found = engine.publish("S", times, rows)
    shares = taken_out(found)
    assert len(wanted) > MADE_AT_ONCE_MAX
    assert len(list(found)) == 0
    assert sorted(match for share in shares for match in share.results) == wanted
    for share in shares:
        assert isinstance(share.results, Results)
        assert all(each and isinstance(each.source, MadeMatches) for each in share.results.read().composed)


def test_results_are_the_same_whenever_they_are_read() -> None:
    """Also when thousands have come, and the columns in which they lie have been left, meanwhile."""
    times = list(range(1, 3_001))
    rows = [(time % 11,) for time in times]
    engine, again = engine_of(3), engine_of(3)
    batches = [(times[at : at + 100], rows[at : at + 100]) for at in range(0, len(times), 100)]
    wanted = [list(again.publish("S", *batch)) for batch in batches]
    unread = [engine.publish("S", *batch) for batch in batches]
    assert [list(found) for found in reversed(unread)] == wanted[::-1]
    assert sum(map(len, unread)) == sum(map(len, wanted)) > 3_000


def test_members_with_a_within_of_their_own_share_runs_and_have_results_of_their_own_lifetimes() -> None:
    engine = Engine()
    engine.add_stream("S", {"v": "float"})
    text = "FROM S START a FINAL c x: a -> b WHEN v > 1 w: b -> b WHEN v > 2 y: b -> c WHEN v < 0 WITHIN {within}"
    for within in (3, 5, 9):
        engine.subscribe(f"within_{within}", language="afa", query=text.format(within=within))
    assert "3 of them differ in one constant only and share all states" in str(engine.explain())
    found = [match for time, v in ((1, 2.0), (3, 3.0), (5, -1.0)) for match in engine.publish("S", [time], [(v,)])]
    assert sorted((match.subscription, match.lifetime) for match in found) == [
        ("within_3", (5, 6)), ("within_5", (5, 6)), ("within_5", (5, 8)), ("within_9", (5, 10)), ("within_9", (5, 12)),
    ]  # fmt: skip


def test_members_with_texts_of_their_own_share_runs_without_a_key() -> None:
    engine = Engine()
    engine.add_stream("S", {"s": "string?", "v": "float"})
    text = "FROM S START a FINAL c x: a -> b WHEN s = '{one}' AND v > {least} y: b -> c WHEN s = '{other}'"
    for one, other, least in (("A", "B", 1), ("B", "A", 1), ("A", "A", 2), ("A", "B", 3)):
        query = text.format(one=one, other=other, least=least)
        engine.subscribe(f"{one}{other}{least}", language="afa", query=query)
    assert "4 of them differ in 3 constants only and share all states" in str(engine.explain())
    rows: list[tuple[str | None, float]] = [("A", 2.5), ("B", 2.0), ("A", 3.5), ("A", 0.0), (None, 9.0), ("B", 0.0)]
    found = [match.subscription for at, row in enumerate(rows) for match in engine.publish("S", [at], [row])]
    assert found == ["AB1", "BA1", "AA2"]


WAIT = """FROM S
START begin
FINAL done
up: begin -> high WHEN name = '{first}' AND v > {least}
stay: high -> high WHEN name = '{second}' AND v >= {least} OR name = '{first}'
down: high -> done WHEN name = '{second}' AND v < {least}
WITHIN 40"""


def test_subscriptions_that_want_other_texts_find_what_each_finds_alone() -> None:
    """Also those that want the same texts, and events without any."""
    chance = random.Random(11)
    texts = []
    for _ in range(24):
        first, second = chance.sample("ABCDEF", 2)
        texts.append(WAIT.format(first=first, second=second, least=chance.choice((2, 4))))
    times = list(range(1, 400))
    rows = [(chance.choice((*"ABCDEFG", None)), chance.randrange(7)) for _ in times]

    def played(asked: dict[str, str]) -> list[tuple[str, int, int]]:
        engine = Engine()
        engine.add_stream("S", {"name": "string?", "v": "int"})
        for name, text in asked.items():
            engine.subscribe(name, language="afa", query=text)
        found = engine.publish("S", times, rows)
        return sorted((match.subscription, match.start, match.end) for match in found)

    together = played({f"s{number}": text for number, text in enumerate(texts)})
    assert len(together) > 20
    alone = [match for number, text in enumerate(texts) for match in played({f"s{number}": text})]
    assert together == sorted(alone)


def timelines() -> int:
    """How many there are in this process, without those that are only to be collected."""
    gc.collect()
    return sum(isinstance(each, Timeline) for each in gc.get_objects())


def test_events_are_forgotten_while_runs_wait_for_a_long_time() -> None:
    """A key whose events have all been forgotten, and that then has new ones, is cleaned again, also when it is saved
    in between."""
    before = timelines()
    engine = Engine()
    engine.add_stream("S", {"k": "string", "v": "float"})
    text = "FROM S BY k START a FINAL c x: a -> b WHEN v > 4 w: b -> b WHEN v > 2 y: b -> c WHEN v < 1 WITHIN 1000000"
    engine.subscribe("q", language="afa", query=text)
    draw = random.Random(1)
    for batch in range(100):
        times = [100 * batch + at for at in range(100)]
        engine.publish("S", times, [(f"k{time % 10}", float(draw.randrange(6))) for time in times])
        engine.check_invariants()
        if batch % 30 == 29:
            saved = engine.snapshot()
            engine = Engine.restore(saved)
            assert engine.snapshot() == saved
    assert engine.statistics()["speculative_keys"] > 0
    assert timelines() - before < 100
    assert engine.statistics()["speculative_events"] < 200


def machines() -> list[RegisterMachine]:
    return [each for each in gc.get_objects() if isinstance(each, RegisterMachine)]


def test_arcs_without_events_leave_nothing_behind_in_the_lists() -> None:
    others = machines()
    engine = Engine()
    engine.add_stream("S", {"k": "string", "v": "float"})
    text = "FROM S REGISTER t STRING = '' START a FINAL d x: a -> b SET t = k m: b ~> c WHEN t = 'k' y: c -> d WITHIN 5"
    engine.subscribe("q", language="afa", query=text)
    found = sum([len(engine.publish("S", [time], [("kl"[time % 2], 0.0)])) for time in range(200)])
    (machine,) = [each for each in machines() if not any(each is other for other in others)]
    table = machine.together.groups[0].speculation.table
    assert found > 50
    assert 0 < table.size < 100
    assert len(table.objects) < 10
