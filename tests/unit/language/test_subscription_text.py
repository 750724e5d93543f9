"""Definitions written as a subscription file are read as the same definitions."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from broker.events import Schema, StreamDefinition
from broker.language.subscription import SubscriptionDefinition
from broker.language.subscription_file import read_subscription_file
from broker.language.subscription_text import stream_lines, subscription_lines

STREAMS = (
    StreamDefinition("Stock", Schema.declare({"name": "string", "price": "float?"}), "name"),
    StreamDefinition(
        "Late", Schema.declare({"n": "int"}), None, "speculate", 5_000_000, 1, 250_000, time_unit="ms", sequence="n"
    ),
    StreamDefinition("Held", Schema.declare({"ok": "bool"}), "ok", "buffer", 90_000_000),
)
texts = st.text(st.characters(codec="utf-8") | st.sampled_from("'\"\\\n\t\x7f"))


def test_streams() -> None:
    text = "\n".join(line for each in STREAMS for line in stream_lines(each))
    read = read_subscription_file(text, "f.toml").streams
    assert read == STREAMS
    assert [each.time_unit for each in read] == [None, "ms", None]
    assert text.splitlines()[:3] == [
        "[streams.Stock]",
        'attributes = { name = "string", price = "float?" }',
        'key = "name"',
    ]


@given(texts)
def test_any_text_of_a_query(query: str) -> None:
    definition = SubscriptionDefinition("a.b-c", "sase", query, True, "all", {"within": 5, "threshold": 0.5}, "final")
    (read,) = read_subscription_file("\n".join(subscription_lines(definition)), "f.toml").subscriptions
    assert replace(read, query=read.query.strip()) == replace(definition, query=query.strip())


def test_a_query_of_several_lines_stays_so() -> None:
    lines = "\n".join(subscription_lines(SubscriptionDefinition("q", "sase", "\nPATTERN SEQ(A a)\nWITHIN 5\n")))
    assert lines == "[subscriptions.q]\nlanguage = \"sase\"\nquery = '''\nPATTERN SEQ(A a)\nWITHIN 5\n'''"
