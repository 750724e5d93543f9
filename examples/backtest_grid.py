"""Evaluate a thousand combinations of threshold and horizon in one pass: `python backtest_grid.py OUT`.

The forecasts are of aircraft that depart late three times in a row. The script trains a model on the departures from
New York in January to June 2013, evaluates it without further learning on July to December, for 50 thresholds and 20
horizons, and writes two pictures and a table to OUT. Run it as a script, or cell by cell (`# %%`) in an editor.

It needs `pip install 'foretell[spark,demo,plot]'` and Java 17, and takes some minutes on two cores.
"""

# %% Events: departures in the order of the schedule
from __future__ import annotations

import os
import sys
from pathlib import Path

import matplotlib
import pyarrow as pa
import pyarrow.parquet as pq
from departures import COLUMNS, departures
from matplotlib import pyplot
from pyspark.sql import DataFrame, SparkSession

from spark_bridge import Columns, Files, Subscriptions, histograms, measured, model_of, prepare, reliability_of, train

THRESHOLDS = [step / 50 for step in range(50)]
HORIZONS = list(range(1, 21))
SHOWN = (1, 3, 5, 10, 20)
FORECASTS_MIN = 30  # in a bin that is drawn
SUBSCRIPTIONS = """
[streams.Departures]
attributes = { tail = "string", carrier = "string", origin = "string", delay = "int" }
key = "tail"

[subscriptions.late-again]
language = "ptopss"
query = '''
FROM Departures BY tail
first, second, third: delay > 15
MATCH first, second, third
'''
forecast = { within = 3, threshold = 0.35, context = ["hour"] }
"""


def write_flights(first: int, last: int, file: Path) -> None:
    """Write the departures of these months as Parquet."""
    columns = dict(zip(COLUMNS, zip(*departures(first, last))))
    table = pa.table({name: list(values) for name, values in columns.items()})
    pq.write_table(table.set_column(4, "delay", table["delay"].cast("int64")), file)


def session() -> SparkSession:
    """Return the session that is running, or start one on this machine."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("backtest grid").config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.ui.showConsoleProgress", "false")
    return builder.getOrCreate()


# %% Precision against recall: a curve for each horizon, a point for each threshold
def draw_precision(measures: DataFrame, file: Path) -> None:
    rows = measures.orderBy("horizon", "threshold").collect()
    figure, axes = pyplot.subplots(figsize=(7, 5))
    for horizon in SHOWN:
        own = [row for row in rows if row["horizon"] == horizon and row["precision"] is not None]
        recall, precision = [row["recall"] for row in own], [row["precision"] for row in own]
        (line,) = axes.plot(recall, precision, marker=".", label=f"{horizon}")
        axes.axhline(own[0]["base_rate"], color=line.get_color(), linewidth=0.7, linestyle=":")
    axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.02))
    axes.set_title("Forecasts of the third late departure in a row")
    axes.legend(title="departures ahead\n(dotted: base rate)")
    figure.savefig(file, bbox_inches="tight")


# %% Reliability: of the forecasts with a probability of 30 %, do 30 % come true?
def draw_reliability(bins: DataFrame, file: Path) -> None:
    rows = bins.orderBy("horizon", "bin").collect()
    figure, (axes, numbers) = pyplot.subplots(2, 1, figsize=(6, 7), height_ratios=(3, 1), sharex=True)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.7)
    for horizon in SHOWN:
        own = [row for row in rows if row["horizon"] == horizon and row["predictions"] >= FORECASTS_MIN]
        axes.plot([row["said"] for row in own], [row["came"] for row in own], marker=".", label=f"{horizon}")
        numbers.plot([row["said"] for row in own], [row["predictions"] for row in own], marker=".")
    axes.set(ylabel="share that came true", xlim=(0, 1), ylim=(0, 1), title="Reliability")
    axes.legend(title="departures ahead")
    numbers.set(xlabel="forecast probability", ylabel="forecasts", yscale="log")
    figure.savefig(file, bbox_inches="tight")


# %% The whole program
def main() -> None:
    matplotlib.use("Agg")
    if len(sys.argv) != 2:
        sys.exit("usage: python backtest_grid.py OUT")
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    subscriptions = Subscriptions.of_text(SUBSCRIPTIONS)
    spark = session()
    columns = Columns(subscriptions.streams["Departures"])
    halves = []
    for name, first, last in (("spring", 1, 6), ("autumn", 7, 12)):
        write_flights(first, last, out / f"{name}.parquet")
        files = Files((str(out / f"{name}.parquet"),), columns)
        halves.append(prepare(spark, files, out / name, subscriptions.streams))
    trained, judged = halves
    model = model_of(train(spark, trained, subscriptions))
    counted = histograms(spark, judged, subscriptions, model=model, horizons=HORIZONS, learn=False).persist()
    measures = measured(counted, THRESHOLDS, by=["subscription"]).persist()
    pq.write_table(measures.toArrow(), out / "measures.parquet")
    draw_precision(measures, out / "precision.svg")
    draw_reliability(reliability_of(counted, by=["subscription"]), out / "reliability.svg")
    print(f"{judged.rows} departures judged, {measures.count()} combinations of threshold and horizon")
    best = measures.where("horizon = 5").orderBy((2 * measures.told_true / (measures.told + measures.positives)).desc())
    for row in best.limit(1).collect():
        print(
            f"within 5 departures the best balance is at {row['threshold']}: precision {row['precision']:.2f}, "
            f"recall {row['recall']:.2f}, {row['lead']:.1f} departures ahead; base rate {row['base_rate']:.2f}"
        )
    spark.stop()


if __name__ == "__main__":
    main()
