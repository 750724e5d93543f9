"""Punctuations with predicates: what they promise is what their meaning says, and what is told to be final stays.

Here: tables of promises against the meaning of promises, and engines whose events keep random promises. Not here:
punctuations of all events (test_laws_disorder).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from strategies.afa import SCHEMA, Insertion, Punctuation, Update, Withdrawal, query_texts, scripts, waiting_texts
from strategies.disorder import Play, meant

from broker.algebra.afa.semantics import LivingEvent
from broker.algebra.promises import Promise, covered, keeps, predicate
from broker.algebra.regions import axes, number_of, regions, rows, satisfied
from broker.engine.disorder.promised import PromisedRows
from broker.engine.disorder.stream_order import NOTHING_PROMISED
from broker.engine.notices import Finality
from broker.events.errors import LateEvent, UnknownEvent
from broker.events.schema import Schema

PREDICATES = (
    "ty = 'A'", "ty = 'B'", "NOT ty = 'A'", "ty > 'A'", "k = 'K'", "k != 'K'", "k IS NULL", "x > 1", "x <= 1",
    "x = 2.5", "ty IN ('A', 'C')", "x BETWEEN 0 AND 2", "k = 'K' AND ty = 'A'", "ty = 'B' OR x IS NULL",
    "NOT (ty = 'A' AND x < 2)", "TRUE", "x < 1 OR x >= 1", "x > 3 AND x < 4", "ty != 'C' OR k = 'L'",
)  # fmt: skip
NUMBERS = (-(2**63), *range(-1, 6), 2**63 - 1, None)
POSSIBLE = list(product(("K", "L", "A", "", None), ("A", "B", "C", "", "A\0", "AA", "D"), NUMBERS))
"""Rows that tell all of these predicates apart."""


def predicates() -> st.SearchStrategy[str]:
    atoms = st.sampled_from(PREDICATES)
    pairs = st.tuples(atoms, st.sampled_from(("AND", "OR")), atoms).map(lambda part: f"({part[0]}) {part[1]} {part[2]}")
    return atoms | pairs | pairs.map(lambda text: f"NOT ({text})")


@given(predicates(), st.lists(st.sampled_from(POSSIBLE), min_size=1, max_size=40))
def test_one_row_decides_for_its_region(text: str, found: list[Any]) -> None:
    condition, cuts = predicate(text, SCHEMA)
    along = axes(SCHEMA, cuts)
    representatives = list(rows(along, [None] * len(SCHEMA)))
    assert len(representatives) == regions(along)
    assert [number_of(along, row) for row in representatives] == list(range(len(representatives)))
    for row in found:
        assert satisfied(condition, row) == satisfied(condition, representatives[number_of(along, row)])


@given(st.lists(st.tuples(st.integers(0, 9), predicates()), min_size=1, max_size=8), st.integers(-1, 12))
def test_tables_of_promises_are_their_meaning(written: list[tuple[int, str]], base: int) -> None:
    table = PromisedRows(SCHEMA)
    promises = []
    for time, text in written:
        condition, cuts = predicate(text, SCHEMA)
        table.promise(time, condition, cuts, 10_000, NOTHING_PROMISED)
        promises.append(Promise(time, condition))
        table.check_invariants()
    least = covered(promises, POSSIBLE)
    assert table.least() == (NOTHING_PROMISED if least is None else least)
    again = PromisedRows(SCHEMA)
    again.load(table.dump())
    table.simplify(base)
    table.check_invariants()
    for row in POSSIBLE:
        held = next((time for time in range(10, -1, -1) if not keeps(promises, time - 1, row)), NOTHING_PROMISED)
        assert max(table.floor(row), base) == max(held, base)
        assert again.floor(row) == held


@given(st.sampled_from(("int", "float", "int?", "float?")), st.lists(st.integers(-3, 3) | st.floats(-3, 3), min_size=1))
def test_every_number_has_a_class(type_: str, constants: list[Any]) -> None:
    schema = Schema.declare({"x": type_})
    along = axes(schema, {0: frozenset(constants)})
    for value in (*constants, *range(-4, 5), 0.5, -2.25, -0.0):
        if type_.startswith("float") or isinstance(value, int):
            row = (float(value) if type_.startswith("float") else value,)
            one = list(rows(along, [None]))[number_of(along, row)][0]
            for constant in constants:
                assert ((row[0] > constant) - (row[0] < constant)) == ((one > constant) - (one < constant))


class Promising(Play):
    """With a promise beside each insertion that later events and withdrawals keep, or are refused."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.promises: list[Promise] = []

    def kept(self, time: int, row: Any) -> bool:
        return keeps(self.promises, time, row)

    def promise(self, time: int, text: str) -> None:
        note(f"promise {time} {text}")
        self.promises.append(Promise(time, predicate(text, SCHEMA)[0]))
        self.told.add(self.engine.punctuate(time, "S", text))

    def step(self, step: Any) -> None:
        match step:
            case Insertion(event) if not self.kept(event.time, event.row):
                with pytest.raises(LateEvent):
                    self.engine.publish("S", [event.time], [event.row], [event.id])
            case Withdrawal(id) if id not in self.events:
                pass  # it was refused when it should have come
            case Withdrawal(id) if not self.kept(self.events[id].time, self.events[id].row):
                with pytest.raises(UnknownEvent):
                    self.engine.retract(id)
            case Insertion(event) if event.id in self.events:
                pass  # it was not withdrawn
            case Punctuation(time):
                self.promises.append(Promise(time))
                super().step(step)
            case Update():
                pass
            case _:
                super().step(step)

    def play(self, batches: list[list[Any]], promises: list[tuple[int, int, str]], cut: int) -> None:
        for number, step in enumerate([step for batch in batches for step in batch]):
            for at, time, text in promises:
                if at == number:
                    self.promise(time, text)
            note(f"{step}")
            self.step(step)
            self.engine.check_invariants()
            if cut == number:
                self.restart()
        self.told.add(self.engine.finish())


def promised() -> st.SearchStrategy[list[tuple[int, int, str]]]:
    return st.lists(st.tuples(st.integers(0, 14), st.integers(0, 24), predicates()), max_size=6)


@given(
    st.lists(query_texts() | waiting_texts(), min_size=1, max_size=3), scripts(updates=False), promised(),
    st.integers(0, 20), st.sampled_from((None, None, 0, 3)),
)  # fmt: skip
def test_what_is_told_with_promises_is_the_meaning(
    texts: list[str], batches: list[list[Any]], promises: list[tuple[int, int, str]], cut: int, speculation: int | None
) -> None:
    play = Promising(texts, [], "each", speculation=speculation)
    play.play(batches, promises, cut)
    for name, registers in play.typed.items():
        assert play.told.of(name) == meant(registers, list(play.events.values()), {}), name


@given(query_texts() | waiting_texts(), scripts(updates=False), promised(), st.integers(0, 20))
def test_held_back_events_with_promises_are_what_stands(
    text: str, batches: list[list[Any]], promises: list[tuple[int, int, str]], cut: int
) -> None:
    plays = [Promising([text], [], "each"), Promising([text], [], "final"), Promising([text], [], "each", "buffer")]
    for play in plays:
        play.play(batches, promises, cut)
    each, final, buffered = plays
    assert final.told.standing.get("q0", {}) == each.told.standing.get("q0", {})
    assert buffered.told.standing.get("q0", {}) == each.told.standing.get("q0", {})


@given(
    st.sampled_from(("ty = 'A'", "x > 1", "TRUE")), st.sampled_from(("ty = 'B'", "x >= r", "ty = 'A'")), promised(),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from("KL"), st.sampled_from("ABC"), st.integers(0, 3))),
    st.tuples(st.integers(0, 9), st.sampled_from(("K", "L")), st.sampled_from("ABC"), st.integers(0, 3)),
    st.sampled_from(("", " BY k")),
)  # fmt: skip
def test_what_is_final_for_a_key_or_all_stays(
    begin: str, end: str, promises: list[tuple[int, int, str]], events: list[Any], late: Any, by: str
) -> None:
    text = (
        f"FROM S{by} REGISTER r INT = 0 START a FINAL d a -> b WHEN {begin} SET r = x b -> b WHEN ty != 'Z' "
        f"b -> d WHEN {end}"
    )
    play = Promising([text], [], "each")
    for number, (time, *row) in enumerate(events, 1):
        play.step(Insertion(LivingEvent(number, time, 0, tuple(row))))
    for _, time, condition in promises:
        play.promise(time, condition)
    told = [each.notice for each in play.told.notices if isinstance(each.notice, Finality)]
    before = play.told.of("q0")
    time, *row = late
    play.step(Insertion(LivingEvent(999, time, 0, tuple(row))))
    for one in [one for one in (*before, *play.told.of("q0")) if (one in before) != (one in play.told.of("q0"))]:
        for each in told:
            mine = each.key is None or each.key == {"k": row[0]}
            assert not mine or int(str(one[1])) >= each.time
    wanted = meant(play.typed["q0"], list(play.events.values()), {})
    assert play.told.of("q0") == wanted
