"""Nested values and lists in files: `new` finds them, every format has them, flat or by path; results write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker.command.shell import perform
from broker.engine import Engine
from broker.events import CodedTexts, EventError
from broker.events.arrow_paths import without_structs

RECORDS: list[dict[str, Any]] = [
    {"time": 1, "p": {"name": "cmd", "args": ["cmd", "/c"], "pid": 1}, "tags": ["a"], "f": [{"path": "x"}]},
    {"time": 2, "p": {"name": "sh", "args": None, "pid": 2}, "tags": [], "f": [{"path": "y"}, {"path": "z"}]},
    {"time": 3, "p": {"name": None, "args": [], "pid": 3}, "tags": ["b", "c"], "f": []},
]
ROWS: list[tuple[Any, ...]] = [
    ("cmd", ["cmd", "/c"], ["a"], ["x"]),
    ("sh", None, [], ["y", "z"]),
    (None, [], ["b", "c"], None),
]
SUBSCRIPTIONS = """
[streams.S]
attributes = { p.name = "string?", p.args = "string[]?", tags = "string[]", f.path = "string[]?" }
[subscriptions.all]
language = "cayuga"
query = "S"
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SUBSCRIPTIONS)
    lines = [json.dumps(each) for each in RECORDS]
    (tmp_path / "nested.jsonl").write_text("\n".join(lines))
    enveloped = [{"stream": "S", "time": each["time"], "data": {**each}} for each in RECORDS]
    for each in enveloped:
        del each["data"]["time"]
        each["data"]["p"] = {name: value for name, value in each["data"]["p"].items() if name != "pid"}
        each["data"]["f"] = each["data"]["f"] or {}
    (tmp_path / "enveloped.jsonl").write_text("\n".join(map(json.dumps, enveloped)))
    pq.write_table(pa.Table.from_pylist(RECORDS), tmp_path / "nested.parquet")
    flat = [dict(zip(("time", "p.name", "p.args", "tags", "f.path"), (at, *row))) for at, row in enumerate(ROWS, 1)]
    pq.write_table(pa.Table.from_pylist(flat), tmp_path / "flat.parquet")
    cells = ['1,cmd,"[""cmd"", ""/c""]","[""a""]","[""x""]"', '2,sh,,[],"[""y"",""z""]"', '3,,[],"[""b"",""c""]",']
    (tmp_path / "flat.csv").write_text("\n".join(["time,p.name,p.args,tags,f.path", *cells]))
    (tmp_path / "plain.csv").write_text("time,p.name,p.args,tags,f.path\n1,cmd,[],[],\n2,,,[],[]\n")
    return tmp_path


def run(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    status = perform(words.split())
    out, err = capsys.readouterr()
    return status, out, err


def results(words: str, capsys: pytest.CaptureFixture[str]) -> list[tuple[Any, ...]]:
    status, out, err = run(f"run s.toml {words}", capsys)
    assert status == 0, err
    return [tuple(json.loads(line)["data"].values()) for line in out.splitlines()]


@pytest.mark.parametrize("file", ["nested.jsonl", "nested.parquet", "flat.parquet", "flat.csv"])
def test_every_format_has_them(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert results(f"--events {file} --stream S", capsys) == ROWS


def test_so_do_events_with_a_stream(capsys: pytest.CaptureFixture[str]) -> None:
    assert results("--events enveloped.jsonl", capsys) == ROWS


def test_csv_without_quotes_has_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert results("--events plain.csv --stream S", capsys) == [("cmd", [], [], None), (None, None, [], [])]


@pytest.mark.parametrize("cell", ["a", "[1]", '"[""a"", null]"', "[", '"{""a"": 1}"'])
def test_other_cells_are_refused(cell: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("wrong.csv").write_text(f"time,p.name,p.args,tags,f.path\n1,x,,{cell},\n")
    status, _, err = run("run s.toml --events wrong.csv --stream S", capsys)
    assert status == 2
    assert "attribute 'tags': expected string[], found string" in err
    assert 'write a list as in JSON, such as ["a", "b"]' in err


@pytest.mark.parametrize("file", ["nested.jsonl", "nested.parquet"])
def test_new_finds_them(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(f"new {file} --stream S", capsys)
    assert status == 0, err
    for declared in ('"p.name" = "string?"', '"p.args" = "string[]?"', 'tags = "string[]"', '"f.path" = "string[]?"'):
        assert declared in out
    assert "Left out" not in out
    Path("new.toml").write_text(out)
    assert run(f"check new.toml --events {file} --stream S", capsys)[0] == 0


@pytest.mark.parametrize("tags", [["a", 1], [None], [["a"]]])
def test_new_leaves_other_lists_out(tags: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.jsonl").write_text(json.dumps({"time": 1, "tags": tags, "n": 1}))
    status, out, _ = run("new other.jsonl --stream S", capsys)
    assert (status, "# Left out: 'tags'" in out) == (0, True)


def test_check_tells_misfits(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.jsonl").write_text(json.dumps({"time": 1, "tags": "a", "p": {"name": ["x"]}}))
    status, out, err = run("check s.toml --events other.jsonl --stream S", capsys)
    assert status != 0
    assert "bad S.tags: 1 value of type string, declared string[]" in out + err
    assert "bad S.p.name: 1 value of type string[], declared string" in out + err


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_of_results_have_them(suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(f"run s.toml --events nested.jsonl --stream S --out out.{suffix}", capsys)
    assert status == 0, err
    if suffix == "parquet":
        table = pq.read_table("out.parquet").select(["p.name", "p.args", "tags", "f.path"])
        assert [tuple(each.values()) for each in table.to_pylist()] == ROWS
    else:
        assert '"[""cmd"", ""/c""]"' in Path("out.csv").read_text()


def test_arrow_lists_of_any_kind_are_columns() -> None:
    engine = Engine()
    engine.add_stream("S", {"t": "string[]?"})
    engine.subscribe("q", query="S")
    lists = [["a", "b"], None, [], ["é"]]
    kinds = (pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.dictionary(pa.int8(), pa.string())))
    for at, kind in enumerate(kinds):
        column = pa.array([["cut"], *lists], kind)[1:]
        found = engine.publish_columns("S", {"t": column}, [at] * len(lists))
        assert [match.data["t"] for match in found] == [None if each is None else tuple(each) for each in lists]
        again = found.columns("q").to_arrow().column("t")
        assert (again.type, again.to_pylist()) == (pa.list_(pa.string()), lists)
    for wrong in (pa.array([[1]]), pa.array([["a", None]]), CodedTexts([0], ["a"]), pa.array(["a"])):
        with pytest.raises(EventError, match="attribute 't'"):
            engine.publish_columns("S", {"t": wrong}, [9])


def test_a_column_is_before_a_path_of_its_name() -> None:
    batch = pa.RecordBatch.from_pylist([{"a": {"b": 1, "c": 2}, "a.b": 3}])
    assert without_structs(batch).to_pylist() == [{"a.c": 2, "a.b": 3}]
