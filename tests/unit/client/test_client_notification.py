"""A notification is a view of what came."""

from __future__ import annotations

from client import Notification


def test_attributes_are_those_of_the_line_and_none_where_they_do_not_apply() -> None:
    line = {
        "kind": "match",
        "subscription": "s",
        "id": "f00",
        "start": 1,
        "end": 3,
        "data": {"x": 1},
        "lineage": [1, 3],
    }
    match = Notification(line)
    assert match.line() is line
    assert (match.kind, match.subscription, match.id, match.start, match.end) == ("match", "s", "f00", 1, 3)
    assert (match.data, match.lineage, match.bindings, match.missed) == ({"x": 1}, [1, 3], None, None)
    assert match == Notification(dict(line))
    assert match != Notification({**line, "id": "other"})
    assert "f00" in repr(match)


def test_a_completion_has_a_witness_and_a_number() -> None:
    line = {"kind": "match", "subscription": "s", "id": "f00", "start": 1, "end": 3, "data": {}}
    completion = Notification({**line, "lineage": [1, 3], "bindings": {"a": [1], "b": [3]}, "tuples": 2**70})
    assert (completion.bindings, completion.tuples, completion.incomplete) == ({"a": [1], "b": [3]}, 2**70, False)
    limited = Notification({**line, "incomplete": True})
    assert (limited.bindings, limited.tuples, limited.incomplete) == (None, None, True)


def test_an_incomplete_says_what_is_missing() -> None:
    gap = Notification({"kind": "incomplete", "subscription": "s", "limit": "queue_bytes", "since": 7, "missed": 12})
    assert (gap.kind, gap.limit, gap.since, gap.missed) == ("incomplete", "queue_bytes", 7, 12)
    assert gap.time is None
    forgot = Notification({"kind": "incomplete", "subscription": "s", "id": "f00", "limit": "nodes_max", "since": 5})
    assert (forgot.limit, forgot.time, forgot.missed, forgot.since) == ("nodes_max", None, None, 5)
    assert (gap.id, gap.start, gap.end, gap.lineage, gap.data) == (None, None, None, None, {})
