"""Subscriptions as data, and a cell's own rules: the order of its events, limits that mean nothing in a part, plans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from doubles.divided_history import DividedHistory
from spark.test_parity import BY_KEY, BY_TIME, COUNTED, EVERYWHERE, STREAMS, WHOLE, WINDOWS_BY_KEY, happened, program

from broker.engine import Engine, Options
from broker.events import DefinitionError, EventError, LimitExceeded, UnknownSubscription
from broker.events.errors import QueryError
from broker.events.event_columns import EventColumns
from spark_bridge.backtesting import Backtest
from spark_bridge.cells import Work, run_cell
from spark_bridge.history.form import Run
from spark_bridge.plan.cell import FIRST, LAST, Cell, Keys, slices_of
from spark_bridge.plan.choice import plan_for
from spark_bridge.reading import bucket_of, runs_of
from spark_bridge.subscriptions import Subscriptions


def test_packed_subscriptions_are_the_same_again() -> None:
    subscriptions = program(EVERYWHERE, WHOLE, COUNTED)
    again = Subscriptions.unpack(subscriptions.packed())
    assert (again.streams, again.definitions, again.place) == (
        subscriptions.streams,
        subscriptions.definitions,
        subscriptions.place,
    )
    assert again.digest == subscriptions.digest != program(EVERYWHERE).digest
    assert again is Subscriptions.unpack(subscriptions.packed())


def test_other_bytes_are_refused() -> None:
    packed = program(EVERYWHERE).packed()
    for damaged in (b"", packed[1:], packed[:-3], packed[:45] + bytes(8) + packed[53:]):
        with pytest.raises(DefinitionError, match=r"^expected packed subscriptions, found "):
            Subscriptions.unpack(damaged)


def test_the_engine_is_that_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "subscriptions.toml"
    file.write_text(STREAMS + EVERYWHERE + WHOLE)
    assert Subscriptions.read(file).engine().explain() == Engine.load(file).explain()
    bad = Subscriptions.of_text(STREAMS + EVERYWHERE.replace("price_1", "prize"), "bad.toml")
    with pytest.raises(QueryError, match=r"^bad.toml: subscription 'rise': "):
        bad.engine()
    with pytest.raises(UnknownSubscription, match="did you mean 'rise'"):
        bad.definition("rice")


def test_lineage_that_a_slice_needs_is_not_told() -> None:
    subscriptions = program(EVERYWHERE)
    assert [name for name in subscriptions.definitions if subscriptions.wants_lineage(name)] == ["after_news", "pair"]


def test_a_cell_refuses_events_out_of_order() -> None:
    subscriptions = program(EVERYWHERE)
    row = ("a", 1.0, 1)
    for points in ([(5, 2), (5, 1)], [(5, 2), (4, 3)], [(5, 2), (5, 2)]):
        for size in (1, 2):
            runs: list[Any] = []
            for at in range(0, 2, size):
                part = points[at : at + size]
                runs.append(("Stock", [t for t, _ in part], [row] * size, [i for _, i in part], None))
            with pytest.raises(DefinitionError, match=r"^expected events in the order \(time, id\)"):
                list(run_cell(Cell(0), subscriptions, runs, Backtest()))


@pytest.mark.parametrize("size", [1, 7, 100, 2_000])
def test_a_cell_gives_the_same_in_the_same_order_for_columns_and_for_rows(size: int) -> None:
    history = DividedHistory(program().streams, happened(1_200, 3), size)
    subscriptions = program(EVERYWHERE, BY_KEY, BY_TIME, WHOLE, COUNTED, WINDOWS_BY_KEY)
    found: list[list[Any]] = []
    for as_rows in (False, True):
        runs: list[Run] = []
        whole = runs_of(Cell(0), history, subscriptions.streams, subscriptions.streams, history.columns)
        for stream, times, rows, ids, starts in whole:
            assert type(rows) is EventColumns
            runs.append((stream, times, list(rows) if as_rows else rows, ids, starts))
        parts = list(run_cell(Cell(0), subscriptions, runs, Backtest()))
        found.append([row for part in parts for row in part.to_pylist()])
    assert found[0] == found[1]
    assert {row["subscription"] for row in found[0]} >= {"rise", "pair", "long", "any", "timed", "hours"}


def test_events_that_are_moments_have_no_starts_so_that_they_go_by_columns() -> None:
    rows = [("Stock", time, time, time - (time > 4), ("a", 1.0, 1)) for time in range(1, 7)]
    history = DividedHistory(program().streams, rows, 2)
    subscriptions = program(EVERYWHERE)
    seen: list[list[int] | None] = []

    class Looking:
        schema = pa.schema([])

        def part(self, work: Work) -> Iterator[pa.RecordBatch]:
            seen.extend(starts for *_, starts in work.runs())
            return iter(())

    runs = runs_of(Cell(0), history, subscriptions.streams, subscriptions.streams, history.columns)
    assert list(run_cell(Cell(0), subscriptions, runs, Looking())) == []
    assert seen == [None, None, [4, 5]]


def test_a_value_that_does_not_fit_is_named_as_in_a_row() -> None:
    history = DividedHistory(program().streams, [("Stock", 1, 1, 1, ("a", 1.0, 1)), ("Stock", 2, 2, 2, ("a", None, 1))])
    subscriptions = program(EVERYWHERE)
    runs = runs_of(Cell(0), history, subscriptions.streams, subscriptions.streams, history.columns)
    with pytest.raises(EventError, match=r"^stream 'Stock', row 1, attribute 'price': expected float, found null"):
        list(run_cell(Cell(0), subscriptions, runs, Backtest()))


def test_a_limit_in_a_part_of_the_history_is_refused() -> None:
    history = DividedHistory(program().streams, happened(60, 5))
    text = 'language = "sase"\nquery = "PATTERN SEQ(Stock a, Stock b) WHERE skip_till_any_match(a, b) WITHIN 50"\n'
    subscriptions = Subscriptions.of_text(f"{STREAMS}[subscriptions.many]\n{text}")
    cell = Cell(0, until=(1_020, 0), window=50)
    runs = runs_of(cell, history, subscriptions.streams, ["Stock"], history.columns)
    limited = Options(runs_max=3, executors_off=("groups",))  # a group has no runs, but events, which it counts rarely
    with pytest.raises(LimitExceeded, match=r"^subscription 'many': a limit of the engine was hit in a part"):
        list(run_cell(cell, subscriptions, runs, Backtest(), options=limited))


def test_slices_cover_everything_once() -> None:
    assert slices_of([]) == [(FIRST, LAST)]
    assert slices_of([(5, 2), (1, 1), (5, 2)]) == [(FIRST, (1, 1)), ((1, 1), (5, 2)), ((5, 2), (5, 2)), ((5, 2), LAST)]


def test_every_key_is_in_one_bucket() -> None:
    history = DividedHistory(program().streams, happened(200, 9))
    attributes = (("News", "about"), ("Stock", "name"))
    keys = [Keys(attributes, bucket, 3, ("hot",)) for bucket in range(3)] + [Keys(attributes, only=("hot",))]
    seen: list[list[int]] = []
    for key in keys:
        runs = runs_of(Cell(0, keys=key), history, history.streams, history.streams, history.columns)
        seen.append([number for _, _, _, ids, _ in runs for number in ids])
    assert sorted(number for ids in seen for number in ids) == [number for _, _, number, _, _ in history.happened]
    assert [bucket_of(key, 7) for key in ("hot", 12, True)] == [bucket_of(key, 7) for key in ("hot", 12, True)]


def test_shards_keep_publishers_and_readers_together() -> None:
    plan = plan_for(program(WHOLE, EVERYWHERE), "results", scheme="shards", parallelism=4)
    groups = [set(group) for part in plan.parts for group in part.groups]
    assert sum(map(len, groups)) == 7
    assert any({"jumps", "second_jump"} <= group for group in groups)
    assert len(groups) == 4
