"""What `prepare`, `train` and `backtest` refuse, each in one line with exit status 2 and before Spark is started."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from doubles.commands import complaint

from broker.command import spark_session
from broker.command.backtest import THRESHOLDS
from broker.command.complaint import BadInput
from broker.command.shell import perform
from broker.command.spark_session import complaint_of, settings
from broker.engine import Engine
from broker.events import Schema, StreamDefinition
from broker.forecast.model_file import save_model
from spark_bridge.history.form import arrow_schema
from spark_bridge.history.writing import write_history

SUBSCRIPTIONS: Final = """
[streams.Tick]
attributes = { name = "string", price = "float" }
key = "name"
[subscriptions.rise]
language = "cayuga"
query = "Tick NEXT{$2.name = $1.name AND $2.price > $1.price} Tick"
forecast = { within = 3 }
"""
WITHOUT_FORECAST: Final = SUBSCRIPTIONS.replace("forecast = { within = 3 }", "")
TICK: Final = StreamDefinition("Tick", Schema.declare({"name": "string", "price": "float"}), "name")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A subscription file, a history and files of events; whoever starts Spark fails."""
    monkeypatch.chdir(tmp_path)

    def started(*given: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(spark_session, "_session", started)
    (tmp_path / "subs.toml").write_text(SUBSCRIPTIONS)
    (tmp_path / "plain.toml").write_text(WITHOUT_FORECAST)
    columns = {"time": [1, 2], "id": [1, 2], "start": [1, 2], "stream": ["Tick"] * 2}
    table = pa.table({**columns, "name": ["a", "a"], "price": [1.0, 2.0]}, arrow_schema({"Tick": TICK}))
    write_history("hist", {"Tick": TICK}, table.to_batches())
    pq.write_table(pa.table({"time": [1], "name": ["a"], "price": [1.0]}), "ticks.parquet")
    pq.write_table(pa.table({"time": [1], "name": ["a"]}), "short.parquet")
    pq.write_table(pa.table({"time": [1], "name": ["a"], "price": ["much"]}), "wrong.parquet")
    Path("corrupt.parquet").write_bytes(b"PAR1 is how it begins")
    Path("short.csv").write_text("time,name\n1,a\n")
    Path("file").write_text("")
    Path("bad.toml").write_text(SUBSCRIPTIONS.replace("Tick NEXT", "Tock NEXT"))
    engine = Engine()
    engine.add_stream("Tick", {"name": "string", "price": "float"}, key="name")
    engine.subscribe("rise", query="Tick NEXT{$2.name = $1.name} Tick", forecast={"within": 3})
    engine.publish("Tick", [1, 2], [("a", 1.0), ("a", 2.0)])
    save_model(engine.model(), Path("other.json"))
    return tmp_path


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (
            "prepare subs.toml --history short.parquet --out new",
            "short.parquet: stream 'Tick': expected one column 'price'",
        ),
        ("prepare subs.toml --history short.csv --out new", "short.csv: stream 'Tick': expected one column 'price'"),
        ("prepare subs.toml --history wrong.parquet --out new", "wrong.parquet: "),
        ("prepare subs.toml --history corrupt.parquet --out new", "corrupt.parquet: expected a Parquet file"),
        ("prepare subs.toml --history none.parquet --out new", "none.parquet: "),
        ("prepare subs.toml --history ticks.parquet --out file", "file: expected a folder"),
        (
            "prepare subs.toml --history ticks.parquet --out new --column prise=price",
            "expected one column 'prise' (attribute 'price'), found 0; did you mean 'price'?",
        ),
        ("prepare subs.toml --history ticks.parquet --out new --column price", "--column: expected COLUMN=ATTRIBUTE"),
        ("prepare subs.toml --history ticks.parquet --out new --stream Tock", "Tock"),
        ("prepare subs.toml --history ticks.parquet --out new --rejects-max 2", "--rejects-max: expected a share"),
        ("prepare subs.toml --history ticks.parquet --out new --slice-rows 0", "--slice-rows: expected 1 or more"),
        ("train subs.toml --history none --out model", "none: expected a prepared history"),
        ("train subs.toml --history file --out model", "file: expected "),
        ("train subs.toml --history empty --out model", "empty: expected "),
        ("train subs.toml --history hist --out hist", "hist: expected a file"),
        ("train subs.toml --history hist --out none/model", "none/model: expected a folder that exists"),
        ("train plain.toml --history hist --out model", "plain.toml: expected a subscription with a forecast"),
        ("train bad.toml --history hist --out model", "bad.toml: "),
        ("train none.toml --history hist --out model", "none.toml: "),
        ("train subs.toml --history hist --out model --model other.json", "other.json: subscription 'rise': the model"),
        ("train subs.toml --history hist --out model --plan slices", "plan: slices: subscription 'rise': "),
        ("train subs.toml --history hist --out model --plan stripes", "plan: expected one of key, slices, shards"),
        (
            "backtest plain.toml --history hist --out out --plan slices",
            "plan: slices: subscription 'rise': has no window",
        ),
        (
            "backtest subs.toml --history hist --out out --plan key",
            "plan: key: subscription 'rise': its forecasts depend",
        ),
        ("backtest subs.toml --history hist --out file", "file: expected a folder"),
        ("backtest subs.toml --history hist", "--out: expected the folder of the results"),
        ("backtest subs.toml --history hist --out out --model file", "file: "),
        ("backtest subs.toml --history hist --out out --evaluate 5,x", "--evaluate: expected numbers"),
        ("backtest subs.toml --history hist --out out --evaluate 0", "expected horizons of 1 to 10,000 events"),
        (
            "backtest subs.toml --history hist --out out --evaluate 5 --thresholds 0.12345",
            "expected thresholds of whole",
        ),
        ("backtest subs.toml --history hist --out out --evaluate 5 --frozen", "--frozen: expected a --model"),
        (
            "backtest plain.toml --history hist --out out --evaluate 5",
            "plain.toml: expected a subscription with a forecast",
        ),
        ("backtest subs.toml --history hist --out out --conf master=local", "--conf: expected spark.NAME=VALUE"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    command: str, complaint: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "empty").mkdir()
    assert perform(command.split()) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("foretell: ")
    assert errors.count("\n") == 1
    assert complaint in errors
    assert not Path("out").exists()
    assert not Path("new").exists()
    assert not Path("model").exists()


def test_a_history_of_other_streams_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("tock.toml").write_text(SUBSCRIPTIONS.replace("Tick", "Tock"))
    assert perform(["train", "tock.toml", "--history", "hist", "--out", "model"]) == 2
    assert "expected events of the stream 'Tock', found none" in capsys.readouterr().err
    Path("int.toml").write_text(SUBSCRIPTIONS.replace('price = "float"', 'price = "int"'))
    assert perform(["train", "int.toml", "--history", "hist", "--out", "model"]) == 2
    assert "stream 'Tick': expected the attributes" in capsys.readouterr().err


def test_the_plan_is_explained_without_spark(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert perform(["backtest", "subs.toml", "--history", "hist", "--explain", "--master", "local[3]"]) == 0
    output, errors = capsys.readouterr()
    assert (output.partition(":")[0], errors) == ("shards", "")
    assert perform(["backtest", "plain.toml", "--history", "hist", "--explain", "--master", "local[3]"]) == 0
    assert capsys.readouterr().out.startswith("key: 1 subscription (rise), 3 buckets by Tick.name")


def test_without_pyspark_the_extra_is_named(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_session, "find_spec", lambda name: None)
    said = complaint(capsys, "train", "subs.toml", "--history", "hist", "--out", "model")
    assert "pip install 'foretell[spark]'" in said


def test_secrets_are_not_repeated() -> None:
    with pytest.raises(BadInput, match=r"found 'my_password'$"):
        settings(["my_password=hunter2"])
    assert settings(["spark.a=b=c"]) == {"spark.a": "b=c"}


def test_thresholds_are_whole_by_default() -> None:
    assert THRESHOLDS.startswith("0.05,0.1,0.15,")
    assert THRESHOLDS.endswith(",0.95")


def test_what_a_worker_says_is_taken_out_of_its_traceback() -> None:
    from pyspark.errors import PythonException

    told = (
        "Traceback (most recent call last):\n  File ...\nbroker.events.errors.DefinitionError: f: expected a, found b\n"
    )
    assert complaint_of(PythonException(told)) == "f: expected a, found b"
    assert (
        complaint_of(PythonException("Traceback (most recent call last):\nZeroDivisionError: division by zero")) is None
    )
    assert complaint_of(ValueError("ours")) is None
    assert complaint_of(BadInput("said already")) is None
    assert complaint_of(PythonException("\nno room\n\tat java.lang.Thread")) == "Spark: no room"
