"""The machine path: machines take a batch one after the other; results and their order are those of event by event."""

from __future__ import annotations

import random
from typing import Any

import pytest

from broker.algebra.functions import FUNCTIONS, ScalarFunction
from broker.engine import Engine, Options
from broker.events.schema import Row

STEPS = "FILTER{{p < {1}}}(FILTER{{k = '{2}' AND p > {0} AND v > 0}}(S) NEXT{{$2.k = $1.k}} S)"
TEXTS = {
    "steps": ("cayuga", "SELECT * FROM " + STEPS),
    "begins": (
        "cayuga",
        "SELECT * FROM FILTER{{p < {1}}}(FILTER{{starts_with(k, '{2}') AND p > {0}}}(S) NEXT{{$2.k = $1.k}} S)",
    ),
    "box": ("cayuga", "SELECT * FROM FILTER{{k = '{2}' AND p > {0} AND v > 2}}(S)"),
    "beside": (
        "sase",
        "PATTERN SEQ(S a, S b) WHERE partition_contiguity(a, b) {{ [k] AND a.k = '{2}' AND a.p > {0} AND b.p < {1} }}"
        " WITHIN 50",
    ),
    "waits": (
        "sase",
        "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ [k] AND a.k = '{2}' AND a.p > {0} AND b.p < {1} }}"
        " WITHIN 9",
    ),
    "late": (
        "sase",
        "PATTERN SEQ(S a, S b, ~(S n)) WHERE skip_till_next_match(a, b) {{ [k] AND a.k = '{2}' AND a.p > {0} AND"
        " b.p < {1} AND n.p > 3.5 }} WITHIN 5",
    ),
    "registers": (
        "afa",
        "FROM S BY k START a FINAL c a -> b WHEN k = '{2}' AND p > {0} b -> b WHEN p = 4 b -> c WHEN p < {1} WITHIN 50",
    ),
}
KEYS = "ABC"


def engine(options: Options, names: list[str], each: int = 6) -> Engine:
    made = Engine(options)
    made.add_stream("S", {"k": "string?", "p": "float?", "v": "int"})
    for at, name in enumerate(names):
        language, text = TEXTS[name]
        for number in range(each):
            query = text.format(number % 4, 0.5 + number % 3, KEYS[(at + number) % 3])
            made.subscribe(f"{name}-{number}", language=language, query=query, lineage=True)
    return made


def events(chance: random.Random, count: int, time: int) -> tuple[list[int], list[Row]]:
    times: list[int] = []
    rows: list[Row] = []
    for _ in range(count):
        time += chance.choice((0, 1, 1, 2, 7))
        times.append(time)
        price = chance.choice([None, *map(float, range(5))])
        rows.append((chance.choice([*KEYS, "A", "AB", "D", None]), price, chance.randrange(5)))
    return times, rows


@pytest.mark.parametrize("names", [[name] for name in TEXTS] + [list(TEXTS)], ids=" ".join)
def test_key_by_key_is_event_by_event(names: list[str]) -> None:
    one, other = engine(Options(), names), engine(Options(batches=False), names)
    chance = random.Random(7)
    time, total = 0, 0
    for count in (1, 2, 30, 5, 60, 1, 40, 60):
        times, rows = events(chance, count, time)
        time = times[-1]
        found, expected = one.publish("S", times, rows), other.publish("S", times, rows)
        assert len(found) == len(expected)
        told = list(found)
        assert [match.end for match in told if match.subscription.startswith("late")] == [
            match.end for match in expected if match.subscription.startswith("late")
        ]
        # Whom time completes at one event may come in another order; each has its own results in order.
        assert sorted(told, key=_whose) == sorted(expected, key=_whose)
        total += len(told)
        one.check_invariants()
    assert total > 9


def _whose(match: Any) -> str:
    return str(match.subscription)


def goes_by_machine(own: Engine) -> bool:
    """Whether a batch goes to one machine after the other."""
    dispatcher: Any = own.runtime
    results = own.publish("S", [own.now or 0] * 2, [("A", 1.0, 1), ("B", 1.0, 1)])
    assert dispatcher.results is results
    return bool(results.found.unordered)


def test_which_batches_go_by_machine() -> None:
    assert goes_by_machine(engine(Options(), list(TEXTS)))
    assert not goes_by_machine(engine(Options(batches=False), list(TEXTS)))
    derives = engine(Options(), list(TEXTS))
    derives.subscribe("made", query="SELECT * FROM FILTER{k = 'A' AND p > 1}(S) PUBLISH Made")
    assert goes_by_machine(derives)
    derives.subscribe("reads", query="SELECT * FROM Made")
    assert not goes_by_machine(derives)  # an event of Made comes between two of the batch
    beside = engine(Options(), list(TEXTS))
    repeats = "PATTERN SEQ(S+ a[]) WHERE skip_till_any_match(a[]) { a[i].p > 1 } WITHIN 2"
    beside.subscribe("other", language="sase", query=repeats)
    assert goes_by_machine(beside)  # it gets all events, as no key says which it is about


TUMBLES = "FROM S BY k WINDOW EVERY 3 EVENTS AGGREGATE sum(p) AS s"
SLEEPS = "FROM S BY k WINDOW AFTER any* MATCHING [p > {0}] any{{2}} AGGREGATE max(v) AS m, min(v) AS l{0}"


def test_windows_beside_others_go_by_machine() -> None:
    beside = engine(Options(), [])
    beside.subscribe("tumbles", language="window", query=TUMBLES)
    assert not goes_by_machine(beside)  # it is alone, so that nothing has to be put in order
    beside.subscribe("filter", query="SELECT * FROM FILTER{p > 1}(S)")
    assert goes_by_machine(beside)
    for number in range(9):
        assert goes_by_machine(beside)
        beside.subscribe(f"sleeps-{number}", language="window", query=SLEEPS.format(number))
    assert not goes_by_machine(beside)  # an index finds which of so many conditions an event satisfies
    beside.unsubscribe("sleeps-0")
    assert goes_by_machine(beside)


@pytest.mark.parametrize("kind", ["chain", "merged", "contiguous"])
def test_who_fails_in_a_batch_stops_there_and_no_other_does(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def compute(x: Any) -> float:
        if x == 4:
            raise ZeroDivisionError("a mistake")
        return float(x)

    monkeypatch.setitem(FUNCTIONS, "sqrt", ScalarFunction(("number",), "float", compute))
    faulty = {
        "merged": "SELECT * FROM FILTER{{p > {0} AND sqrt(v) > 0}}(S)",
        "chain": "SELECT * FROM FILTER{{p < 9}}(FILTER{{k = 'A' AND p > {0} AND sqrt(v) > 0}}(S)"
        " NEXT{{$2.k = $1.k}} S)",
        "contiguous": "PATTERN SEQ(S a, S b) WHERE partition_contiguity(a, b) {{ [k] AND a.k = 'A' AND a.p > {0} AND"
        " sqrt(b.v) > 0 }} WITHIN 50",
    }[kind]
    language = "sase" if kind == "contiguous" else "cayuga"
    times = list(range(1, 13))
    rows: list[Row] = [("AB"[at % 2], 3.0, 4 if at == 6 else 1) for at in range(12)]
    told = []
    for options in (Options(), Options(batches=False)):
        own = engine(options, ["beside", "waits"])
        for number in range(2):
            own.subscribe(f"faulty-{number}", language=language, query=faulty.format(number), lineage=True)
        found = list(own.publish("S", times, rows))
        own.check_invariants()
        assert own.statistics()["suspended"] == 2
        assert [failed.subscription for failed in own.failures] == ["faulty-0", "faulty-1"]
        assert any(match.subscription == "faulty-0" and match.limit is None for match in found)
        told.append(sorted(found, key=_whose))
    assert told[0] == told[1]


def test_machines_whose_events_nobody_counts_get_no_numbers_of_other_machines() -> None:
    texts = {
        "counts": ("ptopss", "FROM S a: v = 1 b: v = 2 MATCH a, b"),
        "runs": ("sase", "PATTERN SEQ(S a, S+ b[], S c) WHERE skip_till_next_match(a, b, c) { c.v = 2 } WITHIN 20 us"),
    }
    snapshots = []
    for size in (1, 2):
        made = Engine()
        made.add_stream("S", {"k": "string", "p": "float", "v": "int"})
        for name, (language, text) in texts.items():
            made.subscribe(name, language, text)
        for at in range(0, 2, size):
            made.publish("S", list(range(at, at + size)), [("A", 1.0, 1)] * size)
        snapshots.append(made.snapshot())
    assert snapshots[0] == snapshots[1]
