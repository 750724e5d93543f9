"""Lists of texts and names with dots in queries: what is refused, with its place, and what stands where a name may."""

from __future__ import annotations

import re

import pytest

from broker.engine import Engine
from broker.events import DefinitionError, QueryError, Schema, StreamDefinition
from broker.language.lint import lint
from broker.language.sase import parse as parse_sase
from broker.language.sase import print_query as print_sase
from broker.language.subscription_file import read_subscription_file
from broker.language.window import parse as parse_window
from broker.language.window import print_query as print_window

SCHEMA = {"process.name": "string", "process.args": "string[]?", "tags": "string[]", "n": "int", "name": "string"}


def engine() -> Engine:
    made = Engine()
    made.add_stream("S", SCHEMA)
    return made


@pytest.mark.parametrize(
    ("language", "query", "message"),
    [
        (
            "cayuga",
            "FILTER{lower(tags) = 'x'} S",
            "column 14: expected a single value in lower, found the list tags; tags LIKE~ 'text' ignores case",
        ),
        (
            "cayuga",
            "FILTER{name = tags} S",
            "column 8: expected a text in quotes to look for in the list tags, found name",
        ),
        (
            "cayuga",
            "FILTER{tags = name} S",
            "column 15: expected a text in quotes to look for in the list tags, found name",
        ),
        ("cayuga", "FILTER{tags < 'x'} S", "column 13: expected '=' or '!=' between a list and a text, found '<'"),
        (
            "cayuga",
            "FILTER{tags BETWEEN 'a' AND 'b'} S",
            "column 13: expected '=' or '!=' between a list and a text, found BETWEEN",
        ),
        ("cayuga", "FILTER{tags + 1 > 2} S", "column 8: expected a number, found a value of type string[]"),
        ("cayuga", "FILTER{tags} S", "column 8: expected a condition, found a value of type string[]"),
        (
            "cayuga",
            "FILTER{tags = 1} S",
            "column 15: expected a text in quotes to look for in the list tags, found a value of type int",
        ),
        (
            "cayuga",
            "FILTER{tags = process.args} S",
            "column 15: expected a text in quotes to look for in the list tags, found process.args",
        ),
        ("cayuga", "FILTER{length(tags) > 1} S", "column 15: expected a single value in length, found the list tags"),
        (
            "cayuga",
            "SELECT coalesce(tags, process.args) FROM S",
            "column 17: expected a single value in coalesce, found the list tags",
        ),
        (
            "cayuga",
            "SELECT CASE WHEN n > 1 THEN tags END AS x FROM S",
            "column 29: expected a single value in CASE, found the list tags",
        ),
        (
            "cayuga",
            "FILTER{starts_with(tags, name)} S",
            "column 26: expected a text in quotes to look for in the list tags, found name",
        ),
        (
            "cayuga",
            "FILTER{contains(name, tags)} S",
            "column 23: expected a single value in contains, found the list tags",
        ),
        (
            "cayuga",
            "FILTER{proces.name = 'x'} S",
            "column 8: unknown attribute 'proces.name'; did you mean 'process.name'?",
        ),
        (
            "cayuga",
            "FILTER{$1.process.name = 'x'} S",
            "column 8: expected an attribute by its bare name; '$1.process.name' belongs inside NEXT and FOLD",
        ),
        (
            "sase",
            "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { [tags] } WITHIN 1 h",
            "column 59: expected a single value to divide by, found the list 'tags'",
        ),
        (
            "sase",
            "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { process.name = 'x' } WITHIN 1 h",
            "column 58: unknown variable 'process'; expected one of a, b",
        ),
        (
            "sase",
            "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { a.tags = b.tags } WITHIN 1 h",
            "column 67: expected a text in quotes to look for in the list a.tags, found b.tags",
        ),
        (
            "sase",
            "PATTERN SEQ(S a, S+ b[]) WHERE skip_till_next_match(a, b) WITHIN 1 h RETURN max(b[].tags)",
            "column 77: expected a number in max, found a string[]",
        ),
        (
            "ptopss",
            "FROM S x: tags = $t y: tags = $t MATCH x ; y WITHIN 1 h",
            "column 11: expected a single value for '$t', found the list 'tags'",
        ),
        (
            "ptopss",
            "FROM S BY tags x: n > 1 MATCH x",
            "column 11: expected a single value to divide by, found the list 'tags'",
        ),
        (
            "afa",
            "FROM S BY tags START p FINAL q p -> q",
            "column 11: expected a single value to divide by, found the list 'tags'",
        ),
        (
            "afa",
            "FROM S REGISTER r string = '' START p FINAL q p -> q SET r = tags",
            "column 62: expected a value of type string for 'r', found one of type string[]",
        ),
        (
            "afa",
            "FROM S REGISTER r list = '' START p FINAL q p -> q",
            "column 19: expected a type, one of string, int, float, bool, found 'list'",
        ),
        (
            "window",
            "FROM S BY tags WINDOW LAST 5 min",
            "column 11: expected a single value to divide by, found the list 'tags'",
        ),
        (
            "window",
            "FROM S WINDOW LAST 5 min AGGREGATE max(tags) AS m",
            "column 40: expected a single value in max, found the list tags",
        ),
        (
            "window",
            "FROM S WINDOW LAST 5 min AGGREGATE count(DISTINCT tags) AS m",
            "column 51: expected a single value in count, found the list tags",
        ),
        (
            "window",
            "FROM S WINDOW AFTER any* MATCHING [proces.name = 'a']",
            "column 36: expected prev.x, prev2.x, ..., found 'proces.name'; did you mean 'process.name'?",
        ),
        (
            "cayuga",
            "FILTER{contains(tags, 1)} S",
            "column 23: expected a text in quotes to look for in the list tags, found a value of type int",
        ),
    ],
)
def test_what_a_list_cannot_be_is_refused_with_its_place(language: str, query: str, message: str) -> None:
    with pytest.raises(QueryError, match=re.escape(message)) as found:
        engine().subscribe("q", language=language, query=query)
    assert str(found.value) == f"subscription 'q': line 1, {message}"


@pytest.mark.parametrize(
    ("language", "query", "wanted"),
    [
        ("cayuga", "SELECT process.name, tags AS a.b FROM S", {"process.name": "x", "a.b": ("t",)}),
        ("cayuga", "SELECT process.name_1 AS p, tags AS t FROM S NEXT{$1.process.name = $2.process.name} S", None),
        ("sase", "PATTERN SEQ(S a, S+ b[]) WHERE skip_till_next_match(a, b) { [process.name] } WITHIN 9", None),
        (
            "sase",
            "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { [a.process.name = b . process.name] } WITHIN 9 "
            "RETURN a.process.name, first(b.tags) AS t",
            None,
        ),
        ("sase", "PATTERN SEQ(S+ a[]) WHERE skip_till_next_match(a) WITHIN 9 RETURN a[1].process.args AS q", None),
        ("ptopss", "FROM S BY process.name x: process.name = $v MATCH x", None),
        ("afa", "FROM S BY process.name START p FINAL q p -> q WHEN process.name LIKE 'x'", None),
        ("window", "FROM S BY process.name WINDOW AFTER any* MATCHING [prev.process.name = process.name]", None),
        ("window", "FROM S WINDOW START x, END y WHERE x.process.name = 'a' AND x < y", None),
    ],
)
def test_names_with_dots_stand_wherever_attributes_do(language: str, query: str, wanted: object) -> None:
    made = engine()
    if "first(b.tags)" in query:
        with pytest.raises(QueryError, match="first"):
            made.subscribe("q", language=language, query=query)
        query = query.replace("first(b.tags)", "b.tags")
    made.subscribe("q", language=language, query=query)
    found = [match.data for match in made.publish("S", [1], [("x", None, ("t",), 1, "n")])]
    assert wanted is None or found == [wanted]


def test_a_variable_is_before_a_name_with_dots() -> None:
    made = Engine()
    made.add_stream("S", {"a.x": "string", "x": "string", "prev.x": "string"})
    made.subscribe(
        "sase", language="sase", query="PATTERN SEQ(S a) WHERE skip_till_next_match(a) { a.x = '2' } RETURN a.a.x"
    )
    made.subscribe("window", language="window", query="FROM S WINDOW AFTER any* MATCHING [prev.x = '2' AND a.x = '3']")
    found = made.publish("S", [1, 2], [("1", "2", "0"), ("3", "0", "0")])
    assert [(match.subscription, match.data) for match in found] == [("sase", {"a.x": "1"}), ("window", {})]


@pytest.mark.parametrize(
    ("parse", "show", "text"),
    [
        (parse_sase, print_sase, "PATTERN SEQ(S a, S+ b[]) WHERE skip_till_next_match(a, b) "
         "{ [a.u.v = b[].u.v] AND b[i].u.v > avg(b[..i-1].u.w) AND a.u.v = 'x' } WITHIN 9 us RETURN a.u.v AS c.d"),
        (parse_window, print_window,
         "FROM S BY u.v WINDOW AFTER any* MATCHING [prev.u.v = u.v] AGGREGATE max(u.w) AS m.n"),
    ],
)  # fmt: skip
def test_names_with_dots_are_printed_as_they_are_read(parse: object, show: object, text: str) -> None:
    tree = parse(text)  # type: ignore[operator]
    assert parse(show(tree)) == tree  # type: ignore[operator]


def test_two_values_of_a_list_exclude_each_other_in_no_warning() -> None:
    text = "FROM S WINDOW AFTER any* MATCHING [a.t = 'x' AND a.t = 'y' AND u = 'x' AND u = 'y']"
    assert len(lint(text, parse_window(text))) == 2
    assert [warned.message for warned in lint(text, parse_window(text), lists={"a.t"})] == [
        "u = 'x' AND u = 'y' is never true, so the subscription can never match by it"
    ]


def test_promises_of_lists_are_refused() -> None:
    made = Engine()
    made.declare(StreamDefinition("S", Schema.declare(SCHEMA), disorder="buffer"))
    with pytest.raises(QueryError, match="column 1: expected an attribute with a single value, found the list 'tags'"):
        made.punctuate(5, "S", "tags = 'a'")
    made.punctuate(5, "S", "process.name = 'a'")


def test_a_list_is_no_key() -> None:
    with pytest.raises(DefinitionError, match="key: expected an attribute with a single value, found the list 'tags'"):
        StreamDefinition("S", Schema.declare(SCHEMA), key="tags")


def test_paths_of_attributes_may_be_written_without_quotes() -> None:
    text = '[streams.S]\nattributes = { a = "int", p.name = "string", "p.args" = "string[]?", z = "bool" }\n'
    declared = read_subscription_file(text, "f").streams[0].schema.declared()
    assert list(declared.items()) == [("a", "int"), ("p.name", "string"), ("p.args", "string[]?"), ("z", "bool")]


@pytest.mark.parametrize("name", ["a.", ".a", "a..b", "a.1", "a b.c", "a." + "b" * 127])
def test_a_path_is_made_of_names(name: str) -> None:
    with pytest.raises(DefinitionError, match="or such names joined by dots"):
        Schema.declare({name: "int"})


def test_an_equivalence_may_have_the_name_of_a_variable() -> None:
    query = "PATTERN SEQ(S a, S c) WHERE skip_till_next_match(a, c) { [c] } WITHIN 4"
    assert print_sase(parse_sase(query)).count("[c]") == 1
