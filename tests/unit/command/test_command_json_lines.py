"""Reading JSON lines: the same batches whichever way a line is read, and a place for whatever is wrong."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.command.batch import BATCH_EVENTS, Control, EventBatch, Item
from broker.command.complaint import BadInput
from broker.command.json_lines import Gathering, read_json_lines
from broker.events import Schema, StreamDefinition, UnsubscribeLine

STOCK = StreamDefinition("Stock", Schema.declare({"name": "string", "price": "float"}))
NOTE = StreamDefinition("Note", Schema.declare({"text": "string?"}))
STREAMS = {"Stock": STOCK, "Note": NOTE}


class Trickle:
    """A source that gives so many bytes at a time, as a pipe may."""

    def __init__(self, content: bytes, size: int) -> None:
        self._source = io.BytesIO(content)
        self._size = size

    def read1(self, size: int, /) -> bytes:
        return self._source.read(min(size, self._size))


def read(content: str | bytes, size: int = 2**20) -> list[Item]:
    return list(reading(content, size))


def reading(content: str | bytes, size: int = 2**20) -> Iterator[Item]:
    data = content.encode() if isinstance(content, str) else content
    return read_json_lines(Trickle(data, size), "e.jsonl", Gathering(STREAMS))


def stock(time: int, price: float = 1.0, **other: object) -> str:
    return json.dumps({"stream": "Stock", "time": time, "data": {"name": "IBM", "price": price}, **other}) + "\n"


def events(items: list[Item]) -> list[tuple[object, ...]]:
    """Every event of all batches, however they were cut."""
    found: list[tuple[object, ...]] = []
    for batch in items:
        if isinstance(batch, EventBatch):
            count = len(batch.times)
            ids: Sequence[int | None] = batch.ids or [None] * count
            starts = batch.starts or batch.times
            found += zip([batch.stream] * count, batch.times, batch.rows, ids, starts, batch.places)
    return found


def complaint(content: str | bytes) -> tuple[list[Item], str]:
    """What came before the complaint, and the complaint."""
    came: list[Item] = []
    with pytest.raises(BadInput) as caught:
        came.extend(reading(content))
    return came, str(caught.value)


def test_consecutive_events_of_one_stream_are_one_batch() -> None:
    (batch,) = read(stock(1) + stock(2, 2.5))
    assert batch == EventBatch("Stock", [1, 2], [("IBM", 1.0), ("IBM", 2.5)], None, None, [1, 2], batch.position)
    assert batch.position == len(stock(1) + stock(2, 2.5))


def test_another_stream_begins_another_batch() -> None:
    note = '{"stream": "Note", "time": 2, "data": {}}\n'
    batches = read(stock(1) + note + stock(3) + stock(4))
    assert [(b.stream, b.times) for b in batches if isinstance(b, EventBatch)] == [
        ("Stock", [1]),
        ("Note", [2]),
        ("Stock", [3, 4]),
    ]
    assert events(batches)[1] == ("Note", 2, (None,), None, 2, 2)


def test_a_batch_is_never_too_long() -> None:
    batches = read("".join(stock(time) for time in range(2 * BATCH_EVENTS + 1)))
    assert [len(b.times) for b in batches if isinstance(b, EventBatch)] == [BATCH_EVENTS, BATCH_EVENTS, 1]


def test_ids_are_given_or_left_to_whoever_takes_the_events() -> None:
    items = read(stock(1, id=-7) + "\n" + stock(2) + '{"unsubscribe": "q"}\n' + stock(3))
    assert [event[3] for event in events(items)] == [-7, 2, None]
    assert [event[5] for event in events(items)] == [1, 3, 5]


def test_a_control_line_stands_between_batches() -> None:
    first, control, last = read(stock(1) + '{"unsubscribe": "q"}\n' + stock(3))
    assert isinstance(first, EventBatch)
    assert isinstance(last, EventBatch)
    assert control == Control(UnsubscribeLine("q"), 2, control.position)


def test_starts_and_calendar_times_are_read() -> None:
    items = read(stock(5, start=3) + '{"stream": "Stock", "time": "1970-01-01T00:00:01Z", "data": ["X", 1]}\n')
    assert events(items) == [
        ("Stock", 5, ("IBM", 1.0), None, 3, 1),
        ("Stock", 1_000_000, ("X", 1), None, 1_000_000, 2),
    ]


def test_a_mark_and_carriage_returns_do_not_count() -> None:
    text = "\ufeff" + (stock(1) + "\n" + stock(2)).replace("\n", "\r\n")
    assert [event[1] for event in events(read(text))] == [1, 2]
    assert read("") == []
    assert read("\n \n") == []


LINES = st.lists(
    st.one_of(
        st.builds(stock, st.integers(0, 9), st.floats(0, 9)),
        st.builds(lambda time: stock(time, id=time), st.integers(0, 9)),
        st.builds(lambda time: stock(time, start=time - 1), st.integers(0, 9)),
        st.sampled_from(['{"stream":"Note","time":1,"data":{"text":"}\\n{"}}\n', "\n", '{"unsubscribe":"q"}\n']),
        st.builds(
            lambda text: json.dumps({"stream": "Note", "time": 1, "data": {"text": text}}) + "\n", st.text("{},é\n")
        ),
    ),
    max_size=12,
)


@given(lines=LINES, size=st.integers(1, 60))
def test_how_the_bytes_come_does_not_matter(lines: list[str], size: int) -> None:
    def without_ids(items: list[Item]) -> list[tuple[object, ...]]:
        return [event[:3] + event[4:] for event in events(items)]

    content = "".join(lines)
    assert without_ids(read(content, size)) == without_ids(read(content)) == without_ids(read(content, 1))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[1]\n", "line 3: expected a JSON object, found a list"),
        ("{\n", "line 3: expected a JSON object, found no JSON"),
        ('{"stream": "Stok", "time": 1, "data": {}}\n', "found 'Stok'; did you mean 'Stock'?"),
        ('{"stream": "Stock", "time": 1, "data": {"name": "x"}}\n', "attribute 'price': expected float"),
        ('{"stream": "Stock", "time": 1, "data": {"name": "x", "prize": 1}}\n', "did you mean 'price'?"),
        ('{"stream": "Stock", "time": 1, "time": 2, "data": {"name": "x", "price": 1}}\n', "found string 'time' twice"),
        ('{"stream": "Stock", "tim": 1, "data": {"name": "x", "price": 1}}\n', "did you mean 'time'?"),
        (stock(3, id=2**63), "line 3: id: expected an int of 64 bits"),
        (stock(3, id=True), "line 3: id: expected an int of 64 bits"),
        ('{"stream": "Stock", "time": 1, "data": {"name": "x", "price": NaN}}\n', "line 3: expected finite numbers"),
        (stock(3, more=1), "line 3: expected only stream, time, start, id, data"),
        ("[" * 100_000 + "\n", "line 3: "),
        ('{"a": [{}\n{}]}\n{}, {}\n', "line 3: expected a JSON object, found no JSON"),
        ("{}" + " " * 2**21 + "\n", "line 3: expected a line of at most 1 MiB"),
    ],
)
def test_what_came_before_a_bad_line_is_not_lost(line: str, words: str) -> None:
    came, message = complaint(stock(1) + stock(2) + line + stock(9))
    assert message.startswith("e.jsonl: line 3: ")
    assert words in message
    assert [event[1] for event in events(came)] == [1, 2]


def test_bytes_that_are_no_text_have_a_line() -> None:
    came, message = complaint(stock(1).encode() + stock(2).encode() + b'{"stream": "\xff"}\n')
    assert message.startswith("e.jsonl: line 3: expected UTF-8, found byte 0xff: iconv -f ")
    assert [event[1] for event in events(came)] == [1, 2]


def test_a_line_without_an_end_is_refused_before_memory_is_full() -> None:
    class Endless:
        given = 0

        def read1(self, size: int, /) -> bytes:
            self.given += size
            assert self.given < 2**23
            return b"x" * size

    with pytest.raises(BadInput, match="line 1: expected a line of at most 1 MiB"):
        list(read_json_lines(Endless(), "e.jsonl", Gathering(STREAMS)))
