"""Any text is an input or an EventError that names its line; never anything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events import (
    LARGEST,
    LONGEST_LINE,
    Event,
    EventError,
    Punctuation,
    Retraction,
    Schema,
    StreamDefinition,
    SubscribeLine,
    UnsubscribeLine,
    UpdateLine,
    parse_line,
    row_from_mapping,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["stream", "time", "start", "id", "data", "retract", "punctuation", "where", "subscribe", "unsubscribe", "update"]
)
INNER_KEYS = st.sampled_from(
    ["name", "language", "query", "lineage", "report", "forecast", "subscription", "insert", "delete", "from", "to"]
)
LINES = st.dictionaries(KEYS, JSON | st.integers(0, 9) | st.dictionaries(INNER_KEYS, JSON), max_size=5)
INPUTS = Event | Punctuation | Retraction | SubscribeLine | UnsubscribeLine | UpdateLine


def read_or_refused(text: str) -> None:
    refusal: EventError | None = None
    try:
        assert isinstance(parse_line(text, 7), INPUTS)
    except EventError as error:
        refusal = error
    if refusal is not None:
        assert refusal.line == 7
        assert str(refusal).startswith("line 7: ")
        assert "expected" in str(refusal)
        assert "found" in str(refusal)
        assert "\n" not in str(refusal)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    read_or_refused(text)


@given(LINES | JSON, st.booleans())
def test_any_json_is_read_or_refused(value: object, ascii_only: bool) -> None:
    read_or_refused(json.dumps(value, ensure_ascii=ascii_only))


@given(LINES, st.integers(0, 200), st.characters())
def test_a_damaged_line_is_read_or_refused(value: object, at: int, letter: str) -> None:
    text = json.dumps(value)
    read_or_refused(text[:at] + letter + text[at + 1 :])


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.integers(-LARGEST, LARGEST),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.just("é\n"),
    ),
)
def test_events_are_read_as_they_were_written(
    stream: str, time: int, identity: int | None, data: dict[str, object]
) -> None:
    line: dict[str, object] = {"stream": stream, "time": time, "data": data}
    if identity is not None:
        line["id"] = identity
    assert parse_line(json.dumps(line), 1) == Event(stream, time, time, identity, data)  # type: ignore[arg-type]


def test_events() -> None:
    text = '{"stream": "Stock", "time": "1970-01-01T00:00:01Z", "start": 5, "data": ["IBM", 101.5, null]}'
    assert parse_line(text, 1) == Event("Stock", 1_000_000, 5, None, ("IBM", 101.5, None))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"retract": 5}', Retraction(5)),
        ('{"punctuation": 9}', Punctuation(9)),
        ('{"punctuation": "1970-01-01", "stream": "S", "where": "a = 1"}', Punctuation(0, "S", "a = 1")),
        ('{"unsubscribe": "jumps"}', UnsubscribeLine("jumps")),
        (
            '{"subscribe": {"name": "jumps", "language": "cayuga", "query": "q"}}',
            SubscribeLine("jumps", "cayuga", "q"),
        ),
        (
            '{"subscribe": {"name": "j", "language": "sase", "query": "q", "lineage": false, "report": "all", '
            '"forecast": {"within": 10}}}',
            SubscribeLine("j", "sase", "q", False, "all", {"within": 10}),
        ),
        (
            '{"update": {"subscription": "j", "insert": ["a"], "delete": ["b", "c"], "from": 1, "to": 2}}',
            UpdateLine("j", ("a",), ("b", "c"), 1, 2),
        ),
        ('{"update": {"subscription": "j", "delete": ["b"]}}', UpdateLine("j", (), ("b",))),
    ],
)
def test_other_lines(text: str, expected: object) -> None:
    assert parse_line(text, 1) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a JSON object, found an empty line"),
        ("[1]", "expected a JSON object, found a list"),
        ("{'a': 1}", "found no JSON at column 2"),
        ('{"stream": "S"} x', "found no JSON at column 17"),
        ('{"stream": "S", "stream": "T"}', "expected each key once, found string 'stream' twice"),
        ('{"stream": "S", "time": 1, "data": {"a": 1, "a": 2}}', "found string 'a' twice"),
        ('{"stream": "S", "time": 1, "data": {"a": NaN}}', "expected finite numbers, found NaN"),
        ('{"stream": "S", "time": 1, "data": {"a": -Infinity}}', "found -Infinity"),
        ('{"stream": "S", "time": 1, "data": {"a": 1e999}}', "'a': expected a finite number"),
        ('{"stream": "S", "time": 1, "data": {"a": "\\ud800"}}', "half of a surrogate pair"),
        ('{"stream": "S", "time": 1, "data": {"a": ' + "9" * 5000 + "}}", "too many digits"),
        ('{"stream": "S", "time": 1, "data": 5}', "data: expected an object of values by attribute"),
        ('{"stream": "S", "time": 1}', "found nothing"),
        ('{"stream": "S", "data": {}}', "time: expected a time, found nothing"),
        ('{"stream": "S", "time": 1.0, "data": {}}', "time: expected a time in microseconds or ISO-8601"),
        ('{"stream": "S", "time": null, "data": {}}', "found null"),
        ('{"stream": "S", "time": 1, "start": 2, "data": {}}', "start: expected a time not after"),
        ('{"stream": "S", "time": 1, "id": true, "data": {}}', "id: expected an int of 64 bits, found bool true"),
        ('{"stream": "S", "time": 1, "id": null, "data": {}}', "id: expected an int of 64 bits, found null"),
        ('{"stream": 5, "time": 1, "data": {}}', "stream: expected a string, found int 5"),
        ('{"stream": "S", "tiem": 1, "data": {}}', "found string 'tiem'; did you mean 'time'?"),
        ('{"streem": "S", "time": 1, "data": {}}', "did you mean 'stream'?"),
        ("{}", "found none of these keys"),
        ('{"retract": "5"}', "retract: expected an int of 64 bits, found string '5'"),
        ('{"retract": 5, "stream": "S"}', "expected only stream, time, start, id, data in an event"),
        ('{"punctuation": 5, "were": "a"}', "did you mean 'where'?"),
        ('{"subscribe": 5}', "subscribe: expected an object, found int 5"),
        ('{"subscribe": {"name": "a", "language": "cayuga"}}', "query: expected a string, found nothing"),
        ('{"subscribe": {"name": "a", "langauge": "cayuga"}}', "did you mean 'language'?"),
        ('{"subscribe": {"lineage": 1}}', "lineage: expected true or false, found int 1"),
        ('{"unsubscribe": null}', "unsubscribe: expected a string, found null"),
        ('{"update": {"subscription": "a"}}', "expected arcs to insert or delete, found none"),
        ('{"update": {"subscription": "a", "insert": "b"}}', "insert: expected a list of strings"),
        ('{"update": {"subscription": "a", "insert": [1]}}', "found int 1 in it"),
        (
            '{"update": {"subscription": "a", "insert": ["b"], "from": 5, "to": 4}}',
            "to: expected a time not before from",
        ),
    ],
)
def test_wrong_lines_say_what_was_expected_and_found(text: str, message: str) -> None:
    with pytest.raises(EventError) as caught:
        parse_line(text, 3)
    assert message in str(caught.value)
    assert str(caught.value).startswith("line 3: ")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("opening", ['{"a":', '[{"a":', "["])
def test_deep_nesting_of_values_is_no_event(opening: str) -> None:
    stream = StreamDefinition("S", Schema.declare({"a": "int?", "a.a": "string[]?"}))
    for depth in (3, 10, 500, 990, 100_000):
        closing = "".join("]" if letter == "[" else "}" for letter in reversed(opening) if letter in "[{")
        text = f'{{"stream": "S", "time": 1, "data": {{"a": {opening * depth}1{closing * depth}}}}}'
        with pytest.raises(EventError, match=r"expected"):  # noqa: PT012  # one of the two refuses it
            event = parse_line(text[:LONGEST_LINE], 2)
            assert isinstance(event, Event)
            assert isinstance(event.data, dict)
            row_from_mapping(stream, event.data)


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"data": [[1], '])
def test_deep_nesting_is_refused(opening: str) -> None:
    for depth in (10, 500, 990, 100_000):
        closing = "".join("]" if letter == "[" else "}" for letter in reversed(opening) if letter in "[{")
        text = (opening * depth + "1" + closing * depth)[:LONGEST_LINE]
        with pytest.raises(EventError, match=r"^line 2: .*expected"):
            parse_line(text, 2)


def test_long_lines_are_refused_by_their_bytes() -> None:
    empty = '{"stream": "S", "time": 1, "data": {"a": ""}}'
    for letter in ("x", "é", "😀"):
        fitting = empty.replace('""', '"' + letter * ((LONGEST_LINE - len(empty)) // len(letter.encode())) + '"')
        assert isinstance(parse_line(fitting, 1), Event)
        with pytest.raises(EventError, match="at most 1 MiB"):
            parse_line(fitting.replace('""', f'"{letter}"') + " " * 4 + letter, 1)
