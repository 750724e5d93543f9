"""Reasons from a journal: which records are read, what is missing and is said, and when questions are refused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doubles.process_gauges import comes_true

from broker.engine import Engine
from broker.events import DefinitionError, LimitExceeded
from broker.kernel import ReasonsWanted, Send
from broker.kernel.records import (
    BatchTaken,
    GapDeclared,
    Punctuated,
    Record,
    Retracted,
    StreamDeclared,
    SubscriptionAdded,
    TimeWasReset,
    Updated,
)
from broker.server import journal_history, journal_reasons
from broker.server.journal_history import JournalHistory
from broker.server.journal_reasons import REASONS_WAITING_MAX, JournalReasons, reasons_of
from broker.server.worker import Worker
from broker.storage import Durability, Folder, Journal
from broker.storage.records import encode
from broker.wire import AskReasons, Failure, Reasons

QUERY = "FILTER{x > x_1}(SELECT * FROM S NEXT{$1.k = $2.k} S)"
RISES = "FROM S START a FINAL c one: a -> b WHEN x < 3 two: b -> c WHEN x > 5"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    settings = Durability(fsync="os", segment_bytes=4_096, growth_bytes=4_096, record_bytes=4_096)
    journal = Journal(Folder.made(tmp_path / "data"), bytes(16), settings, 0)
    yield journal
    journal.close()


def engine(language: str = "cayuga", query: str = QUERY, **stream: Any) -> Engine:
    made = Engine()
    made.add_stream("S", {"k": "string", "x": "int"}, **stream)
    made.add_stream("Other", {"x": "int"})
    made.subscribe("q", language, query, lineage=True)
    return made


def written(journal: Journal, *records: Record) -> None:
    for record in records:
        journal.reserve()
        journal.append(*encode(record), 0)
    journal.write()


def batch(at: int, x: int, stream: str = "S") -> BatchTaken:
    return BatchTaken(stream, [at], [["a", x]], [at])


def wanted(match: str | None = None, **asked: Any) -> ReasonsWanted:
    return ReasonsWanted(b"session", ("q",), AskReasons(7, "q", match, **asked))


def taken(found: dict[str, Any]) -> list[list[int]]:
    return [[number for step in nearest["steps"] for number in step["events"]] for nearest in found["nearest"]]


def test_what_retention_has_removed_is_said(journal: Journal) -> None:
    written(journal, *(batch(at, 100 - at) for at in range(1, 200)))
    gone = journal.sealed[0]
    journal.remove([gone.name])
    found = reasons_of(journal, engine(), wanted())
    assert found["events"]["number"] == 199 - gone.last
    assert found["events"]["missing"].startswith(f"retention has removed the records before {gone.last + 1}, of times")
    with pytest.raises(DefinitionError, match=r"in the journal, found 'x'; retention has removed the records before"):
        reasons_of(journal, engine(), wanted("x"))


def test_the_newest_events_are_looked_at_and_it_is_said(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_history, "REASONS_EVENTS_MAX", 3)
    written(journal, *(batch(at, 100 - at) for at in range(1, 9)), batch(9, 0, "Other"))
    found = reasons_of(journal, engine(), wanted())
    assert found["events"] == {
        "number": 3,
        "from": 6,
        "until": 8,
        "missing": "only the newest 3 events were looked at (REASONS_EVENTS_MAX)",
    }


@pytest.mark.parametrize(
    "anew",
    [
        SubscriptionAdded("q", "cayuga", QUERY, True, None, None, {}),
        StreamDeclared("S", {"k": "string", "x": "int"}, None, "arrival", None, None),
        TimeWasReset("S", None),
    ],
)
def test_nothing_before_a_new_beginning_concerns_it(journal: Journal, anew: Record) -> None:
    written(journal, batch(1, 1), batch(2, 2), anew, batch(3, 0))
    found = reasons_of(journal, engine(), wanted())
    assert (taken(found), found["events"]) == ([[3]], {"number": 1, "from": 3, "until": 3})


def test_other_inputs_than_events(journal: Journal) -> None:
    made = engine("afa", RISES, disorder="speculate")
    made.update("q", ["more: b -> b WHEN x = 4"], start=0)
    records: list[Record] = [
        batch(1, 1),
        batch(3, 7),
        Updated("q", ["more: b -> b WHEN x = 4"], [], 0, None),
        batch(2, 4),
        Retracted([2, 99]),
        Punctuated(2, None, None),
    ]
    written(journal, *records)
    inputs = JournalHistory(journal, made, ["q"]).of("q").inputs
    assert [type(each).__name__ for each in inputs] == [
        "Event", "Event", "UpdateLine", "Event", "Retraction", "Punctuation",
    ]  # fmt: skip
    assert taken(reasons_of(journal, made, wanted(events=(1,)))) == []


def test_the_numbers_before_what_is_kept_do_not_come(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_history, "REASONS_EVENTS_MAX", 2)
    made = engine("afa", RISES, disorder="speculate", sequence="x")
    written(journal, *(batch(at, at) for at in range(1, 6)), GapDeclared("S", 6, 6))
    inputs = JournalHistory(journal, made, ["q"]).of("q").inputs
    assert str(inputs[0]) == "GapLine(stream='S', first=1, last=3)"
    assert reasons_of(journal, made, wanted())["events"]["number"] == 2


def reasons(journal: Journal, made: Engine) -> JournalReasons:
    return JournalReasons(journal, made, lambda: Worker("foretell reasons", lambda: None))


def answers(asked: JournalReasons, count: int) -> list[Send]:
    found: list[Send] = []

    def all_there() -> bool:
        found.extend(asked.advance())
        return len(found) >= count

    assert comes_true(all_there)
    return found


def test_questions_are_answered_one_after_the_other_in_copies(journal: Journal) -> None:
    written(journal, batch(1, 2))
    asked = reasons(journal, engine())
    try:
        assert [asked.ask(wanted()) for _ in range(3)] == [None] * 3
        found = answers(asked, 3)
        assert {type(each.message) for each in found} == {Reasons}
        assert found[0].message.correlation == 7
        refused = [each for each in [asked.ask(wanted()) for _ in range(REASONS_WAITING_MAX + 1)] if each is not None]
        (busy,) = [each.message for each in refused]
        assert isinstance(busy, Failure)
        assert busy.code == "busy"
    finally:
        asked.close()


def test_a_copy_that_works_too_long_is_ended(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_reasons, "REASONS_SECONDS_MAX", 0.2)
    monkeypatch.setattr(journal_reasons, "reasons_of", lambda *_: time.sleep(60))
    asked = reasons(journal, engine())
    try:
        asked.ask(wanted())
        (late,) = [each.message for each in answers(asked, 1)]
        assert isinstance(late, Failure)
        assert (late.code, late.message.partition(":")[0]) == (LimitExceeded.code, "REASONS_SECONDS_MAX")
    finally:
        asked.close()


def test_an_answer_that_is_too_large_is_refused(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_reasons, "REASONS_BYTES_MAX", 10)
    written(journal, batch(1, 2))
    asked = reasons(journal, engine())
    try:
        asked.ask(wanted())
        (large,) = [each.message for each in answers(asked, 1)]
        assert isinstance(large, Failure)
        assert large.message.startswith("REASONS_BYTES_MAX: these reasons have ")
    finally:
        asked.close()
