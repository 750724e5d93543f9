"""What subscriptions find does not depend on the order in which they were registered, nor on how it came about.

They publish streams and read those of others. Each order of registration, replacing one in between, and a snapshot give
the same matches.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from broker.engine import Engine

TEXTS = {  # all streams of results have numbers v and texts k
    "f": ("window", "FROM S BY k WINDOW EVERY 4 us AGGREGATE sum(x) AS v, last(k) AS k PUBLISH F"),
    "g": ("window", "FROM S BY k WINDOW EVERY 4 us AGGREGATE count(*) AS v, last(k) AS k PUBLISH G"),
    "h": ("cayuga", "SELECT x AS v, k FROM FILTER{x > 0}(S) PUBLISH H"),
    "i": ("sase", "PATTERN SEQ(S a, ~(S b)) WHERE skip_till_any_match(a, b) { [k] } WITHIN 3 us "
                  "RETURN a.x AS v, a.k AS k PUBLISH I"),
    "j": ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { a.x < b.x } WITHIN 6 us "
                  "RETURN b.x AS v, b.k AS k PUBLISH H"),
    "k": ("cayuga", "SELECT v_1 AS v, k FROM F NEXT{$2.k = $1.k} G PUBLISH I"),
    "fg": ("sase", "PATTERN SEQ(F f, G g) WHERE skip_till_any_match(f, g) { g.time = f.time } WITHIN 9 us"),
    "gf": ("sase", "PATTERN SEQ(G g, F f) WHERE skip_till_any_match(g, f) { g.time = f.time } WITHIN 9 us"),
    "hi": ("sase", "PATTERN SEQ(H a, I b) WHERE skip_till_next_match(a, b) { a.v <= b.v } WITHIN 9 us"),
    "ffi": ("ptopss", "FROM F, I\na ON F: v > 0\nb ON I: v > 0\nMATCH a, b WITHIN 9 us"),
    "hh": ("afa", "FROM H REGISTER n INT = 0 START s FINAL e s -> m SET n = v m -> e WHEN v > n SET n = v"),
    "w": ("window", "FROM H WINDOW EVERY 3 EVENTS AGGREGATE first(v) AS a, last(v) AS b"),
}  # fmt: skip


def made(names: list[str]) -> Engine:
    """An engine with these subscriptions, publishers of a stream that another one reads before that one."""
    engine = Engine()
    engine.add_stream("S", {"k": "string", "x": "int"})
    waiting = list(names)
    while waiting:
        ready = [name for name in waiting if not _needs(name, engine)]
        engine.subscribe(ready[0], *TEXTS[ready[0]])
        waiting.remove(ready[0])
    return engine


def _needs(name: str, engine: Engine) -> bool:
    read = set(re.findall(r"\b[F-I]\b", TEXTS[name][1].split(" PUBLISH ")[0]))
    return not read <= engine.published.keys()


def played(engine: Engine, events: list[Any], replaced: str, at: int, cut: int) -> Counter[str]:
    found: list[Any] = []
    for number, (time, key, x) in enumerate(events):
        if number == at:
            found += engine.replace(replaced, TEXTS[replaced][1])
        if number == cut:
            engine = Engine.restore(engine.snapshot())
        found += engine.publish("S", [time], [(key, x)])
    return Counter(repr(match.line()) for match in [*found, *engine.finish()])


EVENTS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("KL"), st.integers(0, 3)), min_size=3, max_size=14)


@given(st.data(), EVENTS, st.integers(0, 14), st.integers(0, 14))
def test_any_order_of_registration_gives_the_same_matches(
    data: st.DataObject, steps: list[Any], at: int, cut: int
) -> None:
    events, time = [], 0
    for step, key, x in steps:
        time += step
        events.append((time, key, x))
    names = data.draw(st.permutations(sorted(TEXTS)))
    replaced = data.draw(st.sampled_from(["fg", "gf", "hi", "ffi", "hh", "w"]))
    assert played(made(names), events, replaced, at, cut) == played(made(sorted(TEXTS)), events, replaced, at, -1)


@given(st.data(), EVENTS)
def test_promises_and_batches_change_no_match(data: st.DataObject, steps: list[Any]) -> None:
    """What waits for time to pass becomes an event of its own moment, whatever shows that this moment has passed."""
    times, time = [], 0
    for step, _, _ in steps:
        time += step
        times.append(time)
    rows = [(key, x) for _, key, x in steps]
    alone, other = made(sorted(TEXTS)), made(sorted(TEXTS))
    wanted = [match for at in range(len(rows)) for match in alone.publish("S", times[at : at + 1], rows[at : at + 1])]
    found: list[Any] = []
    begin = 0
    while begin < len(rows):
        end = data.draw(st.integers(begin + 1, len(rows)))
        found += other.publish("S", times[begin:end], rows[begin:end])
        following = times[end] if end < len(rows) else time + 9
        if following > times[end - 1]:
            for promised in sorted(data.draw(st.sets(st.integers(times[end - 1] + 1, following)))):
                found += other.punctuate(promised)
        begin = end
    found, wanted = [*found, *other.finish()], [*wanted, *alone.finish()]
    assert Counter(repr(match.line()) for match in found) == Counter(repr(match.line()) for match in wanted)


def test_published_windows_of_the_clock_last_from_their_beginning_to_their_end() -> None:
    """Each is followed by the next one, also where both are told at once."""
    engine = Engine()
    engine.add_stream("S", {"x": "int"})
    engine.subscribe("w", "window", "FROM S WINDOW EVERY 10 us AGGREGATE from() AS since, sum(x) AS x PUBLISH W")
    engine.subscribe("next", query="SELECT since_1, x_1, since, x, DUR AS lasted FROM W NEXT{} W")
    found = [*engine.publish("S", [1, 3, 12, 15, 24, 57, 61], [(at,) for at in range(7)]), *engine.punctuate(100)]
    told = [(match.end, *match.data.values()) for match in found if match.subscription == "next"]
    assert told == [(19, 0, 1, 10, 5, 20), (29, 10, 5, 20, 4, 20), (59, 20, 4, 50, 5, 40), (69, 50, 5, 60, 6, 20)]
    assert [match.start for match in found if match.subscription == "next"] == [0, 10, 20, 50]


def test_a_reader_that_comes_before_a_promise_reads_what_the_promise_completes() -> None:
    engine = Engine()
    engine.add_stream("S", {"x": "int"})
    engine.subscribe("w", "window", "FROM S WINDOW EVERY 10 us AGGREGATE sum(x) AS x PUBLISH W")
    engine.publish("S", [1, 2], [(1,), (2,)])
    engine.subscribe("late", query="SELECT x FROM W")
    assert [(match.subscription, match.start, match.end) for match in engine.punctuate(30)] == [
        ("w", 1, 2),
        ("late", 0, 9),
    ]


def test_windows_that_end_together_are_joined_whatever_was_first() -> None:
    events = [(at, "K", at) for at in range(0, 16, 2)]
    for names in permutations(("f", "g", "fg", "gf")):
        found = played(made(list(names)), events, "fg", -1, 3)
        assert sum(count for line, count in found.items() if "'fg'" in line) == 4
        assert not any("'gf'" in line for line in found), "F comes before G"
