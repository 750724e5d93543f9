"""Through Spark itself: plans of a DataFrame and of a prepared history give the embedded engine's results and model."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from doubles.divided_history import DividedHistory, Happened, counted

from broker.events import DefinitionError
from broker.forecast.model_file import read_model, write_model
from spark_bridge.backtesting import backtest
from spark_bridge.history.form import spark_schema
from spark_bridge.history.prepared import History
from spark_bridge.history.writing import write_history
from spark_bridge.plan.choice import explain_plan, plan_for
from spark_bridge.subscriptions import Subscriptions
from spark_bridge.training import model_of, train

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STREAMS = """
[streams.Stock]
attributes = { name = "string", price = "float", volume = "int" }
key = "name"
[streams.News]
attributes = { about = "string?", good = "bool" }
key = "about"
"""

# One each that keys and slices divide, and keys alone, slices alone, neither.
EVERYWHERE = """
[subscriptions.rise]
language = "cayuga"
query = '''SELECT *, CASE WHEN price BETWEEN 5 AND 15 THEN 'middle' WHEN volume IS NOT NULL THEN name END AS kind FROM
 FILTER{DUR <= 40}(FILTER{price > 1.2 * price_1 AND volume NOT IN (3, 4)}(Stock NEXT{$2.name = $1.name} Stock))'''
[subscriptions.after_news]
language = "sase"
query = '''PATTERN SEQ(News n, Stock a, ~(Stock b), Stock c) WHERE skip_till_any_match(n, a, c)
 { n.good = TRUE AND a.name = n.about AND c.name = n.about AND b.name = n.about AND b.volume > 8 } WITHIN 9'''
[subscriptions.pair]
language = "ptopss"
query = '''FROM Stock BY name
a: price > 10
b: volume > 5
MATCH a, b WITHIN 30'''
"""
BY_KEY = """
[subscriptions.long]
language = "cayuga"
query = "FILTER{price > 1.3 * price_1}(Stock NEXT{$2.name = $1.name AND $2.volume > 7} Stock)"
"""
BY_TIME = """
[subscriptions.any]
language = "sase"
query = "PATTERN SEQ(Stock a, Stock b) WHERE strict_contiguity(a, b) { a.price > 15 AND b.price < 6 } WITHIN 5"
"""
CHAINED = """
[subscriptions.jumps]
language = "cayuga"
query = "FILTER{price > 18}(Stock) PUBLISH Jumps"
[subscriptions.second_jump]
language = "cayuga"
query = "Jumps NEXT{$2.name = $1.name} Jumps"
"""
ALONE = """
[subscriptions.apart]
language = "sase"
query = '''PATTERN SEQ(Stock a, Stock+ b[]) WHERE skip_till_next_match(a, b[]) { b[i].price > b[i-1].price }
 WITHIN 6 OUTPUT nonoverlap'''
[subscriptions.foretold]
language = "cayuga"
query = "FILTER{price > 15}(Stock) NEXT{$2.name = $1.name AND $2.price > 15} Stock"
forecast = { within = 3, threshold = 0.2, effective = 5, context = ["key"], half_life = "400us" }
"""
WHOLE = ALONE + CHAINED
WINDOWS_BY_KEY = """
[subscriptions.hours]
language = "window"
query = "FROM Stock BY name WINDOW LAST 30 us EVERY 10 us AGGREGATE sum(price) AS s, max(volume) AS m, from() AS f"
[subscriptions.visits]
language = "window"
query = "FROM Stock BY name WINDOW SESSION 4 us AGGREGATE count(*) AS n, avg(price) AS mean"
[subscriptions.runs]
language = "window"
query = '''FROM Stock BY name WINDOW AFTER any* MATCHING [price > 12] [price > prev.price]* [price < 6] & any{1,9}
 AGGREGATE first(price) AS high, median(volume) AS middle'''
"""
WINDOWS_BY_TIME = """
[subscriptions.falls]
language = "window"
query = '''FROM Stock WINDOW AFTER any* MATCHING [price > 15] any* [price < 5] WITHIN 5 us
 AGGREGATE sum(price) AS s, min(price) AS low'''
"""
COUNTED = """
[subscriptions.timed]
language = "ptopss"
query = '''FROM Stock BY name
a, b: price > 12
MATCH a, b'''
forecast = { within = "20us", threshold = 0.3 }
"""


def program(*parts: str) -> Subscriptions:
    return Subscriptions.of_text(STREAMS + "".join(parts), "parity.toml")


def happened(events: int, seed: int) -> list[Happened]:
    """Ties, a key with half of all events, keys with one, some without."""
    chance = random.Random(seed)
    found: list[Happened] = []
    time = 1_000
    for number in range(1, events + 1):
        time += chance.choice([0, 0, 1, 1, 2])
        name = chance.choice(["hot", "hot", "hot", "b", "c", f"rare{number % 17}"])
        if chance.random() < 0.2:
            row: Any = (None if chance.random() < 0.1 else name, chance.random() < 0.5)
            found.append(("News", time, number, time, row))
        else:
            row = (name, float(chance.randint(1, 20)), chance.randint(0, 10))
            found.append(("Stock", time, number, time - chance.choice([0, 0, 0, 1]), row))
    return found


def rows_of(frame: DataFrame) -> Counter[Any]:
    return counted([tuple(row) for row in frame.collect()])


@pytest.fixture(scope="module")
def whole() -> DividedHistory:
    return DividedHistory(program().streams, happened(1_500, 7), 100)


@pytest.fixture(scope="module")
def frame(spark: SparkSession, whole: DividedHistory) -> DataFrame:
    rows = list(zip(*whole.table().to_pydict().values()))
    random.Random(1).shuffle(rows)
    return spark.createDataFrame(rows, spark_schema(whole.streams)).repartition(3).cache()


@pytest.fixture(scope="module")
def prepared(whole: DividedHistory, tmp_path_factory: pytest.TempPathFactory) -> History:
    folder = tmp_path_factory.mktemp("parity") / "history"
    write_history(folder, whole.streams, whole.between(), slice_rows=400)
    return History.open(folder)


@pytest.mark.parametrize(
    ("texts", "scheme", "sources"),
    [
        ((EVERYWHERE, BY_KEY, BY_TIME, WHOLE), None, "frame, prepared"),
        ((EVERYWHERE, BY_KEY), "key", "prepared"),
        ((EVERYWHERE, BY_TIME), "slices", "frame"),
        ((EVERYWHERE, BY_TIME), "slices x shards", "prepared"),
    ],
)
def test_backtest(
    spark: SparkSession,
    whole: DividedHistory,
    frame: DataFrame,
    prepared: History,
    texts: tuple[str, ...],
    scheme: str | None,
    sources: str,
) -> None:
    subscriptions = program(*texts)
    expected, _ = whole.embedded(subscriptions)
    assert {row[0] for row in expected} >= {"rise", "after_news", "pair"}
    for source in sources.split(", "):
        events = frame if source == "frame" else prepared
        assert rows_of(backtest(spark, events, subscriptions, plan=scheme)) == expected


@pytest.mark.parametrize(
    ("text", "scheme", "source"),
    [
        (WINDOWS_BY_KEY + WINDOWS_BY_TIME, None, "frame"),
        (WINDOWS_BY_KEY, "key", "prepared"),
        (WINDOWS_BY_TIME, "slices", "frame"),
    ],
)
def test_windows_by_key_and_by_time(
    spark: SparkSession, whole: DividedHistory, frame: DataFrame, prepared: History, text: str, scheme: str | None,
    source: str,
) -> None:  # fmt: skip
    subscriptions = program(text)
    expected, _ = whole.embedded(subscriptions)
    assert {row[0] for row in expected} == set(subscriptions.definitions)
    assert rows_of(backtest(spark, frame if source == "frame" else prepared, subscriptions, plan=scheme)) == expected


def test_hot_keys_are_cut(spark: SparkSession, frame: DataFrame, whole: DividedHistory) -> None:
    from spark_bridge.history.form import columns_of
    from spark_bridge.shuffling import cut_points, hot_keys

    subscriptions = program(EVERYWHERE)
    plan = plan_for(subscriptions, "results", scheme="key", parallelism=4, shuffled=True)
    assert hot_keys(frame, plan, subscriptions.streams, columns_of(subscriptions.streams)) == ["hot"]
    assert len(cut_points(frame, plan)) == plan.slices - 1
    expected, _ = whole.embedded(subscriptions)
    assert rows_of(backtest(spark, frame, subscriptions, plan=plan)) == expected


def test_more_slices_than_events(spark: SparkSession, tmp_path: Path) -> None:
    few = DividedHistory(program().streams, happened(5, 3))
    subscriptions = program(EVERYWHERE)
    plan = plan_for(subscriptions, "results", scheme="slices", parallelism=1, slices=9)
    write_history(tmp_path / "few", few.streams, few.between(), slice_rows=1)
    expected, _ = few.embedded(subscriptions)
    for source in (spark.createDataFrame(few.table().to_pandas(), spark_schema(few.streams)), tmp_path / "few"):
        events = History.open(source) if isinstance(source, Path) else source
        assert rows_of(backtest(spark, events, subscriptions, plan=plan)) == expected


def test_train(spark: SparkSession, whole: DividedHistory, frame: DataFrame, prepared: History) -> None:
    subscriptions = program(WHOLE, COUNTED)
    _, expected = whole.embedded(subscriptions)
    assert write_model(model_of(train(spark, frame, subscriptions))) == expected
    assert write_model(model_of(train(spark, prepared, subscriptions, plan="shards"))) == expected
    timed = program(COUNTED)
    assert write_model(model_of(train(spark, prepared, timed, plan="key"))) == whole.embedded(timed)[1]


def test_training_goes_on(spark: SparkSession, whole: DividedHistory, tmp_path: Path) -> None:
    """New history adds, as it does for a broker that begins with the model; backtests begin with it too."""
    from pyspark.sql import functions as F

    subscriptions = program(WHOLE, COUNTED)
    early = DividedHistory(whole.streams, whole.happened[:800], 50)
    late = DividedHistory(whole.streams, whole.happened[800:], 50)
    write_history(tmp_path / "late", late.streams, late.between())
    before = read_model(early.embedded(subscriptions)[1], "early")
    rows, expected = late.embedded(subscriptions, before)
    history = History.open(tmp_path / "late")
    assert write_model(model_of(train(spark, history, subscriptions, model=before), model=before)) == expected
    told = backtest(spark, history, subscriptions, model=before)
    assert rows_of(told) == rows
    assert told.where(F.col("kind") == "forecast").count() > 0


def test_what_a_plan_says() -> None:
    plan = plan_for(program(EVERYWHERE, BY_KEY, BY_TIME, WHOLE), "results", parallelism=4)
    assert explain_plan(plan) == [
        "key: 1 subscription (long), 4 buckets by Stock.name: every join keeps a match to one key",
        "slices: 4 subscriptions (rise, after_news, pair and 1 more), 8 slices, overlap 40 us:"
        " a window bounds every match",
        "shards: 4 subscriptions (apart, jumps, second_jump and 1 more), 3 shards of the whole stream in order:"
        " apart: reports results that do not overlap, which depend on those reported before; "
        "not all events of a match have one value of Stock.name",
    ]


@pytest.mark.parametrize(
    ("text", "scheme", "reason"),
    [
        (BY_KEY, "slices", "'long': has no window"),
        (BY_TIME, "key", "'any': asks for events that are adjacent in the stream"),
        (WHOLE, "slices", "'apart': reports results that do not overlap"),
        (CHAINED, "key", "'jumps': results go on from one subscription to another (through 'Jumps')"),
        (COUNTED, "key", "'timed': its forecasts depend on what was counted"),
        (WINDOWS_BY_KEY, "slices", "'hours': where its matches begin depends on events before their first one"),
        (WINDOWS_BY_TIME, "key", "'falls': asks for events that are adjacent in the stream"),
        (EVERYWHERE, "keys", "expected one of key, slices, shards, slices x shards, found string 'keys'"),
    ],
)
def test_refused(text: str, scheme: str, reason: str) -> None:
    with pytest.raises(DefinitionError, match=r"^plan: ") as refused:
        plan_for(program(text), "results", scheme=scheme)
    assert reason in str(refused.value)


def test_counts_that_forget_are_not_divided_by_key() -> None:
    with pytest.raises(DefinitionError, match=r"^plan: key: subscription 'foretold': it forgets \(half_life\)"):
        plan_for(program(ALONE), "counts", scheme="key")
    plan = plan_for(program(WHOLE, COUNTED), "counts")
    assert [(part.scheme, part.groups) for part in plan.parts] == [
        ("key", (("timed",),)),
        ("shards", (("foretold",),)),
    ]
