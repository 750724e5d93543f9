"""Groups of SASE+ patterns with a negation at their end: runs that are due at the same time."""

from __future__ import annotations

from broker.engine import Engine

TEXT = (
    "PATTERN SEQ(S a, S b, ~(S n)) WHERE skip_till_next_match(a, b) {{ [ty] AND a.p > {begins} AND b.w >= {ends}"
    " AND n.p >= {kills} }} WITHIN 6 RETURN b.p AS p"
)


def test_an_earlier_run_that_becomes_due_at_the_same_time_comes_first() -> None:
    """The third event completes the second for one member, the fourth both for the other."""
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "w": "float", "p": "float"})
    engine.subscribe("late", language="sase", query=TEXT.format(begins=0, ends=3, kills=3), lineage=True)
    engine.subscribe("soon", language="sase", query=TEXT.format(begins=0.5, ends=0.5, kills=0), lineage=True)
    rows = [("B", 0.5, 0.5), ("B", 1.5, 2.5), ("B", 1.5, 2.5), ("B", 3.0, 2.5)]
    assert list(engine.publish("S", [17, 17, 19, 22], rows)) == []
    found = [(match.subscription, match.lineage) for match in engine.publish("S", [24], [("A", 3.0, 1.5)])]
    assert found == [("late", [1, 4]), ("late", [2, 4])]
    assert "groups: 2 subscriptions in 1 group" in engine.explain()
