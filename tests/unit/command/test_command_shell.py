"""The shell: what a person gets for good input and for bad, in one line and an exit status, never a traceback."""

from __future__ import annotations

import io
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from doubles.commands import complaint

from broker import __version__
from broker.command.complaint import LONGEST_COMPLAINT, one_line
from broker.command.shell import perform, shell
from broker.events import QueryError

ROOT: Final = Path(__file__).parents[3]

STREAM: Final = '[streams.Stock]\nattributes = { name = "string", price = "float" }\n'
JUMPS: Final = "SELECT * FROM FILTER{price > 1.05 * price_1}(Stock NEXT{$2.name = $1.name} Stock) PUBLISH Jumps"


def subscription(query: str, name: str = "q") -> str:
    return f'\n[subscriptions.{name}]\nlanguage = "cayuga"\nlineage = true\nquery = """{query}"""\n'


def stock(time: int, price: object, stream: str = "Stock") -> str:
    return json.dumps({"stream": stream, "time": time, "data": {"name": "IBM", "price": price}}) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a right subscription file and right events."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(STREAM + subscription(JUMPS, "jumps"))
    Path("e.jsonl").write_text(stock(1, 100) + stock(2, 110) + stock(3, 90))
    return tmp_path


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert perform(["--version"]) == 0
    assert capsys.readouterr().out == f"foretell {__version__} (pure Python)\n"
    for arguments in ([], ["--help"], ["run", "--help"]):
        assert perform(arguments) == 0
        assert "Usage: foretell" in capsys.readouterr().out


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    table = page.partition("| command | does |")[2].partition("\n\n")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| [")]
    callbacks = [command.callback for command in shell.registered_commands if command.callback is not None]
    assert {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)} == {
        callback.__name__.replace("_", "-") for callback in callbacks
    }


def test_run_prints_results_as_json_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert perform(["run", "s.toml", "--events", "e.jsonl"]) == 0
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert line.pop("id")
    assert line == {
        "kind": "match",
        "subscription": "jumps",
        "start": 1,
        "end": 2,
        "lineage": [1, 2],
        "data": {"name_1": "IBM", "price_1": 100.0, "name": "IBM", "price": 110.0},
    }


def test_run_says_that_the_engine_is_not_compiled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert perform(["run", "s.toml", "--events", "e.jsonl"]) == 0
    assert capsys.readouterr().err == "foretell: the engine is pure Python; a compiled one is several times faster\n"


def test_run_reads_standard_input(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content, options in (
        ("e.jsonl", Path("e.jsonl").read_bytes(), []),
        ("e.csv", b"time,name,price\n1,IBM,100\n2,IBM,110\n", ["--events-format", "csv"]),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert perform(["run", "s.toml", "--events", "-", *options]) == 0, name
        assert json.loads(capsys.readouterr().out)["lineage"] == [1, 2]


def test_run_changes_subscriptions_in_mid_stream(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late = {"subscribe": {"name": "late", "language": "cayuga", "query": "SELECT price FROM Stock"}}
    lines = [stock(1, 1), json.dumps(late) + "\n", stock(2, 2), '{"unsubscribe": "late"}\n', stock(3, 2)]
    Path("e.jsonl").write_text("".join(lines))
    assert perform(["run", "s.toml", "--events", "e.jsonl"]) == 0
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(r["subscription"], r["end"]) for r in results if r["subscription"] == "late"] == [("late", 2)]


def test_tuples_are_all_told_or_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "FROM Stock a, b: price = 1 c: price = 2 MATCH a; b; c"
    text = STREAM
    for name, report in (("plain", ""), ("every", 'report = "all"'), ("counted", 'report = "completions"')):
        text += f"[subscriptions.{name}]\nlanguage = 'ptopss'\nquery = '{query}'\n{report}\n"
    Path("s.toml").write_text(text)
    Path("e.jsonl").write_text("".join(stock(time, 1) for time in range(5)) + stock(5, 2))
    assert perform(["check", "s.toml"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "ok plain: ptopss, reads Stock"
    assert perform(["run", "s.toml", "--events", "e.jsonl"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for name in ("plain", "every"):
        found = [line for line in lines if line["subscription"] == name]
        expected = [[a, b, 6] for a in range(1, 6) for b in range(a + 1, 6)]
        assert sorted(line["lineage"] for line in found) == expected
        assert all(line["bindings"] == dict(zip("abc", ([n] for n in line["lineage"]))) for line in found)
        assert not any("tuples" in line for line in found)
    (counted,) = [line for line in lines if line["subscription"] == "counted"]
    assert counted["tuples"] == 10
    assert list(counted["bindings"]) == ["a", "b", "c"]


def test_run_writes_the_tuples_of_one_event_in_flat_memory(folder: Path) -> None:
    Path("s.toml").write_text(
        f"{STREAM}[subscriptions.q]\nlanguage = 'ptopss'\n"
        "query = 'FROM Stock a, b: price = 1 c: price = 2 MATCH a; b; c'\n"
    )
    Path("e.jsonl").write_text("".join(stock(time, 1) for time in range(460)) + stock(460, 2))
    program = """
import io, resource, sys
from broker.command.shell import perform
from broker.events import QueryError
class Counting(io.StringIO):
    lines = bytes = 0
    def write(self, text):
        Counting.lines += text.count(chr(10))
        Counting.bytes += len(text)
        return len(text)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
output, sys.stdout = sys.stdout, Counting()
from broker.engine import Engine
from broker.language import ptopss
Engine.load("s.toml")
before = peak()
assert perform(["run", "s.toml", "--events", "e.jsonl"]) == 0
print(Counting.lines, Counting.bytes, peak() - before, file=output)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=folder, env=_beside_project()
    )
    lines, size, grown = map(int, done.stdout.split())
    assert lines == 105_570
    assert size > 19_000_000
    assert grown < 16_000_000, "a portion of results and their lines, not all of them"


def _beside_project() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_check_says_what_is_read_and_published(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text(
        STREAM + subscription("SELECT * FROM Jumps NEXT{} Stock", "after") + subscription(JUMPS, "jumps")
    )
    assert perform(["check", "s.toml"]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "   after: gives name_1_1 string, price_1_1 float, name_1 string, price_1 float, name string, price float",
        "   jumps: gives name_1 string, price_1 float, name string, price float",
        "ok after: cayuga, reads Jumps, Stock",
        "ok jumps: cayuga, reads Stock, publishes Jumps",
    ]


@pytest.mark.parametrize(
    ("format", "beginning"),
    [("text", "subscriptions\n"), ("dot", "digraph"), ("mermaid", ""), ("svg", "<svg ")],
)
def test_explain_draws(folder: Path, capsys: pytest.CaptureFixture[str], format: str, beginning: str) -> None:
    assert perform(["explain", "s.toml", "--format", format]) == 0
    drawn = capsys.readouterr().out
    assert drawn.startswith(beginning)
    assert "jumps" in drawn


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (STREAM.replace("attributes", "atributes"), "s.toml: streams.Stock: unknown key 'atributes'; did you mean"),
        (STREAM.replace("float", "double"), "did you mean 'float'?"),
        ("[streams\n", "s.toml: line 1"),
        (STREAM + subscription("SELECT * FROM FILTER{price >}(Stock)"), "subscription 'q': line 1, column 29: "),
        (STREAM + subscription("SELECT * FROM FILTER{prize > 1}(Stock)"), "column 22: unknown attribute 'prize'"),
        (STREAM + subscription("SELECT * FROM FILTER{price > 'x'}(Stock)"), "s.toml: subscription 'q': line 1, column"),
        (STREAM + subscription("SELECT * FROM Stok"), "did you mean 'Stock'?"),
        (STREAM + subscription("SELECT * FROM FILTER{" + "(" * 10_000 + "1" + ")" * 10_000 + "}(Stock)"), "100 levels"),
        (STREAM + subscription("SELECT * FROM FILTER{price > " + "1" * 10_000_000 + "}(Stock)"), "subscription 'q'"),
        (STREAM + subscription("x").replace("cayuga", "window"), "line 1, column 1: expected FROM, found 'x'"),
        (STREAM + subscription("Stock", "a") + 'forecast = { within = 0 }\n', "forecast: within: expected a number"),
    ],
    ids=lambda text: text[-40:].strip(),
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_wrong_subscription_file(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, text: str, words: str
) -> None:
    Path("s.toml").write_text(text)
    events = ["--events", "e.jsonl"] if command == "run" else []
    assert words in complaint(capsys, command, "s.toml", *events)


def test_a_subscription_file_that_is_no_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_bytes(b"\xff")
    assert complaint(capsys, "check", "s.toml").startswith("s.toml: ")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (stock(4, "dear"), "e.jsonl: line 4: stream 'Stock', attribute 'price': expected float, found string 'dear'"),
        (stock(2, 1), "e.jsonl: line 4: stream 'Stock': expected a time of 3 or later, found 2"),
        (stock(4, 1, "Stok"), "e.jsonl: line 4: expected a declared stream, found 'Stok'; did you mean 'Stock'?"),
        (
            '{"subscribe": {"name": "x", "language": "cayuga", "query": "SELECT"}}\n',
            "e.jsonl: line 4: subscription 'x': line 1",
        ),
        ('{"unsubscribe": "jumbs"}\n', "e.jsonl: line 4: unknown subscription 'jumbs'; did you mean 'jumps'?"),
        ("{\n", "e.jsonl: line 4: expected a JSON object"),
    ],
)
def test_a_wrong_event_after_right_ones(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, words: str
) -> None:
    with Path("e.jsonl").open("a") as events:
        events.write(line)
    assert perform(["run", "s.toml", "--events", "e.jsonl"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"foretell: {words}")
    assert captured.err.count("\n") == 1
    assert json.loads(captured.out)["lineage"] == [1, 2]


def test_files_that_are_not_there_or_of_another_kind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, "check", "no.toml") == "no.toml: No such file or directory"
    assert complaint(capsys, "run", "s.toml", "--events", "no.jsonl") == "no.jsonl: No such file or directory"
    assert complaint(capsys, "run", "s.toml", "--events", "no.parquet") == "no.parquet: No such file or directory"
    assert complaint(capsys, "check", ".") == ".: Is a directory"
    Path("cut.parquet").write_bytes(b"PAR1" + bytes(100))
    assert "cut.parquet: expected a Parquet file" in complaint(capsys, "run", "s.toml", "--events", "cut.parquet")
    Path("e.csv").write_text("name,price\nIBM,1\n")
    assert "e.csv: line 1: expected a column 'time'" in complaint(capsys, "run", "s.toml", "--events", "e.csv")
    Path("e.csv").write_text("when,name,price\n1,IBM,1\n")
    assert perform(["run", "s.toml", "--events", "e.csv", "--time", "when", "--stream", "Stock"]) == 0
    capsys.readouterr()
    assert "did you mean 'Stock'?" in complaint(capsys, "run", "s.toml", "--events", "e.csv", "--stream", "Stok")


def test_parquet_without_pyarrow_names_the_extra(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("e.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'foretell[parquet]'" in complaint(capsys, "run", "s.toml", "--events", "e.parquet")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "Missing argument"),
        (["run", "s.toml", "--events", "e.jsonl", "--fast"], "No such option: --fast"),
        (["run", "s.toml", "--events", "e.jsonl", "--format", "xml"], "one of 'jsonl', 'csv', 'parquet', 'table'"),
        (["run", "s.toml", "--events", "e", "--events-format", "xml"], "'jsonl', 'csv', 'tsv', 'parquet'"),
        (["run", "s.toml", "--events", "e.jsonl", "--model", "m"], "m: No such file or directory"),
        (["run", "s.toml", "--events", "e.jsonl", "--save-model", "no/m"], "no/m: expected a folder"),
        (["subscribe", "q", "--query", "x", "--file", "s.toml", "--broker", "tcp://127.0.0.1:1"], "found both"),
        (["serve", "--address", "tcp://0.0.0.0:5570"], "expected a loopback address"),
        (["serve", "--config", "no.toml"], "no.toml: No such file or directory"),
        (["serve", "--subscriptions", "no.toml"], "no.toml: No such file or directory"),
        (["demo", "--first", "tomorrow"], "--first: expected a date"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert words in complaint(capsys, *arguments)


def test_a_port_in_use(folder: Path, capsys: pytest.CaptureFixture[str], taken_port: int) -> None:
    line = complaint(capsys, "serve", "--address", f"tcp://127.0.0.1:{taken_port}")
    assert str(taken_port) in line
    assert "in use" in line


def test_the_excerpt_of_a_query_follows_on_a_terminal_only(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("s.toml").write_text(STREAM + subscription("SELECT * FROM FILTER{prize > 1}(Stock)"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert perform(["check", "s.toml"]) == 2
    message, source, underline = capsys.readouterr().err.splitlines()
    assert "did you mean 'price'?" in message
    assert source == "SELECT * FROM FILTER{prize > 1}(Stock)"
    assert underline.index("^") == source.index("prize")


def test_an_excerpt_that_a_broker_sends_gives_no_orders_to_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise QueryError("no\x1b[2J", 1, 1, "FILTER\x1b]0;owned\x07\n^^^")

    monkeypatch.setattr("broker.command.listing.connect", refused)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert perform(["streams"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        r"foretell: no\x1b[2J", r"FILTER\x1b]0;owned\x07", "^^^"
    ]  # fmt: skip


def test_a_complaint_is_one_line_whatever_it_says() -> None:
    assert one_line("a\nb\x1b[31m\tc") == r"a b\x1b[31m c"
    assert one_line("\x9b2J \u202egnp.exe") == r"\x9b2J \u202egnp.exe", "C1 controls, and text that runs backwards"
    assert len(one_line("x" * 10 * LONGEST_COMPLAINT)) == LONGEST_COMPLAINT


def foretell(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    # Whoever runs the tests in the background may have told them to ignore interrupts, and children inherit that.
    heeded = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{heeded}; from broker.command.shell import main; main()", *arguments]
    pipe = subprocess.PIPE
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    return subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)


def test_the_process_has_the_exit_status_and_no_traceback(folder: Path) -> None:
    with foretell("run", "s.toml", "--events", "-", folder=folder) as process:
        out, err = process.communicate(stock(1, 100) + stock(2, 110) + "{\n", timeout=60)
    assert process.returncode == 2
    assert json.loads(out)["lineage"] == [1, 2]
    assert err.startswith("foretell: standard input: line 3: expected a JSON object")
    assert err.count("\n") == 1


def test_results_come_while_standard_input_is_open_and_an_interrupt_ends_it(folder: Path) -> None:
    import signal

    with foretell("run", "s.toml", "--events", "-", folder=folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(stock(1, 100) + stock(2, 110) + stock(3, 1))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["lineage"] == [1, 2]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")


def test_a_reader_that_has_gone_is_no_traceback(folder: Path) -> None:
    with foretell("run", "s.toml", "--events", "-", folder=folder) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it ends before it has read everything
            process.stdin.write("".join(stock(time, 100 + 10 * (time % 2)) for time in range(10_000)))
            process.stdin.close()
        assert process.wait(60) == 1
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_run_loads_neither_sockets_nor_terminals_nor_arrow(folder: Path) -> None:
    text = (
        "import sys; from broker.command.shell import perform\n"
        "perform(['run', 's.toml', '--events', 'e.jsonl'])\n"
        "print(sorted({'zmq', 'rich', 'pyarrow', 'asyncio', 'msgpack', 'client'} & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    command = [sys.executable, "-c", text]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_partial_lists_what_a_subscription_waits_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subscriptions, events = tmp_path / "subs.toml", tmp_path / "events.jsonl"
    subscriptions.write_text(
        '[streams.S]\nattributes = { v = "int" }\n'
        '[subscriptions.tuples]\nlanguage = "ptopss"\nquery = "FROM S a: v = 1 b: v = 2 MATCH a; b"\n'
        '[subscriptions.runs]\nlanguage = "sase"\n'
        'query = "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { a.v = 1 AND b.v = 2 } RETURN a.v"\n'
        '[subscriptions.cel]\nlanguage = "cayuga"\nquery = "FILTER{v = 1}(S)"\n'
    )
    lines = [json.dumps({"stream": "S", "time": at, "data": {"v": v}}) for at, v in enumerate([1, 3, 1])]
    events.write_text("\n".join(lines))
    for name in ("tuples", "runs"):
        assert perform(["partial", str(subscriptions), name, "--events", str(events)]) == 0
        assert sorted(capsys.readouterr().out.splitlines()) == ['{"a": [1]}', '{"a": [3]}']
    assert perform(["partial", str(subscriptions), "runs", "--events", str(events), "--count", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    for name, said in (("cel", "cannot list partial matches"), ("none", "unknown subscription 'none'")):
        assert perform(["partial", str(subscriptions), name, "--events", str(events)]) == 2
        assert said in capsys.readouterr().err
