"""Evaluation on Spark: histograms are those of one engine with judges beside it, whatever the plan; measures follow."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from doubles.divided_history import DividedHistory, Happened

from broker.events import DefinitionError
from broker.forecast.judging import COLUMNS
from broker.forecast.model_file import Model
from spark_bridge.evaluation.evaluate import evaluate, histograms, measured, reliability_of
from spark_bridge.evaluation.measures import added, measures, reliability
from spark_bridge.history.form import batches
from spark_bridge.history.prepared import History
from spark_bridge.history.writing import write_history
from spark_bridge.subscriptions import Subscriptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HORIZONS: Final = (1, 3, 8)
THRESHOLDS: Final = (0.0, 0.2, 0.5, 0.9)
TEXT: Final = """
[streams.Tick]
attributes = { name = "string", price = "int" }
key = "name"
[subscriptions.rise]
language = "cayuga"
query = "Tick NEXT{$2.name = $1.name AND $2.price > $1.price + 3} Tick"
forecast = { within = 3, effective = 5, context = ["key"] }
[subscriptions.pair]
language = "ptopss"
query = '''FROM Tick BY name
a: price > 7
b: price < 3
MATCH a; b WITHIN 40'''
forecast = { within = 4, effective = 5 }
"""


def happened(events: int, seed: int) -> list[Happened]:
    chance = random.Random(seed)
    names = ["hot", "hot", "b", "c", "d"]
    return [
        ("Tick", 1_000 + number // 2, number, 1_000 + number // 2, (chance.choice(names), chance.randrange(10)))
        for number in range(1, events + 1)
    ]


Histogram = dict[tuple[str, str, int, int], tuple[int, ...]]


def judged(history: DividedHistory, subscriptions: Subscriptions, model: Model | None, learn: bool) -> Histogram:
    """One engine, all events in order."""
    engine = subscriptions.engine()
    if model is not None:
        engine.load_model(model)
    judges = engine.program.forecasts.judge(HORIZONS, None if learn else model)
    for batch in history.between():
        for stream, times, rows, ids, starts in batches(batch, history.streams):
            engine.publish(stream, times, rows, ids, starts)
    found: Histogram = {}
    for name, judge in judges.items():
        judge.close()
        for context, horizon, bucket, sums in judge.records():
            found[name, json.dumps(list(context)), horizon, bucket] = sums
    return found


@pytest.fixture(scope="module")
def subscriptions() -> Subscriptions:
    return Subscriptions.of_text(TEXT)


@pytest.fixture(scope="module")
def history(subscriptions: Subscriptions) -> DividedHistory:
    return DividedHistory(subscriptions.streams, happened(1_200, 5), 200)


@pytest.fixture(scope="module")
def prepared(history: DividedHistory, tmp_path_factory: pytest.TempPathFactory) -> History:
    folder = tmp_path_factory.mktemp("evaluation") / "history"
    write_history(folder, history.streams, history.between(), slice_rows=500)
    return History.open(folder)


@pytest.fixture(scope="module")
def model(subscriptions: Subscriptions) -> Model:
    engine = subscriptions.engine()
    for stream, time, number, start, row in happened(400, 9):
        engine.publish(stream, [time], [row], [number], [start])
    return engine.model()


@pytest.mark.verify
def test_what_learns_is_judged_as_by_one_engine(
    spark: SparkSession, subscriptions: Subscriptions, history: DividedHistory, prepared: History
) -> None:
    counted = histograms(spark, prepared, subscriptions, horizons=HORIZONS)
    found = {tuple(row[:4]): tuple(row[4:]) for row in counted.collect()}
    assert found == judged(history, subscriptions, None, learn=True)
    with pytest.raises(DefinitionError, match="its forecasts depend on what was counted"):
        histograms(spark, prepared, subscriptions, horizons=HORIZONS, plan="key")


def test_a_model_as_it_stands_is_judged_key_by_key(
    spark: SparkSession, subscriptions: Subscriptions, history: DividedHistory, prepared: History, model: Model
) -> None:
    expected = judged(history, subscriptions, model, learn=False)
    events = prepared.events(spark)
    counted = histograms(spark, events, subscriptions, model=model, horizons=HORIZONS, learn=False, plan="key")
    counted = counted.persist()
    assert {tuple(row[:4]): tuple(row[4:]) for row in counted.collect()} == expected
    rows = [row.asDict() for row in measured(counted, THRESHOLDS).collect()]
    assert len(rows) == len({key[:3] for key in expected}) * len(THRESHOLDS)
    for row in rows:
        group = (row["subscription"], row["context"], row["horizon"])
        own = {key[3]: sums for key, sums in expected.items() if key[:3] == group}
        ((*values,),) = measures(own, [round(row["threshold"] * 1000)])
        assert list(row.values())[4:] == values
    coarse = measured(counted, THRESHOLDS, by=["subscription"]).collect()
    for each in coarse:
        parts = [
            {key[3]: sums}
            for key, sums in expected.items()
            if key[0] == each["subscription"] and key[2] == each["horizon"]
        ]
        ((*values,),) = measures(added(parts), [round(each["threshold"] * 1000)])
        assert list(each)[3:] == values
    drawn: Counter[Any] = Counter(tuple(row) for row in reliability_of(counted, by=()).collect())
    for horizon in HORIZONS:
        parts = [{key[3]: sums} for key, sums in expected.items() if key[2] == horizon]
        for bin_ in reliability(added(parts)):
            drawn[horizon, *bin_] -= 1
    assert not any(drawn.values())
    counted.unpersist()


def test_all_at_once(spark: SparkSession, subscriptions: Subscriptions, prepared: History) -> None:
    found = evaluate(spark, prepared, subscriptions, thresholds=[0.5], horizons=[3], by=["subscription"]).collect()
    assert sorted(row["subscription"] for row in found) == ["pair", "rise"]
    for row in found:
        assert row["predictions"] > 100
        assert 0.0 < row["base_rate"] < 1.0
        assert row["brier"] < 0.3


def test_what_cannot_be_evaluated_is_refused_before_a_job(
    spark: SparkSession, subscriptions: Subscriptions, prepared: History, tmp_path: Path
) -> None:
    silent = Subscriptions.of_text(TEXT.replace("forecast", "#"))
    with pytest.raises(DefinitionError, match="expected a subscription with a forecast"):
        evaluate(spark, prepared, silent, thresholds=[0.5], horizons=[3])
    with pytest.raises(DefinitionError, match="expected a model"):
        evaluate(spark, prepared, subscriptions, thresholds=[0.5], horizons=[3], learn=False)
    with pytest.raises(DefinitionError, match="expected groups by"):
        evaluate(spark, prepared, subscriptions, thresholds=[0.5], horizons=[3], by=["key"])
    assert len(COLUMNS) == 10
