"""Counts: additive in any order and pieces, aged by generations, written and read without loss."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.forecast_chains import transitions

from broker.events.errors import DefinitionError
from broker.forecast.counts import BEGINNING, GENERATIONS_KEPT, Counts, CountTable, GenerationClock
from broker.forecast.model_file import Model, load_model, read_model, save_model, write_model

DAY = 86_400_000_000
Transition: TypeAlias = tuple[str, tuple[str | int, ...], int, int, int, int]


def counted(records: list[Transition], half_life: int | None = 4 * DAY) -> Counts:
    counts = Counts(half_life)
    for version, context, generation, state, following, times in sorted(records, key=lambda r: r[2]):
        counts.clock.move(generation * DAY)
        counts.table(version, context).add(state, following, times)
    return counts


def modelled(records: list[Transition], gaps: list[int]) -> Model:
    model = Model(counted(records))
    for number, gap in enumerate(gaps):
        model.gaps_of("v1", ("k", number % 2)).add(gap)
    return model


@given(st.lists(transitions))
def test_records_are_the_sums_of_what_was_added(records: list[Transition]) -> None:
    expected: Counter[Transition] = Counter()
    for *key, times in records:
        expected[*key, 0] += times  # type: ignore[index]
    counts = counted(records)
    counts.check_invariants()
    assert {(*r[:5], 0): r[5] for r in counts.records()} == dict(expected)
    assert counts.statistics()["transitions"] == sum(r[5] for r in records)
    assert counts.contexts("v1") == sorted({r[1] for r in records if r[0] == "v1"}, key=lambda c: [str(p) for p in c])


@given(st.lists(st.tuples(transitions, st.integers(0, 2)), max_size=40))
def test_any_split_merged_in_any_order_equals_the_whole(records: list[tuple[Transition, int]]) -> None:
    whole = counted([record for record, _ in records])
    for order in permutations(range(3)):
        merged = Counts(4 * DAY)
        for part in order:
            merged.merge(counted([record for record, where in records if where == part]))
        assert merged == whole


@given(st.lists(transitions), st.lists(transitions), st.lists(transitions))
def test_merging_is_associative(a: list[Transition], b: list[Transition], c: list[Transition]) -> None:
    left, right, tail = counted(a), counted(a), counted(b)
    left.merge(counted(b))
    left.merge(counted(c))
    tail.merge(counted(c))
    right.merge(tail)
    assert left == right


def test_a_model_merged_with_itself_is_twice_that_model() -> None:
    counts = counted([("v1", (), 0, 0, 1, 3)])
    counts.merge(counts)
    assert [record[5] for record in counts.records()] == [6]


def test_a_version_that_is_forgotten_differently_is_not_merged_others_are() -> None:
    one, other = counted([("v1", (), 0, 0, 1, 3)]), counted([("v1", (), 0, 0, 1, 3)], None)
    with pytest.raises(DefinitionError, match="counts of 'v1': expected a half-life of 4 days, found none"):
        one.merge(other)
    one.merge(counted([("v2", (), 0, 0, 1, 3)], None))
    assert [one.clock_of(version).width for version in one.versions()] == [DAY, 0]
    assert write_model(read_model(write_model(Model(one)), "m.json")) == write_model(Model(one))


def test_a_half_life_halves() -> None:
    counts = Counts(4 * DAY)
    counts.clock.move(0)
    table = counts.table("v1")
    table.add(0, 1, 8)
    table.add(0, 0, 16)
    counts.clock.move(4 * DAY)
    assert table.weighted(0) == {1: 4.0, 0: 8.0}
    table.add(0, 1, 1)
    assert table.weighted(0) == {1: 5.0, 0: 8.0}
    counts.clock.move(0)
    assert counts.clock.generation == 4  # never back
    assert counts.clock.weight(9) == 1.0


def test_what_is_too_old_is_no_part_of_the_value_and_is_dropped() -> None:
    counts = Counts(4 * DAY)
    counts.clock.move(0)
    table = counts.table("v1")
    table.add(0, 1)
    counts.clock.move((GENERATIONS_KEPT - 1) * DAY)
    assert len(list(counts.records())) == 1
    counts.clock.move(GENERATIONS_KEPT * DAY)
    assert list(counts.records()) == []
    assert table.weighted(0) == {}
    table.add(0, 0)
    assert len(table.generations) == 1
    assert table.weighted(0) == {0: 1.0}


def test_without_a_half_life_the_clock_stands() -> None:
    clock = GenerationClock()
    clock.move(10**15)
    assert clock.generation == 0
    assert GenerationClock(DAY).generation == BEGINNING
    assert CountTable(clock).weighted(3) == {}


@given(st.lists(transitions), st.lists(st.integers(0, 10**12)))
def test_a_model_is_read_as_it_was_written(records: list[Transition], gaps: list[int]) -> None:
    model = modelled(records, gaps)
    text = write_model(model)
    again = read_model(text, "model.json")
    assert again == model
    assert again.counts == model.counts
    assert write_model(again) == text
    again.counts.check_invariants()


@given(st.lists(transitions), st.lists(transitions), st.lists(st.integers(0, 10**12)))
def test_models_merge_with_their_gaps(a: list[Transition], b: list[Transition], gaps: list[int]) -> None:
    half = len(gaps) // 2 // 2 * 2  # even, so that gaps keep their keys
    one, other = modelled(a, gaps[:half]), modelled(b, gaps[half:])
    backwards = modelled(b, gaps[half:])
    one.merge(other)
    backwards.merge(modelled(a, gaps[:half]))
    assert one == backwards == modelled(a + b, gaps)


def test_a_model_is_saved_whole(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    model = modelled([("v1", ("N14228", 7), 3, 0, 1, 5)], [3_600_000_000])
    save_model(model, path)
    assert load_model(path) == model
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DefinitionError, match=r"model\.json: expected UTF-8, found byte 0xff"):
        load_model(path)


DAMAGED = [
    ("", "m.json: line 1 column 1: not JSON: Expecting value"),
    ("[" * 100_000, "m.json: not a model: its numbers are too long or its nesting too deep"),
    ('{"format": ' + "9" * 5000 + "}", "m.json: not a model: its numbers are too long or its nesting too deep"),
    ("[]", "m.json: expected an object, found a list"),
    ('{"format": "parquet"}', 'm.json: expected "format": "foretell-model", found string \'parquet\''),
    ('{"format": "foretell-model", "version": 2}', 'm.json: expected "version": 1, found int 2'),
]


@pytest.mark.parametrize(("text", "message"), DAMAGED)
def test_what_is_no_model_is_refused(text: str, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_model(text, "m.json")
    assert str(caught.value) == message


CHANGES = [
    ("[0, 1, 5]", "[0, 1, 6]", 'm.json: expected "digest": "'),
    ('["k", 0]', '["k", 1]', 'm.json: expected "digest": "'),
    ('"digest": "', '"digest": "x', "for what it holds, found string 'x"),
    ('"newest": 1', '"newest": 0', "m.json: counts[0].generation: expected at most 0, the newest of"),
    ('"newest": 1', '"latest": 1', "m.json: clocks[0]: expected an object with subscription, width, newest"),
    ('"clocks"', '"watches"', "missing or unknown: clocks, watches"),
    ('"width": 86400000000', '"width": -1', "m.json: clocks[0].width: expected an int from 0 to"),
    ("[0, 1, 5]", "[0, 1, 0]", "m.json: counts[0].rows[0]: expected states from 0 to 1048575 and a count"),
    ("[0, 1, 5]", "[0, 1.0, 5]", "m.json: counts[0].rows[0]: expected [state, next state, count], found a list"),
    ("[0, 1, 5]", "[0, true, 5]", "m.json: counts[0].rows[0]: expected [state, next state, count], found a list"),
    ("[0, 2, 2]", "[0, 1, 2]", "m.json: counts[0].rows[1]: expected each transition once, found 0 to 1 again"),
    ('"rows"', '"lines"', "m.json: counts[0]: expected the fields subscription, context, generation, rows"),
    ('["N14228", 7]', '"N14228"', "m.json: counts[0].context: expected a list of texts and ints, found string"),
    ('["N14228", 7]', "[null]", "m.json: counts[0].context: expected a list of texts and ints, found a list"),
    ('"v1"', "1", "m.json: clocks[0].subscription: expected a text that no other clock has, found int 1"),
    ('"buckets": [[', '"buckets": [[9', "m.json: gaps[0].buckets[0]: expected a sum whose mean is in bucket"),
    ('"gaps": [', '"gaps": [3,', "m.json: gaps[0]: expected an object, found int 3"),
]


@pytest.mark.parametrize(("old", "new", "message"), CHANGES)
def test_a_damaged_model_is_refused_with_its_place(old: str, new: str, message: str) -> None:
    model = modelled([("v1", ("N14228", 7), 1, 0, 1, 5), ("v1", ("N14228", 7), 1, 0, 2, 2)], [3_600_000_000])
    text = write_model(model)
    assert old in text
    with pytest.raises(DefinitionError) as caught:
        read_model(text.replace(old, new, 1), "m.json")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.integers(0, 400), st.text(max_size=3))
def test_cut_or_changed_text_is_never_a_traceback(place: int, inserted: str) -> None:
    text = write_model(modelled([("v1", (), 1, 0, 1, 5)], [7]))
    place = min(place, len(text) - 2)
    for damaged in (text[:place], text[:place] + inserted + text[place:]):
        # What was inserted may be blank.
        if complaint(damaged) is None:
            assert read_model(damaged, "m.json") == read_model(text, "m.json")


def complaint(text: str) -> str | None:
    try:
        read_model(text, "m.json")
    except DefinitionError as error:
        return str(error)
    return None
