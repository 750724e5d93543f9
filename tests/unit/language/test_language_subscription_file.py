"""A subscription file becomes definitions in its order, or one line that says what is wrong with it and where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events.errors import DefinitionError, LimitExceeded
from broker.events.schema import Schema
from broker.events.stream import StreamDefinition
from broker.language import subscription_file
from broker.language.names import LANGUAGES
from broker.language.subscription import SubscriptionDefinition
from broker.language.subscription_file import SubscriptionFile, read_subscription_file

STREAM = '[streams.S]\nattributes = { a = "int" }\n'
SUBSCRIPTION = '[subscriptions.q]\nlanguage = "cayuga"\nquery = "S"\n'


def test_a_whole_file() -> None:
    text = """
[streams.Stock]
attributes = { name = "string", price = "float", volume = "int?" }   # a comment
key = "name"
disorder = "speculate"
lateness = "5s"
speculation = 1000
idle = "2 s"

[subscriptions."z.2"]
language = "ptopss"
query = '''
a query
'''
lineage = true
report = "completions"
forecast = { within = 10, threshold = 0.8 }

[streams.A]
attributes = {}

[subscriptions.b]
query = "S"
language = "cayuga"
"""
    schema = Schema.declare({"name": "string", "price": "float", "volume": "int?"})
    assert read_subscription_file(text, "subs.toml") == SubscriptionFile(
        streams=(
            StreamDefinition("Stock", schema, "name", "speculate", 5_000_000, 1000, 2_000_000),
            StreamDefinition("A", Schema(())),
        ),
        subscriptions=(
            SubscriptionDefinition("z.2", "ptopss", "a query\n", True, "completions", {"within": 10, "threshold": 0.8}),
            SubscriptionDefinition("b", "cayuga", "S"),
        ),
    )


def test_an_empty_file_declares_nothing() -> None:
    assert read_subscription_file("", "subs.toml") == SubscriptionFile((), ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[stream.S]\n", "unknown key 'stream'; did you mean 'streams'?"),
        ("x = 1\n", "unknown key 'x'; expected streams, subscriptions"),
        ("streams = 5\n", "streams: expected a table, found int 5"),
        ("[streams]\nS = 5\n", "streams.S: expected a table, found int 5"),
        ("[[streams]]\n", "streams: expected a table, found a list"),
        ("[streams.Stock]\natributes = {}\n", "streams.Stock: unknown key 'atributes'; did you mean 'attributes'?"),
        ("[streams.S]\n", "streams.S: expected the key 'attributes', found none"),
        (
            "[streams.S]\nattributes = 1\n",
            'streams.S: attributes: expected a table of names and types, such as { name = "string", price = "float" }, '
            "found int 1",
        ),
        (
            '[streams.S]\nattributes = { a = "itn" }\n',
            "streams.S: attribute 'a': expected a type, one of string, int, float, bool, string[] (with ? if it may be "
            "null), "
            "found string 'itn'; did you mean 'int'?",
        ),
        (STREAM + 'key = "b"\n', "streams.S: key: expected the name of an attribute, found string 'b'"),
        (
            STREAM + "lateness = true\n",
            "streams.S: lateness: expected a duration in microseconds or such as '5 min' "
            "(us ms s sec min hour day week), found bool true",
        ),
        (
            STREAM + "lateness = 5\n",
            "streams.S: lateness: expected only with disorder buffer or speculate, found arrival",
        ),
        (
            STREAM + 'disorder = "bufer"\n',
            "streams.S: disorder: expected arrival, buffer or speculate, found string 'bufer'; did you mean 'buffer'?",
        ),
        (
            '[streams."a\\nb"]\nattributes = {}\n',
            "streams.'a\\nb': stream name: expected a letter or _, then at most 127 letters, digits or _, "
            "found string 'a\\nb'",
        ),
        ('[subscriptions.q]\nquery = "S"\n', "subscriptions.q: expected the key 'language', found none"),
        ('[subscriptions.q]\nlanguage = "cayuga"\n', "subscriptions.q: expected the key 'query', found none"),
        (
            '[subscriptions.q]\nlanguage = "cayuge"\nquery = "S"\n',
            f"subscriptions.q: language: expected one of {', '.join(LANGUAGES)}, found string 'cayuge'; "
            "did you mean 'cayuga'?",
        ),
        ('[subscriptions.q]\nlanguage = "afa"\nquery = 1\n', "subscriptions.q: query: expected text, found int 1"),
        (SUBSCRIPTION + "linage = true\n", "subscriptions.q: unknown key 'linage'; did you mean 'lineage'?"),
        (SUBSCRIPTION + "lineage = 1\n", "subscriptions.q: lineage: expected true or false, found int 1"),
        (
            SUBSCRIPTION + 'report = "al"\n',
            "subscriptions.q: report: expected one of all, completions, found string 'al'; did you mean 'all'?",
        ),
        (
            SUBSCRIPTION + "forecast = 1\n",
            "subscriptions.q: forecast: expected a table such as { within = 10, threshold = 0.8 }, found int 1",
        ),
        (
            SUBSCRIPTION + "forecast = { withn = 1 }\n",
            "subscriptions.q: forecast: unknown key 'withn'; did you mean 'within'?",
        ),
        (
            STREAM + STREAM,
            "line 3, column 11: Cannot declare ('streams', 'S') twice; give one of the two another name",
        ),
        ("[streams.S]\nattributes = { a = }\n", "line 2, column 20: Invalid value"),
        ("a = " + "[" * 5000, "expected tables and lists nested less deep"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_subscription_file(text, "subs.toml")
    assert str(caught.value) == f"subs.toml: {message}"


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscription_file, "FILE_BYTES_MAX", 10)
    read_subscription_file("#" * 10, "subs.toml")
    with pytest.raises(LimitExceeded, match=r"^subs.toml: expected at most 10 bytes, found 11$"):
        read_subscription_file("#" * 11, "subs.toml")


def test_a_definition_that_was_not_read_from_a_file_names_itself() -> None:
    with pytest.raises(DefinitionError, match=r"^subscription 'q': language: expected one of"):
        SubscriptionDefinition("q", "sql", "S")
    with pytest.raises(DefinitionError, match=r"^subscription name: expected 1 to 128"):
        SubscriptionDefinition("q q", "cayuga", "S")


PIECES = [
    "[streams.S]",
    "[subscriptions.q]",
    "attributes",
    "language",
    "query",
    "forecast",
    "=",
    "{",
    "}",
    '"S"',
    "'''",
    "a",
    "[",
    "]",
    ".",
    "\n",
    " ",
    "#",
    "1",
    "9" * 5000,
    "1979-05-27",
    "true",
    '"cayuga"',
    "\x00",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=20).map("".join)))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    message = "subs.toml: "
    try:
        read_subscription_file(text, "subs.toml")
    except DefinitionError as error:
        message = str(error)
    assert message.startswith("subs.toml: ")
    assert len(message.splitlines()) == 1
