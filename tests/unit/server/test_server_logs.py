"""What the operator reads: one line an event whatever is in it, one line a second at most for each complaint."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.server.logs import LOG, Complaints, Formatter, open_log, say


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    handlers, level, propagate = LOG.handlers[:], LOG.level, LOG.propagate
    yield
    LOG.handlers[:], LOG.propagate = handlers, propagate
    LOG.setLevel(level)


def logged(form: str, level: str = "info") -> io.StringIO:
    stream = io.StringIO()
    open_log(level, form, stream)
    return stream


def test_json_has_the_fields_as_they_are() -> None:
    stream = logged("json")
    say(logging.INFO, "session opened", user="ann", number=7)
    line = json.loads(stream.getvalue())
    assert line.pop("time").endswith("Z")
    assert line == {"level": "info", "event": "session opened", "user": "ann", "number": 7}


def test_text_is_for_people() -> None:
    stream = logged("text")
    say(logging.WARNING, "connection refused", reason="no key", count=2)
    assert stream.getvalue().endswith(' warning connection refused reason="no key" count=2\n')


def test_levels_are_kept_and_can_change() -> None:
    stream = logged("text", "warning")
    say(logging.INFO, "unheard")
    assert stream.getvalue() == ""
    stream = logged("text", "debug")
    say(logging.DEBUG, "heard")
    assert "heard" in stream.getvalue()


@given(st.text(), st.sampled_from(["text", "json"]))
def test_nothing_breaks_a_line(text: str, form: str) -> None:
    record = logging.LogRecord("foretell", logging.INFO, "", 0, "event", None, None)
    record.fields = {"what": text}
    line = Formatter(form == "json").format(record)
    assert "\n" not in line
    assert "\x1b" not in line
    if form == "json":
        assert json.loads(line)["what"] == text


def test_a_traceback_is_one_field() -> None:
    for form in ("text", "json"):
        stream = logged(form)
        try:
            raise RuntimeError("a mistake")
        except RuntimeError:
            LOG.exception("a request failed")
        assert stream.getvalue().count("\n") == 1
        assert "RuntimeError: a mistake" in stream.getvalue()


def test_complaints_are_counted_and_told_once() -> None:
    stream = logged("json")
    complaints = Complaints()
    for number in range(1_000):
        complaints.add("connection refused", address=number)
    complaints.add("request refused", code="limit")
    complaints.report()
    complaints.report()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line["count"]) for line in lines] == [("connection refused", 1_000), ("request refused", 1)]
    assert lines[0]["address"] == 999
