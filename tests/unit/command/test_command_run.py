"""`foretell run` apart from the engine: what is fed to it, in which order results come, and what a complaint loses."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, cast

import pytest
from doubles.opened_events import open_events

from broker.command.column_rows import ColumnRows
from broker.command.complaint import BadInput
from broker.command.results import JsonLines, ResultWriter
from broker.command.run import finish, match_events
from broker.engine import Engine
from broker.events import Row, Schema, StreamDefinition, check_rows, check_times

TICK = StreamDefinition("Tick", Schema.declare({"n": "int"}))


@dataclass(frozen=True, slots=True)
class Echo:
    end: int
    id: str

    def line(self) -> dict[str, Any]:
        return {"end": self.end, "id": self.id}


class EchoEngine:
    """Answers each event by one result whose id is the event's value, as text."""

    def __init__(self) -> None:
        self.streams = {"Tick": TICK}
        self.calls: list[str] = []
        self.reported_until: int | None = None

    def publish(
        self,
        stream: str,
        times: Sequence[int],
        rows: Sequence[Row],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> list[Echo]:
        check_times(TICK, times, self.reported_until)
        check_rows(TICK, rows)
        self.reported_until = times[-1]
        self.calls.append(f"publish {len(times)}")
        return [Echo(time, str(row[0])) for time, row in zip(times, rows)]

    def subscribe(
        self,
        name: str,
        language: str = "cayuga",
        query: str = "",
        lineage: bool | None = None,
        report: str | None = None,
        forecast: Mapping[str, Any] | None = None,
        results: str | None = None,
    ) -> None:
        self.calls.append(f"subscribe {name} {language} {query} {lineage}")

        assert results is None

    def publish_columns(self, stream: str, columns: Any, times: Any, ids: Any = None, starts: Any = None) -> list[Echo]:
        return self.publish(stream, times, list(ColumnRows(columns, list(columns), len(times))), ids, starts)

    def unsubscribe(self, name: str) -> list[Echo]:
        self.calls.append(f"unsubscribe {name}")
        return []

    def punctuate(self, time: int, stream: str | None = None, where: str | None = None) -> list[Echo]:
        self.calls.append(f"punctuate {time} {stream} {where}")
        return []

    def declare_gap(self, stream: str, first: int, last: int | None = None) -> list[Echo]:
        self.calls.append(f"gap {stream} {first} {last}")
        return []

    def retract(self, id: int) -> list[Echo]:
        self.calls.append(f"retract {id}")
        return []

    def update(
        self,
        name: str,
        insert: Sequence[str] = (),
        delete: Sequence[str] = (),
        start: int | None = None,
        end: int | None = None,
    ) -> list[Echo]:
        self.calls.append(f"update {name} {insert} {delete} {start} {end}")
        return []

    def finish(self) -> list[Echo]:
        return []


def tick(time: int, n: object) -> str:
    return json.dumps({"stream": "Tick", "time": time, "data": {"n": n}}) + "\n"


def run(folder: Path, content: str) -> tuple[EchoEngine, list[str], str]:
    """The engine, the ids of the results as they were written, and the complaint."""
    path = folder / "events.jsonl"
    path.write_text(content)
    engine, output = EchoEngine(), io.StringIO()
    complaint = ""
    try:
        with open_events(str(path), engine.streams) as reading:
            results = ResultWriter(JsonLines(output))
            match_events(cast(Engine, engine), reading, results)
            finish(cast(Engine, engine), results)
    except BadInput as error:
        complaint = str(error).removeprefix(f"{path}: ")
    return engine, [json.loads(line)["id"] for line in output.getvalue().splitlines()], complaint


def test_results_of_one_time_are_in_the_order_of_their_ids(tmp_path: Path) -> None:
    content = tick(1, 3) + tick(1, 1) + '{"unsubscribe": "q"}\n' + tick(1, 2) + tick(2, 0)
    engine, ids, complaint = run(tmp_path, content)
    assert ids == ["1", "2", "3", "0"]
    assert engine.calls == ["publish 2", "unsubscribe q", "publish 2"]
    assert complaint == ""


def test_results_are_written_as_soon_as_time_goes_on() -> None:
    output = io.StringIO()
    results = ResultWriter(JsonLines(output))
    results.add([Echo(1, "a"), Echo(2, "b")], 2)
    assert output.getvalue() == '{"end": 1, "id": "a"}\n'
    results.add([], 3)
    assert output.getvalue().endswith('{"end": 2, "id": "b"}\n')
    results.finish()
    assert output.getvalue().count("\n") == 2


def test_a_time_with_more_results_than_a_portion_is_written_in_portions_whatever_the_batches() -> None:
    found = [Echo(7, f"{n * 7_919 % 10_007:05}") for n in range(10_000)] + [Echo(8, "b"), Echo(8, "a")]
    written = []
    for size in (1, 999, 20_000):
        output = io.StringIO()
        results = ResultWriter(JsonLines(output))
        for first in range(0, len(found), size):
            batch = found[first : first + size]
            results.add(iter(batch), batch[-1].end)
            assert output.getvalue().count("\n") >= min(first + size, 10_000) - 4_096, "no more than a portion waits"
        results.finish()
        written.append([json.loads(line)["id"] for line in output.getvalue().splitlines()])
    portions = [sorted(echo.id for echo in found[at : min(at + 4_096, 10_000)]) for at in range(0, 10_000, 4_096)]
    assert written == [[*chain.from_iterable(portions), "a", "b"]] * 3


def test_control_lines_reach_the_engine_in_their_place(tmp_path: Path) -> None:
    line = {"subscribe": {"name": "q", "language": "cayuga", "query": "Tick", "lineage": True}}
    engine, _, _ = run(tmp_path, tick(1, 1) + json.dumps(line) + "\n" + tick(2, 2))
    assert engine.calls == ["publish 1", "subscribe q cayuga Tick True", "publish 1"]


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ('{"retract": 1}', "retract 1"),
        ('{"punctuation": 9}', "punctuate 9 None None"),
        ('{"gap": {"stream": "Tick", "from": 5, "to": 7}}', "gap Tick 5 7"),
        ('{"gap": {"stream": "Tick", "from": 5}}', "gap Tick 5 5"),
        ('{"punctuation": 9, "stream": "Tick", "where": "n > 1"}', "punctuate 9 Tick n > 1"),
        ('{"update": {"subscription": "q", "delete": ["a"]}}', "update q () ('a',) None None"),
        ('{"update": {"subscription": "q", "insert": ["b"], "from": 1, "to": 2}}', "update q ('b',) () 1 2"),
    ],
)
def test_each_kind_of_control_line_is_a_call(tmp_path: Path, line: str, call: str) -> None:
    assert run(tmp_path, line + "\n")[0].calls == [call]


def test_a_row_of_parquet_is_named_as_such(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = str(tmp_path / "e.parquet")
    pq.write_table(pa.table({"time": [2, 1], "n": [1, 2]}), path)
    engine = EchoEngine()
    with (
        pytest.raises(BadInput, match=r"e\.parquet: row 2: stream 'Tick': expected a time of 2 or later, found 1"),
        open_events(path, engine.streams) as reading,
    ):
        match_events(cast(Engine, engine), reading, ResultWriter(JsonLines(io.StringIO())))
