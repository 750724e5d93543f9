"""What may be declared, what the errors say, and which word was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events import (
    ERRORS,
    Attribute,
    DefinitionError,
    EventError,
    ForetellError,
    LateEvent,
    QueryError,
    Schema,
    StreamDefinition,
    checked_name,
    checked_subscription_name,
    nearest,
    shown,
    suggestion,
)

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)
TYPES = st.sampled_from(["string", "int", "float", "bool", "string?", "int?", "float?", "bool?"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)

STOCK = Schema.declare({"name": "string", "price": "float", "note": "string?"})


@given(st.dictionaries(NAMES, TYPES, max_size=6))
def test_declare_and_declared_are_inverse(attributes: dict[str, str]) -> None:
    schema = Schema.declare(attributes)
    assert schema.declared() == attributes
    assert schema.names == tuple(attributes)
    assert len(schema) == len(attributes)
    assert [schema.position(name) for name in attributes] == list(range(len(attributes)))


@given(st.dictionaries(st.text(max_size=5) | NAMES, ANYTHING | TYPES, max_size=4) | ANYTHING)
def test_any_declaration_is_taken_or_refused_in_one_line(attributes: object) -> None:
    message = "expected"
    try:
        Schema.declare(attributes)  # type: ignore[arg-type]
    except DefinitionError as error:
        message = str(error)
    assert "expected" in message
    assert "\n" not in message


def test_schema_is_equal_and_hashed_by_its_attributes() -> None:
    again = Schema((Attribute("name", "string"), Attribute("price", "float"), Attribute("note", "string", True)))
    assert again == STOCK
    assert hash(again) == hash(STOCK)
    assert Schema.declare({"price": "float", "name": "string", "note": "string?"}) != STOCK
    assert STOCK.position("volume") == -1
    assert Schema(())


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"price": "flaot"}, "did you mean 'float'?"),
        ({"price": "double"}, "did you mean 'float'?"),
        ({"price": "integer?"}, "did you mean 'int'?"),
        ({"price": "float??"}, "found string 'float??'"),
        ({"price": 7}, "found int 7"),
        ({"a b": "int"}, "attribute name: expected a letter or _"),
        ({"x" * 129: "int"}, "at most 127"),
    ],
)
def test_wrong_declarations_say_what_was_expected(attributes: dict[str, str], message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        Schema.declare(attributes)
    assert message in str(caught.value)


def test_wrong_attributes_are_refused() -> None:
    with pytest.raises(DefinitionError, match="each name once"):
        Schema((Attribute("a", "int"), Attribute("a", "float")))
    with pytest.raises(DefinitionError, match="expected a type"):
        Attribute("a", "text")  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="nullable as a bool"):
        Attribute("a", "int", 1)  # type: ignore[arg-type]


def test_names() -> None:
    assert checked_name("_a1", "stream") == "_a1"
    assert checked_subscription_name("my-jumps.v2") == "my-jumps.v2"
    for wrong in ("", "1a", "a-b", "ä", "a\n", None, 5):
        with pytest.raises(DefinitionError):
            checked_name(wrong, "stream")
    for wrong in ("", "a b", "ä", "a\n", "x" * 129, None):
        with pytest.raises(DefinitionError):
            checked_subscription_name(wrong)


def test_streams() -> None:
    stream = StreamDefinition("Stock", STOCK, key="name", disorder="speculate", lateness=5, speculation=1)
    assert stream == StreamDefinition("Stock", STOCK, "name", "speculate", 5, 1)
    assert hash(stream) == hash(StreamDefinition("Stock", STOCK, "name", "speculate", 5, 1))
    assert StreamDefinition("Stock", STOCK).disorder == "arrival"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"key": "nam"}, "did you mean 'name'?"),
        ({"key": 5}, "key: expected the name of an attribute, found int 5"),
        ({"disorder": "bufer"}, "did you mean 'buffer'?"),
        ({"disorder": None}, "expected arrival, buffer or speculate, found null"),
        ({"lateness": 5}, "expected only with disorder buffer or speculate, found arrival"),
        ({"lateness": -1, "disorder": "buffer"}, "expected microseconds, 0 or more, found int -1"),
        ({"lateness": True, "disorder": "buffer"}, "found bool true"),
        ({"speculation": 5, "disorder": "buffer"}, "expected only with disorder speculate, found buffer"),
        ({"idle": 0}, "idle: expected microseconds, 1 or more, found int 0"),
        ({"schema": {"a": "int"}}, "expected a schema, found an object"),
        ({"name": "a b"}, "stream name: expected"),
    ],
)
def test_wrong_streams_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        StreamDefinition(**{"name": "Stock", "schema": STOCK, **fields})  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_errors_have_stable_codes() -> None:
    assert sorted(ERRORS) == [
        "definition",
        "duplicate-event",
        "early",
        "error",
        "event",
        "late",
        "limit",
        "misnumbered",
        "query",
        "unknown-event",
        "unknown-stream",
        "unknown-subscription",
        "unsupported",
    ]
    for code, kind in ERRORS.items():
        error = kind("a message")
        assert (error.code, str(error)) == (code, "a message")
        assert isinstance(error, ForetellError)


def test_errors_know_their_place() -> None:
    error = EventError("expected this", line=3)
    assert (str(error), error.line) == ("line 3: expected this", 3)
    assert issubclass(LateEvent, EventError)
    query = QueryError("expected this", 2, 5, "a b\n  ^")
    assert (query.line, query.column, query.excerpt) == (2, 5, "a b\n  ^")


@given(ANYTHING)
def test_shown_is_one_short_line(value: object) -> None:
    text = shown(value)
    assert "\n" not in text
    assert len(text) < 60


def test_shown() -> None:
    assert shown(None) == "null"
    assert shown(True) == "bool true"
    assert shown(5.0) == "float 5.0"
    assert shown(10**5000) == "an int of 16610 bits"
    assert shown("x" * 10_000) == f"string '{'x' * 38}…'"
    assert shown(object) == "a value of the Python type type"


def test_nearest() -> None:
    assert nearest("prise", ["volume", "price"]) == "price"
    assert nearest("PRICE", ["price"]) == "price"
    assert nearest("zebra", ["price", "volume"]) is None
    assert nearest("x" * 10_000, ["x" * 10_000]) is None
    assert nearest("ab", ["abd", "abc"]) == nearest("ab", ["abc", "abd"]) == "abc"
    assert suggestion("prise", ["price"]) == "; did you mean 'price'?"
    assert suggestion("", ["price"]) == ""


@given(st.text(max_size=128), st.sets(st.text(max_size=8)))
def test_nearest_is_a_candidate_and_a_known_word_is_nearest_to_itself(word: str, candidates: set[str]) -> None:
    assert nearest(word, candidates) in {None, *candidates}
    if word:
        assert (nearest(word, {*candidates, word}) or "").lower() == word.lower()
