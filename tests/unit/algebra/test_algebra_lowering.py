"""CEL's types and names: what is refused, where, and what outputs are called."""

from __future__ import annotations

import pytest

from broker.algebra.cayuga.lowering import lower
from broker.algebra.operators import Query, sources
from broker.events.errors import LimitExceeded, QueryError
from broker.events.schema import Schema
from broker.language import cayuga

SCHEMAS = {
    "S": Schema.declare({"name": "string", "price": "float", "volume": "int", "hot": "bool"}),
    "T": Schema.declare({"name": "string", "price": "float"}),
    "U": Schema.declare({"other": "string"}),
    "V": Schema.declare({"name": "string", "name_1": "string"}),
}


def lowered(text: str) -> Query:
    return lower(cayuga.parse(text), text, SCHEMAS.get, lambda: sorted(SCHEMAS))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FILTER{pric > 1} S", "line 1, column 8: unknown attribute 'pric'; did you mean 'price'?"),
        ("Stocks", "unknown stream 'Stocks'"),
        ("FILTER{price = 'x'} S", "expected a number to compare with, found a string"),
        ("FILTER{price} S", "expected a condition, found a value of type float"),
        ("FILTER{name + 1 = 2} S", "expected a number, found a value of type string"),
        ("FILTER{hot < hot} S", "expected '=' or '!=' between truth values, found '<'"),
        ("FILTER{hot BETWEEN hot AND hot} S", "column 12: expected '=' or '!=' between truth values, found BETWEEN"),
        ("FILTER{name IN ('x', 1)} S", "column 22: expected a string to compare with, found a int"),
        ("FILTER{price BETWEEN 1 AND 'x'} S", "column 28: expected a number to compare with, found a string"),
        ("FILTER{CASE WHEN hot THEN 1 ELSE 'x' END = 1} S", "column 34: expected a number like the first value"),
        ("FILTER{CASE WHEN price THEN 1 END = 1} S", "column 18: expected a condition, found a value of type float"),
        ("FILTER{CASE WHEN hot THEN 1 END} S", "column 8: expected a condition, found a value of type int"),
        ("FILTER{contains(name, 1)} S", "expected a string as argument of contains"),
        ("FILTER{contain(name, 'x')} S", "unknown function 'contain'; did you mean 'contains'?"),
        ("FILTER{contains(name)} S", "expected 2 arguments of contains, found 1"),
        ("FILTER{min() > 1} S", "expected 1 or more arguments of min, found 0"),
        ("FILTER{coalesce(name, 1) = 'x'} S", "expected a string like the first argument"),
        ("FILTER{$1.price > 1} S", "'$1.price' belongs inside NEXT and FOLD"),
        ("S NEXT{$.price > 1} S", "expected '$1' or '$2'"),
        ("S NEXT{$3.price > 1} S", "expected"),
        ("T NEXT{volume > 1} S", "the incoming event's is '$2.volume'"),
        ("S UNION T", "UNION needs equal schemas"),
        ("T FOLD{} S", "'volume' is missing"),
        ("(SELECT name, volume AS price FROM S) FOLD{} T", "'price' is int on the left, float on the right"),
        ("S FOLD{, , 1 AS n} S", "'n' must already exist"),
        ("S FOLD{, , $.price AS volume} S", "expected a int for 'volume', found a float"),
        ("S FOLD{, , 1 AS volume, 2 AS volume} S", "'volume' twice"),
        ("SELECT name, price AS name FROM S", "'name' twice"),
        ("SELECT *, name FROM S", "'name' twice"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(QueryError) as refusal:
        lowered(text)
    assert message in str(refusal.value)
    assert refusal.value.line == 1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("S NEXT{} U", ("name", "price", "volume", "hot", "other")),
        ("T NEXT{} T", ("name_1", "price_1", "name", "price")),
        ("T NEXT{} T NEXT{} T", ("name_1_1", "price_1_1", "name_1", "price_1", "name", "price")),
        ("T NEXT{} V", ("name_1_1", "price_1", "name", "name_1")),
        ("T FOLD{} T", ("name_1", "price_1", "name", "price")),
        ("(SELECT *, 1 AS n FROM T) FOLD{} T", ("name_1", "price_1", "name", "price", "n")),
        ("V FOLD{} V", ("name_1_1", "name_1_1_1", "name", "name_1")),
        ("SELECT price * 2, name, 1 AS column_1 FROM T", ("column_1_1", "name", "column_1")),
        ("SELECT *, price * 2 FROM T", ("name", "price", "column_3")),
    ],
)
def test_names_of_outputs(text: str, names: tuple[str, ...]) -> None:
    assert lowered(text).schema.names == names


def test_types_of_outputs() -> None:
    query = lowered("SELECT volume / 2 AS half, volume + 1 AS more, volume ^ 2 AS square, price > 1 AS high FROM S")
    assert [a.type for a in query.schema.attributes] == ["float", "int", "float", "bool"]


def test_sources_are_listed_once_left_to_right() -> None:
    assert sources(lowered("U NEXT{} T NEXT{} (T NEXT{} S)").expression) == ["U", "T", "S"]


def test_what_select_computes_does_not_multiply_without_bound() -> None:
    def nested(times: int, item: str = "volume + volume AS volume") -> str:
        return f"SELECT {item} FROM ({nested(times - 1, item)})" if times else "S"

    assert lowered(nested(10)).schema.names == ("volume",)
    assert lowered(nested(60, "volume + 1 AS volume")).schema.names == ("volume",)
    wide = ", ".join(f"volume + volume AS c{number}" for number in range(99))
    for text in (
        nested(12),
        f"FILTER{{volume > 0 OR volume + volume + volume + volume > 1}} ({nested(10)})",
        f"SELECT {wide} FROM ({nested(9)})",
        f"S NEXT{{$1.volume + $2.volume + $2.volume + $2.volume > 0}} ({nested(10)})",
        f"({nested(10)}) FOLD{{, , $.volume + $2.volume + $2.volume + $2.volume AS volume}} ({nested(10)})",
    ):
        with pytest.raises(LimitExceeded, match="once inner SELECTs are substituted"):
            lowered(text)
