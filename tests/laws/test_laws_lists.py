"""Lists of texts: a condition on one is what Python says of its texts, in every language, on every way through the
engine, and over the wire, the journal and files.

The reference is a stream that has the answer of each condition as a bool, null where the list is null.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import msgpack
import pytest
from doubles.read_columns import in_columns
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.algebra.semantics import Occurrence
from broker.engine import Engine, Match, Options
from broker.events import EventError, StreamDefinition, row_from_mapping
from broker.events.column_checks import batch_of_events, event_columns
from broker.events.event_columns import columns_of
from broker.events.networks import network
from broker.events.schema import Row, Schema
from broker.kernel.records import BatchTaken
from broker.storage import records
from broker.wire.codec import decode, decode_result, encode, encode_result
from broker.wire.stream_messages import Publish

LISTS: Final = {"k": "string", "v": "int", "tags": "string[]?", "process.args": "string[]"}
TEXTS: Final = ("", "a", "A", "ab", "ba", "cab", "10.1.2.3", "10.9.9.9", "a\0b", "\0", "ß", "İ", "aé")

Test = Callable[[str], bool]
CONDITIONS: Final[tuple[tuple[str, Test], ...]] = (
    ("{e} = 'a'", lambda t: t == "a"),
    ("'ab' = {e}", lambda t: t == "ab"),
    ("{e} = ''", lambda t: t == ""),
    ("{e} IN ('ba', 'A', 'ß')", lambda t: t in ("ba", "A", "ß")),
    ("contains({e}, 'a')", lambda t: "a" in t),
    ("contains({e}, '')", lambda t: True),
    ("starts_with({e}, 'a')", lambda t: t.startswith("a")),
    ("ends_with({e}, 'b')", lambda t: t.endswith("b")),
    ("{e} LIKE 'a*'", lambda t: t.startswith("a")),
    ("{e} LIKE '?a*b'", lambda t: len(t) > 2 and t[1] == "a" and t.endswith("b")),
    ("{e} LIKE~ ('A', '*AB')", lambda t: t.lower() == "a" or t.lower().endswith("ab")),
    ("{e} MATCHES '^.a'", lambda t: t[1:2] == "a"),
    ("{e} MATCHES~ 'B$'", lambda t: t.lower().endswith("b")),
    ("{e} CIDR '10.1.0.0/16'", lambda t: network("10.1.0.0/16").holds(t)),
    ("{e} CIDR ('10.9.0.0/16', '10.1.2.0/24')", lambda t: t in ("10.1.2.3", "10.9.9.9")),
)
WHERE: Final = [(name, text, test) for name in ("tags", "process.args") for text, test in CONDITIONS]
ANSWERS: Final = {"k": "string", "v": "int", **{f"c{at}": "bool?" for at in range(len(WHERE))}}

QUERIES: Final = (
    ("cayuga", "FILTER{{{0}}} S", ""),
    ("cayuga", "SELECT k, v FROM FILTER{{v > 0 AND NOT ({0} AND NOT {1})}} S", ""),
    ("cayuga", "FILTER{{v > 0}} S NEXT{{$1.k = $2.k AND ({0} OR NOT {1})}} S", "$2."),
    ("cayuga", "SELECT CASE WHEN {0} THEN v ELSE 7 END AS n FROM FILTER{{{1} OR {2}}} S", ""),
    ("cayuga", "(SELECT *, 1 AS n FROM S) FOLD{{$1.k = $2.k AND {0}, {1}, n + 1 AS n}} S", "$2."),
    (
        "sase",
        "PATTERN SEQ(S a, S+ b[], ~(S m), S c) WHERE skip_till_next_match(a, b, c) {{ [k] AND a.v = 1 AND {0} AND "
        "NOT {1} AND b[i].v >= 0 }} WITHIN 9 RETURN a.k, b[1].v AS v",
        "a.",
    ),
    ("sase", "PATTERN SEQ(S a, S+ b[]) WHERE skip_till_any_match(a, b) {{ {0} AND a.v > 0 }} WITHIN 3", "b[i]."),
    ("sase", "PATTERN SEQ(S a, ~(S b), S c) WHERE skip_till_next_match(a, c) {{ {0} AND a.v = 1 }} WITHIN 9", "b."),
    ("ptopss", "FROM S BY k x: {0} AND v > 0 y: NOT ({1} OR {2}) MATCH x; y WITHIN 9", ""),
    (
        "afa",
        "FROM S BY k REGISTER n INT = 0 START p FINAL q p -> q WHEN {0} q -> q WHEN NOT {1} OR v > n SET n = v",
        "",
    ),
    ("window", "FROM S BY k WINDOW AFTER any* MATCHING [{0}] [NOT {1} OR v = 1]* [{2}] AGGREGATE count(*) AS n", ""),
    ("window", "FROM S WINDOW START x, END y WHERE {0} AND x < y AND y.v = 1", "x."),
)

SWITCHES: Final = st.builds(Options, batches=st.booleans())


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, str, str]:
    """The language, the text on lists, and the text on their answers."""
    language, text, prefix = draw(st.sampled_from(QUERIES))
    chosen = draw(st.lists(st.integers(0, len(WHERE) - 1), min_size=3, max_size=3))
    several = [WHERE[at][1].format(e=prefix + WHERE[at][0]) for at in chosen]
    return language, text.format(*several), text.format(*[f"{prefix}c{at}" for at in chosen])


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    lists = st.lists(st.sampled_from(TEXTS), max_size=4).map(tuple)
    several = st.tuples(st.sampled_from("KL"), st.integers(0, 2), st.none() | lists, lists)
    return draw(st.lists(several, max_size=16))


def answered_by(test: Test, name: str, given: list[Row]) -> list[bool]:
    """Of each event whether some text of its list fulfils the condition."""
    lists: list[Any] = [row[list(LISTS).index(name)] for row in given]
    return [texts is not None and any(map(test, texts)) for texts in lists]


def answered(row: Row) -> Row:
    """The same event with the answer of each condition."""
    given = {"tags": row[2], "process.args": row[3]}
    found: list[bool | None] = []
    for name, _, test in WHERE:
        texts: Any = given[name]
        found.append(None if texts is None else any(map(test, texts)))
    return (*row[:2], *found)


def played(
    schema: dict[str, str],
    queries: list[tuple[str, str]],
    given: list[Row],
    cuts: list[int],
    saved: int,
    options: Options,
) -> dict[str, list[tuple[Any, ...]]]:
    """The results of each query over the rows, cut into batches, with a snapshot before one of them."""
    engine = Engine(options)
    engine.add_stream("S", schema)
    for at, (language, text) in enumerate(queries):
        engine.subscribe(f"q{at}", language=language, query=text, lineage=True)
    found: list[Match] = []
    begin = 0
    for number, size in enumerate([*cuts, len(given)]):
        if number == saved:
            engine = Engine.restore(engine.snapshot(), options)
        part = given[begin : begin + size]
        found += in_columns(engine.publish("S", list(range(begin, begin + len(part))), part))
        begin += len(part)
    found += engine.finish()
    engine.check_invariants()
    shown: dict[str, list[tuple[Any, ...]]] = {}
    for match in found:
        data = {name: value for name, value in match.data.items() if name.rstrip("_12") in ("k", "v", "n")}
        shown.setdefault(match.subscription, []).append((match.start, match.end, match.lineage, sorted(data.items())))
    return {name: sorted(each) for name, each in shown.items()}


@settings(max_examples=max(100, 3 * settings().max_examples))
@given(
    st.lists(asked(), min_size=1, max_size=6), rows(), st.lists(st.integers(1, 6), max_size=3), st.integers(-1, 3),
    SWITCHES,
)  # fmt: skip
def test_conditions_on_lists_are_those_on_their_answers(
    several: list[tuple[str, str, str]], given: list[Row], cuts: list[int], saved: int, options: Options
) -> None:
    on_lists = played(LISTS, [(each[0], each[1]) for each in several], given, cuts, saved, options)
    answers = list(map(answered, given))
    assert on_lists == played(ANSWERS, [(each[0], each[2]) for each in several], answers, cuts, saved, options)


@given(st.integers(0, len(WHERE) - 1), rows(), st.integers(2, 8))
def test_an_index_finds_what_is_tested_one_by_one(condition: int, given: list[Row], beside: int) -> None:
    """Of subscriptions that an index has, each has the results that it has alone."""
    engine = Engine(Options(arcs_few=0))
    engine.add_stream("S", LISTS)
    asked = {f"o{at}": (*WHERE[(condition + at) % len(WHERE)], at % 3) for at in range(beside)}
    for subscription, (name, text, _, least) in asked.items():
        query = f"FILTER{{{text.format(e=name)} AND v >= {least}}} S"
        engine.subscribe(subscription, query=query, lineage=True)
    matches = engine.publish("S", range(len(given)), given)
    found = Counter((match.subscription, *(match.lineage or ())) for match in matches)
    assert found == Counter(
        (subscription, at)
        for subscription, (name, _, test, least) in asked.items()
        for at, row in enumerate(answered_by(test, name, given), 1)
        if row and given[at - 1][1] >= least  # type: ignore[operator]
    )


@pytest.mark.parametrize("alone", [True, False])
def test_each_condition_beside_a_bound(alone: bool) -> None:
    """A beginning is no key of a list, as it is one of a text."""
    row: Row = ("K", 1, ("a", "ab", "10.1.2.3", "aé"), ("ba", "", "A"))
    given = {"tags": row[2], "process.args": row[3]}
    engine, found = Engine(), set()
    for at, (name, text, _) in enumerate(WHERE):
        if alone:
            engine = Engine()
        if alone or at == 0:
            engine.add_stream("S", LISTS)
        engine.subscribe(str(at), query=f"FILTER{{{text.format(e=name)} AND v >= 0}} S")
        if alone or at == len(WHERE) - 1:
            found |= {int(match.subscription) for match in engine.publish("S", [1], [row])}
    assert found == {at for at, (name, _, test) in enumerate(WHERE) if any(map(test, given[name]))}  # type: ignore[arg-type]


@given(rows())
def test_lists_come_back_from_columns_and_journals(given: list[Row]) -> None:
    stream = StreamDefinition("S", Schema.declare(LISTS))
    columns = {name: [row[at] for row in given] for at, name in enumerate(LISTS)}
    packed: Any = event_columns(stream, columns, len(given))
    again = columns_of(msgpack.unpackb(msgpack.packb(packed.plain()), strict_map_key=False), len(given))
    assert list(again) == given == batch_of_events(stream, again).rows()
    for events in (packed, given):
        taken = BatchTaken("S", [0] * len(given), events, range(len(given)), None, None, None, [])
        kept: Any = records.decode(*records.encode(taken))
        engine = Engine()
        engine.declare(stream)
        engine.subscribe("q", query="S")
        found = engine.publish("S", kept.times, kept.rows)
        assert [tuple(match.data.values()) for match in found] == given


@given(rows(), st.sampled_from([1, 20]), st.booleans())
def test_lists_travel(given: list[Row], times: int, in_columns: bool) -> None:
    """To the broker as rows, few and many, or as columns; and back in results."""
    stream = StreamDefinition("S", Schema.declare(LISTS))
    sent: Any = given * times
    if in_columns:
        sent = event_columns(stream, {name: [row[at] for row in sent] for at, name in enumerate(LISTS)}, len(sent))
    message: Any = decode(encode(Publish(7, "S", [0] * len(sent), sent, None, None)))
    engine = Engine()
    engine.declare(stream)
    engine.subscribe("q", query="S")
    found = list(engine.publish("S", message.times, message.rows))
    assert [tuple(match.data.values()) for match in found] == given * times
    for match in found[: len(given)]:
        told = decode_result(encode_result(match.line()))["data"]
        assert told == {name: list(value) if isinstance(value, tuple) else value for name, value in match.data.items()}


@given(rows())
def test_events_have_the_same_rows_flat_and_nested(given: list[Row]) -> None:
    stream = StreamDefinition("S", Schema.declare(LISTS))
    for row in given:
        flat: dict[str, Any] = dict(zip(LISTS, row))
        nested = {**flat, "process": [{"args": [text]} for text in flat["process.args"]] or {"args": []}}
        del nested["process.args"]
        for written in (flat, nested):
            assert row_from_mapping(stream, json.loads(json.dumps(written))) == row


def test_a_flat_key_is_before_a_path() -> None:
    stream = StreamDefinition("S", Schema.declare({"a.b": "string[]", "a.c": "string?"}))
    assert row_from_mapping(stream, {"a.b": ["x"], "a": {"b": ["y"]}}) == (("x",), None)
    assert row_from_mapping(stream, {"a": {"b": [], "c": "z"}}) == ((), "z")


def test_occurrences_of_lists_are_hashable() -> None:
    assert len({Occurrence((("a",), ()), 0, 0, ()), Occurrence((("a",), ()), 0, 0, ())}) == 1


@given(st.sampled_from([["a", 1], ["a", None], "a", 5, {"b": "a"}, ["\ud800"], [["a"]]]))
def test_what_is_no_list_of_texts_is_refused(wrong: Any) -> None:
    engine = Engine()
    engine.add_stream("S", {"tags": "string[]"})
    with pytest.raises(EventError, match=r"^stream 'S', row 0, attribute 'tags': expected string.., found "):
        engine.publish("S", [0], [(wrong,)])
