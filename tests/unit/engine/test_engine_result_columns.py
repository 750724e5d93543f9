"""Results as columns: their forms, their types, and what concerns other languages, kinds and subscriptions."""

from __future__ import annotations

from array import array
from typing import Any

import pyarrow as pa
import pytest
from doubles.read_columns import in_columns, listed

from broker.engine import CodedTexts, Engine, Options
from broker.events import UnknownSubscription

PAIR = "SELECT * FROM FILTER{price > price_1}(Stock NEXT{$2.name = $1.name} Stock)"
ROWS = [("a", 1.0, 1), ("b", 5.0, None), ("a", 2.0, 3), ("b", None, 4), ("a", 3.0, 5)]
COLUMNS: dict[str, Any] = {
    "name": CodedTexts(array("b", [0, 1, 0, 1, 0]), ["a", "b"]),
    "price": [1.0, 5.0, 2.0, None, 3.0],
    "volume": [1, None, 3, 4, 5],
}


def engine(**queries: str) -> Engine:
    own = Engine()
    own.add_stream("Stock", {"name": "string", "price": "float?", "volume": "int?"})
    for name, query in queries.items():
        own.subscribe(name, query=query)
    return own


def test_columns_have_the_forms_in_which_they_are_published() -> None:
    table = engine(up=PAIR).publish("Stock", [1, 2, 3, 4, 5], ROWS).columns()
    assert table["start"] == array("q", [1, 3])
    assert table["end"] == array("q", [3, 5])
    assert table["price_1"] == array("d", [1.0, 2.0])
    assert table["volume"] == array("q", [3, 5])
    assert isinstance(table["subscription"], CodedTexts)
    assert listed(table["kind"]) == ["match", "match"]
    assert table["price"] is table["price"]
    own = Engine()
    own.add_stream("Up", {name: table.types[name] for name in ("name", "price", "price_1")})
    own.subscribe("all", query="Up")
    again = own.publish_columns("Up", {name: table[name] for name in ("name", "price", "price_1")}, table["end"])
    assert listed(again.columns()["price"]) == [2.0, 3.0]


def test_texts_of_a_dictionary_stay_numbers() -> None:
    own = engine(cheap="FILTER{price < 2.5}(Stock)")
    rows = own.publish_columns("Stock", {name: column * 8 if isinstance(column, list) else CodedTexts(
        column.codes * 8, column.texts) for name, column in COLUMNS.items()}, list(range(40)))  # fmt: skip
    name = in_columns(rows).columns()["name"]
    assert isinstance(name, CodedTexts)
    assert len(name.texts) == 2
    assert listed(name) == ["a", "a"] * 8


@pytest.mark.parametrize("by_columns", [False, True])
def test_columns_do_not_depend_on_the_form_of_the_events(by_columns: bool) -> None:
    own = engine(up=PAIR, cheap="FILTER{price < 2.5}(Stock)", most="SELECT volume * 2 AS twice FROM Stock")
    times = [1, 2, 3, 4, 5]
    results = own.publish_columns("Stock", COLUMNS, times) if by_columns else own.publish("Stock", times, ROWS)
    table = in_columns(results).columns(["most", "up"])
    assert listed(table["twice"]) == [2, None, 6, None, 8, 10, None]
    assert [*table][7:] == ["twice", *(f"{name}{at}" for at in ("_1", "") for name in ("name", "price", "volume"))]


def test_names_and_types() -> None:
    own = engine(
        first="SELECT name AS id, volume AS x FROM Stock", second="SELECT price AS x FROM Stock", none=PAIR
    )
    table = in_columns(own.publish("Stock", [1], [("a", 1.5, 2)])).columns()
    assert table.types["data.id"] == "string"
    assert table.types["x"] == "mixed"
    assert listed(table["x"]) == [2, 1.5]
    assert listed(table["data.id"]) == ["a", None]
    empty = own.publish("Stock", [], []).columns("none")
    assert empty.count == 0
    assert empty.types["price_1"] == "float"
    assert listed(empty["price_1"]) == []
    with pytest.raises(UnknownSubscription, match="unknown subscription 'secnd'; did you mean 'second'"):
        own.publish("Stock", [], []).columns("secnd")


def test_arrow() -> None:
    own = engine(up=PAIR, all="SELECT volume AS price FROM Stock")
    own.subscribe("lined", query="SELECT name FROM Stock", lineage=True)
    results = own.publish("Stock", [1, 2, 3, 4, 5], ROWS)
    found = pa.table(results.columns())
    found.validate(full=True)
    matches = list(results)
    rows = found.to_pylist()
    assert [row["id"] for row in rows] == [match.id for match in matches]
    assert [row["lineage"] for row in rows] == [match.lineage for match in matches]
    assert found.schema.field("price").type == pa.float64()
    assert found.schema.field("start").type == pa.int64()
    assert [row["price"] for row in rows] == [match.data.get("price") for match in matches]
    assert pa.table(own.publish("Stock", [], []).columns("up")).schema.field("volume_1").type == pa.int64()


def test_details_are_json_in_arrow_and_nulls_stay_null() -> None:
    own = Engine(Options(matches_max=1))
    own.add_stream("S", {"t": "string?", "b": "bool?"})
    query = "PATTERN SEQ(S a, S b) WHERE skip_till_any_match(a, b) { a.t = 'x' AND b.t = 'y' } WITHIN 100"
    own.subscribe("q", language="sase", query=query)
    own.subscribe("all", query="S")
    results = in_columns(own.publish("S", [1, 2, 3], [("x", True), ("x", None), ("y", False)]))
    rows = pa.table(results.columns()).to_pylist()
    assert {row["kind"] for row in rows} == {"match", "incomplete"}
    assert sorted(row["details"] for row in rows if row["subscription"] == "q") == [
        '{"bindings": {"a": [2], "b": [3]}}',
        '{"limit": "runs_max, run_bytes_max, matches_max or negated_max", "since": 3}',
    ]  # fmt: skip
    assert [row["b"] for row in rows if row["subscription"] == "all"] == [True, None, False]
    texts = own.publish_columns("S", {"t": CodedTexts([0, -1], ["z"])}, [4, 5]).columns("all")
    assert texts.to_arrow().column("t").to_pylist() == ["z", None]


def test_withdrawn_results_are_rows_of_their_kind() -> None:
    own = Engine()
    own.add_stream("S", {"v": "int"}, disorder="speculate")
    own.subscribe("rise", language="afa", query="FROM S START a FINAL b a -> b WHEN v > 1 WITHIN 10 us")
    found = [in_columns(own.publish("S", [5], [(2,)])), in_columns(own.retract(1)), in_columns(own.punctuate(20))]
    kinds: list[Any] = [listed(each.columns()["kind"]) for each in found]
    assert kinds[0] == ["match"]
    assert kinds[1] == ["retraction"]
    assert "punctuation" in kinds[2]
