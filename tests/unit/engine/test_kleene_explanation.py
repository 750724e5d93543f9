"""What `explain` says of SASE+ subscriptions in an engine, and that an event touches no more than it says."""

from __future__ import annotations

from broker.automaton.diagram import draw
from broker.engine import Engine, Options

RISING = "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND a[i].p > avg(a[..i-1].p) AND %s }"
BEHIND = "PATTERN SEQ(S a, ~(S n), S b) WHERE skip_till_next_match(a, b) { [k] AND %s } WITHIN 1000"
TYPED = "a.ty = 'A' AND n.ty = 'N' AND b.ty = 'B'"


def engine(off: tuple[str, ...] = (), **queries: str) -> Engine:
    made = Engine(Options(executors_off=off))
    made.add_stream("S", {"ty": "string", "k": "int", "p": "float"})
    for name, query in queries.items():
        made.subscribe(name, language="sase", query=query)
    return made


def test_explain_says_how_runs_are_kept_and_shared() -> None:
    query = RISING % "b.p < a[a.LEN].p" + " WITHIN 9"
    lines = engine(one=query, same=query, other=BEHIND % TYPED).explain()
    assert "one: how runs are kept: columns of numbers" in lines
    assert "other: how runs are kept: runs one by one" in lines
    assert "other: no n between a and b: by the index: n.ty = 'N'; only the newest is kept by k" in lines
    assert "patterns: 3 subscriptions with 2 sets of runs" in lines
    assert "patterns: 5 conditions on single events, 4 of them different, in the index" in lines


def test_equal_subscriptions_are_drawn_once() -> None:
    query = BEHIND % TYPED
    drawn = draw(engine(one=query, same=query).diagram(), "text")
    assert drawn.count("one, same (match)") == 1
    assert "if ignore: NOT begin" in drawn


def test_negated_events_are_marks_which_no_one_scans() -> None:
    """However many negated events come, each key has one mark; those that fail their own condition leave none."""
    made = engine(q=BEHIND % TYPED)
    made.publish("S", [1, 2], [("A", 0, 1.0), ("A", 1, 1.0)])
    for time in range(3, 503):
        made.publish("S", [time], [("N", 0, float(time))])
    assert made.statistics()["pattern_negated"] == 2, "a mark for each of both keys that have runs, and no more"
    for time in range(503, 603):
        made.publish("S", [time], [("X", 0, 1.0)])
    assert made.statistics()["pattern_negated"] == 2
    [match] = made.publish("S", [603, 604], [("B", 0, 1.0), ("B", 1, 1.0)])
    assert match.bindings == {"a": [2], "b": [604]}


def test_an_event_touches_no_subscription_whose_conditions_it_fails() -> None:
    """Of a thousand with constants of their own, the index finds the one that the event concerns."""
    text = BEHIND.replace("[k]", "[ty]")
    numbers = range(0, 3_000, 3)
    queries = {f"q{n}": text % f"a.k = {n} AND n.k = {n + 1} AND b.k = {n + 2}" for n in numbers}
    made = engine(("groups",), **queries)
    assert "patterns: 3000 conditions on single events, 3000 of them different, in the index" in made.explain()
    made.publish("S", [1], [("A", 30, 1.0)])
    assert made.statistics()["pattern_runs"] == 1
    taken = [m for lane in made.program.machines.lanes.values() for m in lane.matchers if m.taken]
    assert len(taken) == 1
    made.publish("S", [2], [("A", 31, 1.0)])
    assert made.statistics()["pattern_negated"] == 1
    assert len(made.publish("S", [3], [("A", 32, 1.0)])) == 0
