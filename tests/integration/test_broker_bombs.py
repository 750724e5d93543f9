"""Texts that are small and mean too much, in each language: refused with a reason, and the broker goes on.

What such a text would cost is the reason for its limit: nested SELECTs double a term, ORs multiply, the parts of an AND
interleave, and what skips events has two to the power of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from doubles.broker_process import broker_process

from client import Client, DefinitionError, ForetellError, LimitExceeded, QueryError

NESTING = "100 levels of nesting"
PARTS = "once inner SELECTs are substituted"


def nested(step: str, times: int, source: str = "S") -> str:
    """The step applied so often; its source is where it has brackets."""
    for _ in range(times):
        source = step.replace("()", f"({source})")
    return source


FOLD = "SELECT x + x AS x FROM (() FOLD{$2.x = $.x, $2.x > $.x, $.x + $.x AS x} (SELECT x FROM S))"
ON_THE_RIGHT = "SELECT x + x AS x FROM ((SELECT x FROM S) FOLD{$2.x = $.x, $2.x > $.x, $.x + $.x AS x} ())"
BOTH = "SELECT x FROM (() FOLD{$2.x = $.x, $2.x > $.x, $.x + $.x AS x} ())"
WIDE = "SELECT " + ", ".join(f"x + x AS y{number}" for number in range(900)) + " FROM ()"
SUBJECTS = " ".join(f"a{number}: x = {number}" for number in range(60))
RUNS = "skip_till_any_match(a[], b)"

BOMBS: dict[str, list[tuple[str, type[ForetellError] | None, str]]] = {
    "cayuga": [
        ("FILTER{" + "(" * 30_000 + "x = 1" + ")" * 30_000 + "}(S)", QueryError, NESTING),
        ("FILTER{" + "NOT " * 10_000 + "x = 1}(S)", QueryError, NESTING),
        (nested("FILTER{x = 1}()", 3_000), QueryError, NESTING),
        ("FILTER{x = " + "9" * 50_000 + "}(S)", QueryError, "at most 40 digits"),
        (" UNION ".join(["S"] * 90), None, ""),
        ("SELECT * FROM " + " NEXT{} ".join(["S"] * 90), DefinitionError, "at most 127 letters"),
        (nested(FOLD, 20, "SELECT x FROM S"), LimitExceeded, PARTS),
        (nested(ON_THE_RIGHT, 20, "SELECT x FROM S"), None, ""),
        (nested(BOTH, 8, "SELECT x FROM S"), None, ""),
        (nested(BOTH, 10, "SELECT x FROM S"), QueryError, "at most 65536 bytes"),
        (nested("SELECT x + x AS x FROM ()", 30), LimitExceeded, PARTS),
        (nested("SELECT x * x AS x FROM FILTER{x > 0}()", 24), LimitExceeded, PARTS),
        (WIDE.replace("()", f"({nested('SELECT x + x AS x FROM ()', 9)})"), LimitExceeded, PARTS),
    ],
    "ptopss": [
        ("FROM S a: " + "(" * 30_000 + "x = 1" + ")" * 30_000 + " MATCH a", QueryError, NESTING),
        (f"FROM S {SUBJECTS} MATCH " + "(" * 30_000 + "a1" + ")" * 30_000, QueryError, NESTING),
        (f"FROM S {SUBJECTS} MATCH " + " AND ".join(f"a{n}" for n in range(60)), LimitExceeded, "at most 8192 moves"),
        (
            f"FROM S {SUBJECTS} MATCH " + " AND ".join(f"(a{2 * n}; a{2 * n + 1})" for n in range(30)),
            LimitExceeded,
            "at most 8192 moves",
        ),
        (f"FROM S {SUBJECTS} a60: x = 1 MATCH " + "; ".join(f"a{n}" for n in range(61)), QueryError, "at most 60"),
    ],
    "sase": [
        ("PATTERN SEQ(S a, S b) WHERE { " + "(" * 30_000 + "b.x" + ")" * 30_000 + " = 1 }", QueryError, NESTING),
        ("PATTERN SEQ(" + ", ".join(f"S+ a{n}[]" for n in range(61)) + ")", QueryError, "at most 60 components"),
    ],
}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with broker_process() as broker, Client(broker.address, timeout=60) as client:
        client.add_stream("S", {"x": "int", "n": "int"})
        yield client


@pytest.mark.xdist_group("broker_bombs")
@pytest.mark.parametrize("language", BOMBS)
def test_a_text_that_means_too_much_is_refused_with_its_reason(client: Client, language: str) -> None:
    for text, kind, reason in BOMBS[language]:
        refusal: ForetellError | None = None
        try:
            client.subscribe("bomb", cast("Any", language), text).close()
        except ForetellError as error:
            refusal = error
        assert type(refusal) is kind or (kind is None and refusal is None), f"{text[:60]}: {refusal}"
        if refusal is not None:
            assert reason in str(refusal), f"{text[:60]}: {refusal}"
            assert "\n" not in str(refusal)
        client.ping()
    assert client.subscriptions() == []


@pytest.mark.xdist_group("broker_bombs")
def test_a_pattern_of_exponential_runs_is_cut_and_says_so(client: Client) -> None:
    """Two to the power of 40 runs of SASE+, and 40 choose 20 tuples of P-ToPSS: others are served meanwhile."""
    text = f"PATTERN SEQ(S+ a[], S b) WHERE {RUNS} {{ b.x = 2 AND a[i].n > 0 }} WITHIN 1000000"
    runs = client.subscribe("runs", "sase", text, window=10)
    names = [f"a{number}" for number in range(20)]
    tuples = client.subscribe(
        "tuples", "ptopss", f"FROM S {', '.join(names)}: x = 1 z: x = 2 MATCH {'; '.join(names)}; z", window=10
    )
    with client.subscribe("all", query="SELECT * FROM S") as every:
        client.publish_batch("S", range(41), [(1, 1)] * 40 + [(2, 1)])
        assert sum(every.next(60) is not None for _ in range(41)) == 41
    told = runs.next(60)
    assert told is not None
    assert {**told.line(), "id": ""} == {
        "kind": "incomplete", "subscription": "runs", "id": "", "limit": "work_max", "since": 40, "suspended": True,
    }  # fmt: skip
    first = tuples.next(60)
    assert first is not None
    assert len(first.bindings or {}) == 21
    client.ping()
    runs.close()
    tuples.close()
    assert client.statistics()["broker"]["notifications_queued"] == 0
