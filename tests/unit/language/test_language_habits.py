"""What people write by habit, and what each message says to write instead; what it says is accepted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.engine import Engine
from broker.events import UNITS, DefinitionError, ForetellError, QueryError, parse_duration
from broker.language.habits import habit
from broker.language.names import language_meant

SASE = "PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) {{{}}} WITHIN {}"
PTOPSS = "FROM Stock a: {} b: price > 2 MATCH a, b WITHIN {}"
WINDOW = "FROM Stock WINDOW {} AGGREGATE count() AS n"
CEL = "SELECT * FROM FILTER{{{}}}(Stock)"
CONDITIONS = [
    ("name ILIKE 'x*'", "name LIKE~ 'x*'"),
    ("name REGEXP '^x'", "name MATCHES '^x'"),
    ("note = NULL", "note IS NULL"),
    ("note != NULL", "note IS NOT NULL"),
    ("note NOT NULL", "note IS NOT NULL"),
]
TABLE = [
    *[("cayuga", CEL.format(wrong), CEL.format(right), right) for wrong, right in CONDITIONS],
    *[("ptopss", PTOPSS.format(wrong, 5), PTOPSS.format(right, 5), right) for wrong, right in CONDITIONS],
    *[
        ("sase", SASE.format(f"[name] AND a.{wrong}", 5), SASE.format(f"[name] AND {right}", 5), right)
        for wrong, right in [
            (wrong, right.replace("name", "a.name").replace("note", "a.note").replace("price", "a.price"))
            for wrong, right in CONDITIONS
        ]
    ],
    ("cayuga", "SELECT * FROM Stock WHERE price > 5", "SELECT * FROM FILTER{price > 5}(Stock)", None),
    ("cayuga", "SELECT * FROM Stock WHERE name LIKE 'x%'", "SELECT * FROM FILTER{name LIKE 'x*'}(Stock)", None),
    ("cayuga", "SELECT * FROM Stock WHERE Stock.price == 5 LIMIT 5", "SELECT * FROM FILTER{price = 5}(Stock)", None),
    *[
        ("window", WINDOW.format(wrong), WINDOW.format(right), right)
        for wrong, right in [
            ("TUMBLING (SIZE 5 MINUTES)", "EVERY 5 MINUTES"),
            ("TUMBLING 5 min", "EVERY 5 min"),
            ("HOPPING (SIZE 5 MINUTES, ADVANCE BY 1 MINUTE)", "LAST 5 MINUTES"),
        ]
    ],
    *[
        ("window", f"SELECT avg(price) FROM Stock {wrong}", f"FROM Stock {right} AGGREGATE count() AS n", None)
        for wrong, right in [
            ("WINDOW TUMBLING (SIZE 5 MINUTES)", "WINDOW EVERY 5 MINUTES"),
            ("BY name WINDOW TUMBLING 5 min", "BY name WINDOW EVERY 5 min"),
            ("WINDOW LAST 5 min", "WINDOW LAST 5 min"),
        ]
    ],
    (
        "window",
        "FROM Stock WHERE price > 5 WINDOW LAST 5 min AGGREGATE count() AS n",
        "FROM Stock WINDOW LAST 5 min AGGREGATE count() AS n",
        "FILTER{price > 5}(Stock) PUBLISH Chosen in a subscription before",
    ),
    (
        "window",
        "FROM Stock WINDOW LAST 5 min AGGREGATE count() AS n WHERE n > 5",
        "FROM Stock WINDOW LAST 5 min AGGREGATE count() AS n PUBLISH Chosen",
        "PUBLISH Chosen, and FILTER{n > 5}(Chosen) in a second subscription",
    ),
    ("cayuga", "FILTER{DUR < 5 m}(Stock NEXT{} Stock)", "FILTER{DUR < 5 min}(Stock NEXT{} Stock)", "5 min"),
    ("cayuga", "FILTER{DUR < '5 min'}(Stock NEXT{} Stock)", "FILTER{DUR < 5 min}(Stock NEXT{} Stock)", "5 min"),
    ("cayuga", "Stock NEXT{} Stock WITHIN 5 min", "FILTER{DUR <= 5 min}(Stock NEXT{} Stock)", "FILTER{DUR <= 5 min}"),
    ("ptopss", "FROM Stock GROUP BY name a: price > 2 MATCH a", "FROM Stock BY name a: price > 2 MATCH a", "BY name"),
    ("ptopss", "FROM Stock WHERE price > 2", "FROM Stock a: price > 2 MATCH a", "a: price > 2 MATCH a"),
    ("ptopss", PTOPSS.format("price > 1", "5 m"), PTOPSS.format("price > 1", "5 min"), "5 min"),
    ("ptopss", PTOPSS.format("price > 1", "'5 min'"), PTOPSS.format("price > 1", "5 min"), "5 min"),
    ("sase", SASE.format("[name]", "5 m"), SASE.format("[name]", "5 min"), "5 min"),
    ("sase", SASE.format("[name]", "'5 min'"), SASE.format("[name]", "5 min"), "5 min"),
    (
        "sase",
        "PATTERN SEQ(Stock a, Stock b) WHERE a.price > 5 AND a.name = b.name WITHIN 10",
        SASE.format(" a.price > 5 AND a.name = b.name ", 10),
        "WHERE skip_till_next_match(a, b) { a.price > 5 AND a.name = b.name }",
    ),
    (
        "sase",
        "PATTERN SEQ(Stock a, Stock b) WHERE skip_till_any_match(a, b) AND a.price > 5 WITHIN 10",
        "PATTERN SEQ(Stock a, Stock b) WHERE skip_till_any_match(a, b) { a.price > 5 } WITHIN 10",
        "WHERE skip_till_any_match(a, b) { a.price > 5 }",
    ),
    (
        "sase",
        "PATTERN SEQ(Stock a, NOT Stock b, Stock c) WHERE skip_till_next_match(a, c) {[name]} WITHIN 10",
        "PATTERN SEQ(Stock a, ~(Stock b), Stock c) WHERE skip_till_next_match(a, c) {[name]} WITHIN 10",
        "~(Stock b)",
    ),
    (
        "sase",
        "PATTERN SEQ(Stock+ a[], Stock b) WHERE skip_till_next_match(a[], b) {[name] AND count(a[]) > 3} WITHIN 10",
        "PATTERN SEQ(Stock+ a[], Stock b) WHERE skip_till_next_match(a[], b) {[name] AND a.LEN > 3} WITHIN 10",
        "a.LEN",
    ),
    ("sase", "SEQ(Stock a) WHERE x", None, "PATTERN SEQ("),
    ("ptopss", "FROM Stock a: price > 1 b: price > 2 MATCH a, NOT b", None, 'language = "sase"'),
    ("cayuga", "SELECT name, price FROM Stock GROUP BY name", None, "FOLD{$2.name = $.name"),
    ("cayuga", CEL.format("CASE name WHEN 'x' THEN 1 END = 1"), None, "CASE WHEN name = 'x' THEN ..."),
]


def engine() -> Engine:
    made = Engine()
    made.add_stream("Stock", {"name": "string", "price": "float", "note": "string?"})
    return made


@pytest.mark.parametrize(("language", "wrong", "right", "said"), TABLE, ids=[f"{row[0]}: {row[1]}" for row in TABLE])
def test_a_habit_is_named_with_what_to_write_instead(
    language: str, wrong: str, right: str | None, said: str | None
) -> None:
    with pytest.raises(QueryError) as caught:
        engine().subscribe("q", language, wrong)
    message = str(caught.value)
    assert f"; not in this language: write {'' if said else right}" in message
    assert (said or right or "") in message
    assert "\n" not in message
    if right is not None:
        engine().subscribe("q", language, right)


@given(st.text(max_size=60), st.integers(0, 60))
def test_any_text_has_a_habit_or_none(text: str, at: int) -> None:
    assert isinstance(habit(text, min(at, len(text))), str)


def test_languages_have_other_names() -> None:
    for name, known in (("cel", "cayuga"), ("CEL", "cayuga"), ("sase+", "sase"), ("P-ToPSS", "ptopss")):
        other = engine()
        with pytest.raises(ForetellError) if known != "cayuga" else pytest.MonkeyPatch.context():
            other.subscribe("q", name, "Stock")
        if known == "cayuga":
            assert other.subscriptions["q"].language == known
    with pytest.raises(
        DefinitionError, match=r"language: expected one of cayuga, sase, ptopss, .*, found string 'esper'"
    ):
        engine().subscribe("q", "esper", "Stock")


def test_a_query_in_the_place_of_the_language_is_told() -> None:
    with pytest.raises(DefinitionError, match="found a query; write query='SELECT"):
        engine().subscribe("q", "SELECT * FROM Stock")
    assert language_meant("SELECT * FROM Stock") == "cayuga"
    assert language_meant(" PATTERN SEQ(Stock a)") == "sase"
    assert language_meant("FROM Stock a: x > 1 MATCH a") == "ptopss"
    assert language_meant("") == "cayuga"


@pytest.mark.parametrize("unit", sorted(UNITS))
def test_a_unit_of_time_is_one_in_every_language(unit: str) -> None:
    assert parse_duration(f"3 {unit}") == 3 * UNITS[unit]
    known = engine()
    for number, (language, query) in enumerate(
        [
            ("cayuga", f"FILTER{{DUR < 3 {unit}}}(Stock NEXT{{}} Stock)"),
            ("sase", f"PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) {{ [name] }} WITHIN 3 {unit}"),
            ("ptopss", f"FROM Stock a: price > 1 b: price > 2 MATCH a, b WITHIN 3 {unit}"),
            ("window", f"FROM Stock WINDOW LAST 3 {unit} AGGREGATE count() AS n"),
            ("afa", f"FROM Stock START s FINAL f first: s -> f WHEN price > 1 WITHIN 3 {unit}"),
        ]
    ):
        known.subscribe(f"q{number}", language, query)
        assert not [each for each in known.warnings(query, language) if "write a unit" in each]
