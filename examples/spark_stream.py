"""Publish from Spark to a broker, and read results with Spark: `python spark_stream.py FOLDER SPOOL [ADDRESS]`.

The script publishes Parquet files of prices (time, name, price) that arrive in FOLDER, and prints the matches of the
subscription `rising`. SPOOL holds results that Spark has not processed yet. Ctrl-C ends the script.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from client import DEFAULT_ADDRESS, Client
from spark_bridge import register

PRICES = "time long, name string, price double"
QUERY = "SELECT * FROM Stock NEXT{$2.name = $1.name AND $2.price > $1.price} Stock"
BATCH = 1_000


def publisher(address: str) -> Callable[[DataFrame, int], None]:
    """Return the function for `foreachBatch`, which publishes the events of a batch in the order of their times.

    If Spark repeats a batch, the broker refuses its events as late, one by one, except those of the newest time, which
    it then has twice.
    """

    def publish(batch: DataFrame, number: int) -> None:
        events = batch.orderBy("time").toLocalIterator()
        with Client(address) as client:
            client.add_stream("Stock", {"name": "string", "price": "float"})
            while part := list(islice(events, BATCH)):
                rows = [(event["name"], event["price"]) for event in part]
                client.publish_batch("Stock", [event["time"] for event in part], rows)

    return publish


def show(matches: DataFrame, number: int) -> None:
    for match in matches.orderBy("end").collect():
        print(match["line"], flush=True)


def main() -> None:
    folder, spool = sys.argv[1:3]
    address = sys.argv[3] if len(sys.argv) > 3 else DEFAULT_ADDRESS
    spark = SparkSession.builder.master("local[2]").getOrCreate()
    register(spark)
    with Client(address) as client:
        client.add_stream("Stock", {"name": "string", "price": "float"})
    results = spark.readStream.format("foretell").option("address", address).option("subscription", "rising")
    found = results.option("query", QUERY).option("spool", spool).load()
    found.writeStream.option("checkpointLocation", f"{spool}-found").foreachBatch(show).start()
    prices = spark.readStream.schema(PRICES).parquet(str(Path(folder).absolute()))
    published = prices.writeStream.option("checkpointLocation", f"{spool}-published").foreachBatch(publisher(address))
    published.start()
    spark.streams.awaitAnyTermination()


if __name__ == "__main__":
    main()
