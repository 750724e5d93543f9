"""Conditions whose ORs would multiply beyond the limit say what they mean, in every language, for one and for many."""

from __future__ import annotations

import random
from typing import Final

import pytest

from broker.engine import Engine

ATTRIBUTES: Final = {"k": "string?", "h": "string", "n": "int?"}


def listed(prefix: str, count: int) -> str:
    return ", ".join(f"'{prefix}{number}'" for number in range(count))


PAIRS: Final = [(f"a{number}", f"b{number}") for number in range(40)]
ANY_PAIR: Final = " OR ".join(f"({{0}}k = '{k}' AND {{0}}h = '{h}')" for k, h in PAIRS)
CONDITIONS: Final = {
    "either list": f"{{0}}k NOT IN ({listed('a', 40)}) OR {{0}}h NOT IN ({listed('b', 40)})",
    "neither of pairs": " AND ".join(f"NOT ({{0}}k = '{k}' AND {{0}}h = '{h}')" for k, h in PAIRS),
    "none of the pairs": f"NOT ({ANY_PAIR})",
    "both lists": f"{{0}}k IN ({listed('a', 40)}) AND {{0}}h IN ({listed('b', 40)})",
    "one of the pairs": ANY_PAIR,
    "exceptions": " AND ".join(f"({{0}}k != '{k}' OR {{0}}n > {at})" for at, (k, _) in enumerate(PAIRS)),
}  # fmt: skip
FORMS: Final = {
    "cayuga": "SELECT * FROM FILTER{{{}}}(S)",
    "sase": "PATTERN SEQ(S a) WHERE strict_contiguity(a) {{ {} }} WITHIN 9",
    "ptopss": "FROM S\na: {}\nMATCH a",
    "afa": "FROM S START a FINAL b a -> b WHEN {}",
    "window": "FROM S WINDOW AFTER any* MATCHING [{}]",
}


def meant(name: str, k: str | None, h: str, n: int | None) -> bool:
    """A comparison with null is false, and so is its NOT."""
    known = {k for k, _ in PAIRS}, {h for _, h in PAIRS}
    match name:
        case "either list":
            return (k is not None and k not in known[0]) or h not in known[1]
        case "neither of pairs" | "none of the pairs":
            return all((k is not None and k != one) or h != other for one, other in PAIRS)
        case "both lists":
            return k in known[0] and h in known[1]
        case "one of the pairs":
            return (k, h) in PAIRS
        case _:
            return all((k is not None and k != one) or (n is not None and n > at) for at, (one, _) in enumerate(PAIRS))


@pytest.mark.parametrize("language", FORMS)
@pytest.mark.parametrize("name", CONDITIONS)
def test_lists_that_would_multiply(name: str, language: str) -> None:
    chance = random.Random(name)
    rows = [
        (chance.choice([None, "c", *[k for k, _ in PAIRS[:4]]]), chance.choice(["c", *[h for _, h in PAIRS[:4]]]), n)
        for n in [*range(-2, 6), None] * 8
    ]
    engine = Engine()
    engine.add_stream("S", ATTRIBUTES)
    text = FORMS[language].format(CONDITIONS[name].format("a." if language == "sase" else ""))
    for number in range(3):  # one compiles the shape for all
        engine.subscribe(f"s{number}", language, text.replace("'a39'", f"'a{39 + number}'"), lineage=True)
    found = [match.lineage for match in engine.publish("S", range(len(rows)), rows) if match.subscription == "s0"]
    ids = list(range(len(rows)))
    assert len(found) == sum(meant(name, *row) for row in rows), ids
