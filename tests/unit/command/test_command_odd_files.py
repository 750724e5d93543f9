"""Files as other programs write them: `run`, `check --events` and `new` read each, or say in one line what to write.

The files are in tests/data/odd_files. Mutations of them end no command with a traceback either.
"""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import typer.main

from broker.command import shell as shell_module
from broker.command.shell import perform

FOLDER: Final = Path(__file__).parents[2] / "data" / "odd_files"
NAME_PRICE: Final = 'name = "string", price = "float"'
USUAL: Final = [["IBM", 100.0], ["MSFT", 50.5]]
MUTATIONS: Final = 200


@dataclass(frozen=True)
class Odd:
    """A file: the rows that a run has, or what it says in one line, and what `new` says, where it writes no file.

    `options` of the commands; `attributes` and `more` of the stream.
    """

    file: str
    rows: list[list[Any]] | str
    options: str = ""
    new: str = ""
    attributes: str = NAME_PRICE
    more: str = ""


CSV: Final = (
    Odd("bom.csv", USUAL),
    Odd("utf16.csv", "iconv -f UTF-16 -t UTF-8 converts the file", new="iconv -f UTF-16"),
    Odd("latin1.csv", "iconv -f WINDOWS-1252 -t UTF-8 converts the file", new="iconv -f WINDOWS-1252"),
    Odd("crlf.csv", USUAL),
    Odd("cr_only.csv", USUAL),
    Odd("semicolons.csv", "found ';' in string 'time;name;price'; write --separator ';'"),
    Odd("semicolons.csv", USUAL, "--separator ;"),
    Odd("semicolons.csv", USUAL, more='separator = ";"'),
    Odd("tabs.csv", "write --separator 'tab'"),
    Odd("tabs.csv", USUAL, "--separator tab"),
    Odd("tabs.csv", USUAL, "--events-format tsv"),
    Odd("decimal_comma.csv", "write 100.25, with a decimal point, or read it with --decimal ,", "--separator ;"),
    Odd("decimal_comma.csv", [["IBM", 100.25], ["MSFT", 50.5]], "--separator ; --decimal ,"),
    Odd("decimal_comma.csv", [["IBM", 100.25], ["MSFT", 50.5]], more='separator = ";"\ndecimal = ","'),
    Odd("thousands.csv", "found string '1,234.5'; write it without separators of thousands"),
    Odd("quoted_newlines.csv", [["International\nBusiness\r\nMachines", 100.0], ["MSFT", 50.5]]),
    Odd("embedded_quotes.csv", [['the "Big Blue", Inc.', 100.0], ["MSFT", 50.5]]),
    Odd("open_quote.csv", "expected CSV, unexpected end of data", new="expected CSV, unexpected end of data"),
    Odd("blank_lines.csv", USUAL),
    Odd("trailing_separators.csv", USUAL),
    Odd("too_few_fields.csv", "line 3: expected 3 fields, found 2"),
    Odd("too_many_fields.csv", "line 3: expected 3 fields, found 4"),
    Odd("duplicate_header.csv", "line 1: expected the column 'price' once, found it 2 times"),
    Odd("spaces_in_header.csv", "expected a column 'name', found none; write --column ' name=name'"),
    Odd("spaces_in_header.csv", USUAL, "--column ' name=name' --column ' price=price'"),
    Odd("names_of_any_kind.csv", "line 1: stream 'S': expected a column 'name', found none"),
    Odd(
        "names_of_any_kind.csv",
        [["IBM", 100.0, "XL"], ["MSFT", 50.5, "S"]],
        "--time 'Order Date' --column user.name=name --column 'Unit Price (€)=price' --column Größe=size",
        attributes=f'{NAME_PRICE}, size = "string"',
    ),
    Odd(
        "names_of_any_kind.csv",
        USUAL,
        more='columns = { "Order Date" = "time", user.name = "name", "Unit Price (€)" = "price" }',
    ),
    Odd("no_header.csv", "stream 'S': expected a column 'name', found none", new="expected a column of times"),
    Odd("header_only.csv", [], new="expected events, found none"),
    Odd("empty.csv", "expected a header with the names of the columns, found an empty file", new="found an empty file"),
    Odd("nul_bytes.csv", r"expected float, found string '50\x00'"),
    Odd("german_dates.csv", "expected a time in microseconds or ISO-8601", "--separator ; --time Datum"),
    Odd("german_dates.csv", USUAL, "--separator ; --time Datum --time-format '%d.%m.%Y %H:%M'"),
    Odd("words_for_nothing.csv", "leave the field empty, and declare price = \"float?\""),
    Odd("packed.csv.gz", USUAL),
)
PLAIN: Final = "--stream S"
JSON: Final = (
    Odd("lines.jsonl", USUAL, PLAIN),
    Odd("lines.jsonl", "lines with nothing but the attributes need --stream NAME"),
    Odd("bom.jsonl", USUAL, PLAIN),
    Odd("utf16.jsonl", "line 1: expected UTF-8, found byte 0xff", PLAIN, new="line 1: expected UTF-8"),
    Odd("latin1.jsonl", "line 1: expected UTF-8, found byte 0xf6", PLAIN, new="line 1: expected UTF-8"),
    Odd("array.json", "write one object a line, without brackets, as jq -c '.[]' FILE does", PLAIN, new="jq -c '.[]'"),
    Odd("pretty.json", "write one whole object a line, as jq -c . FILE does", PLAIN, new="jq -c ."),
    Odd("records.json", "jq -c '.records[]' FILE writes the objects of 'records', one a line", PLAIN, new="jq -c '.re"),
    Odd("concatenated.json", "(Extra data); write one whole object a line", PLAIN, new="write one whole object a line"),
    Odd("nested.jsonl", "expected a key 'name', found none; write --column 'user.name=name'", PLAIN),
    Odd("nested.jsonl", USUAL, f"{PLAIN} --column user.name=name"),
    Odd(
        "nested.jsonl",
        [["IBM", 100.0, "Armonk"], ["MSFT", 50.5, None]],
        PLAIN,
        attributes=f'{NAME_PRICE}, town = "string?"',
        more='columns = { "user.name" = "name", user.address.town = "town" }',
    ),
    Odd("nested.jsonl", "found an object; write --column 'user.name=user'", PLAIN, attributes='user = "string"'),
    Odd("nested_time.jsonl", USUAL, f"{PLAIN} --time meta.ts"),
    Odd("lists.jsonl", USUAL, PLAIN),
    Odd("lists.jsonl", "attribute 'tags': expected string, found a list", PLAIN, attributes='tags = "string"'),
    Odd("nothing.jsonl", "found null; declare name = \"string?\" if it may be null", PLAIN),
    Odd("missing_keys.jsonl", "line 2: stream 'S', attribute 'price': expected float, found nothing", PLAIN),
    Odd("duplicate_keys.jsonl", "expected each key once, found string 'name' twice", PLAIN, new="each key once"),
    Odd("big_ints.jsonl", USUAL, PLAIN),
    Odd("big_ints.jsonl", "which does not fit 64 bits", PLAIN, attributes='id = "int?"'),
    Odd("not_a_number.jsonl", "found NaN; write null, and declare a type with ?", PLAIN, new="found NaN"),
    Odd("too_large.jsonl", "which is not a finite float", PLAIN),
    Odd("comments.jsonl", "line 1: expected a JSON object, found no JSON at column 1", PLAIN),
    Odd("trailing_comma.jsonl", "found no JSON at column", PLAIN, new="found no JSON at column"),
    Odd("truncated.jsonl", "line 2: expected a JSON object, found no JSON", PLAIN),
    Odd("blank_lines.jsonl", USUAL, PLAIN),
    Odd("escapes.jsonl", [['Big "Blue"\n😀', 100.0], ["MSFT", 50.5]], PLAIN),
    Odd("half_surrogate.jsonl", "which is not valid Unicode", PLAIN, new="found half of a surrogate pair"),
    Odd("texts_for_numbers.jsonl", "found string '100'; write 100, without quotes", PLAIN),
    Odd("deep.jsonl", USUAL, PLAIN),
    Odd("packed.jsonl.gz", "expected compressed data, found damaged data", PLAIN, new="found damaged data"),
)
COUNT: Final = f'{NAME_PRICE}, count = "int?"'
PARQUET: Final = (
    Odd("decimals.parquet", [["IBM", 100.0, 7], ["MSFT", 50.5, 8]], attributes=COUNT),
    Odd("nullable_ints.parquet", [["IBM", 100.0, 7], ["MSFT", 50.5, None]], attributes=COUNT),
    Odd("nanoseconds.parquet", USUAL),
    Odd("zones.parquet", USUAL),
    Odd("int96.parquet", USUAL),
    Odd("dates.parquet", USUAL),
    Odd("dictionaries.parquet", USUAL),
    Odd("lists.parquet", USUAL),
    Odd("lists.parquet", "column 'tags': expected string, found the type list", attributes='tags = "string"'),
    Odd("structs.parquet", "expected one column 'name', found 0; write --column 'user.name=name'"),
    Odd("structs.parquet", USUAL, "--column user.name=name"),
    Odd(
        "structs.parquet",
        [["Armonk", 100.0], [None, 50.5]],
        attributes='town = "string?", price = "float"',
        more='columns = { user.address.town = "town" }',
    ),
    Odd("structs.parquet", "write --column 'user.name=user'", attributes='user = "string"'),
    Odd("maps.parquet", USUAL),
    Odd("unsigned.parquet", USUAL),
    Odd("unsigned.parquet", "which does not fit 64 bits", attributes='count = "int"'),
    Odd("small_floats.parquet", USUAL),
    Odd("bytes_and_durations.parquet", USUAL),
    Odd("bytes_and_durations.parquet", "'raw': expected string, found the type binary", attributes='raw = "string"'),
    Odd("no_rows.parquet", [], new="expected events, found none"),
    Odd("truncated.parquet", "expected a Parquet file, found a damaged one", new="found a damaged one"),
)
ALL: Final = [(kind, odd) for kind, odds in (("csv", CSV), ("json", JSON), ("parquet", PARQUET)) for odd in odds]


@pytest.fixture(scope="module", autouse=True)
def one_shell() -> Iterator[None]:
    """The commands are made once for all calls, which takes more time than the calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shell_module, "shell", typer.main.get_command(shell_module.shell))
        yield


def subscriptions(folder: Path, odd: Odd) -> Path:
    file = folder / "s.toml"
    stream = f"[streams.S]\nattributes = {{ {odd.attributes} }}\n{odd.more}\n"
    file.write_text(f'{stream}[subscriptions.q]\nlanguage = "cayuga"\nquery = "SELECT * FROM S"\n', "utf-8")
    return file


def test_there_are_so_many_files() -> None:
    counts = {kind.name: sorted(file.name for file in kind.iterdir()) for kind in FOLDER.iterdir()}
    assert {kind: len(files) for kind, files in counts.items()} == {"csv": 26, "json": 26, "parquet": 15}
    for kind, files in counts.items():
        assert sorted({odd.file for own, odd in ALL if own == kind}) == files


@pytest.mark.parametrize(("kind", "odd"), ALL, ids=[f"{odd.file} {odd.options}" for _, odd in ALL])
def test_an_odd_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, odd: Odd) -> None:
    events, options = str(FOLDER / kind / odd.file), shlex.split(odd.options)
    file = subscriptions(tmp_path, odd)
    status = perform(["run", str(file), "--events", events, *options])
    output, error = capsys.readouterr()
    lines = [line for line in error.splitlines() if "pure Python" not in line]
    if isinstance(odd.rows, str):
        assert status == 2
        assert [odd.rows in line for line in lines] == [True], lines
    else:
        assert (status, lines) == (0, [])
        assert [list(json.loads(line)["data"].values()) for line in output.splitlines()] == odd.rows

    status = perform(["check", str(file), "--events", events, *options])
    output, error = capsys.readouterr()
    assert status in ((2,) if isinstance(odd.rows, str) or not odd.rows else (0,)), output
    assert len(error.splitlines()) <= 1

    written = tmp_path / "new.toml"
    status = perform(["new", events, "--out", str(written)])
    error = capsys.readouterr().err
    if odd.new:
        assert status == 2
        assert [odd.new in line for line in error.splitlines()] == [True], error
        return
    assert (status, error) == (0, "")
    command = next(line for line in written.read_text("utf-8").splitlines() if "foretell run" in line)
    status = perform(shlex.split(command)[2:])
    assert status == 0, capsys.readouterr()


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Bytes flipped, cut or doubled, lines doubled or dropped, fields swapped."""
    for _ in range(chance.randint(1, 4)):
        at, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        match chance.randrange(6):
            case 0:
                data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[end:]
            case 2:
                data = data[:end] + data[at:]
            case 3:
                lines = data.split(b"\n")
                data = b"\n".join([*lines, chance.choice(lines), b""])
            case 4:
                fields = data.split(b",")
                one, other = chance.randrange(len(fields)), chance.randrange(len(fields))
                fields[one], fields[other] = fields[other], fields[one]
                data = b",".join(fields)
            case _:
                put = chance.choice([b'"', b"\0", b"\xff\xfe", b"{", b"]", b"\n", b"1e999", b"-", b"\r"])
                data = data[:at] + put + data[at:]
    return data


@pytest.mark.parametrize("part", range(10))
def test_no_mutated_file_ends_a_command_with_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], part: int
) -> None:
    monkeypatch.chdir(tmp_path)
    files = sorted(file for kind in FOLDER.iterdir() for file in kind.iterdir())
    for number in range(part, MUTATIONS, 10):
        chance = random.Random(number)
        origin = files[number % len(files)]
        events = tmp_path / f"e{number}{''.join(origin.suffixes)}"
        events.write_bytes(mutated(origin.read_bytes(), chance))
        odd = Odd(events.name, [], attributes='name = "string?", price = "float?", count = "int?", user = "string?"')
        file = str(subscriptions(tmp_path, odd))
        form = chance.choice(["", "--separator ;", "--decimal ,", "--time-format %d.%m.%Y", "--column user.name=name"])
        given = ["--events", events.name, "--stream", "S", *form.split()]
        new = f"new{number}.toml"
        others = (["run", "--on-bad", "skip", "--sort", *given], ["partial", "q", *given], ["why-not", "q", *given[:4]])
        for command in (
            ["run", file, *given],
            ["check", file, *given],
            ["new", events.name, "--out", new],
            ["run", new, "--events", events.name],
            chance.choice([[name, file, *rest] for name, *rest in others]),
        ):
            if command[1] == new and not Path(new).exists():
                continue
            status = perform(command)
            assert status in (0, 2), (number, command)
            error = capsys.readouterr().err
            assert "Traceback" not in error
            assert len(error.splitlines()) <= (1 if "skip" not in command else 8), (number, command, error)
