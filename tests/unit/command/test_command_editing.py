"""What editors show of a subscription file: `foretell language-server`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from broker.algebra.functions import FUNCTIONS
from broker.command.editing import (
    Finding,
    characters,
    findings,
    formatted,
    hover,
    offset_of,
    queries,
    suggestions,
    utf16,
    wrapped,
)

ROOT: Final = Path(__file__).parents[3]
EXAMPLES: Final = (
    *sorted((ROOT / "broker" / "command" / "playground" / "assets").glob("*.toml")),
    *(ROOT / "docs" / f"{name}.md" for name in ("getting-started", "cayuga", "sase", "ptopss", "afa", "windows")),
)
RIGHT: Final = """# prices
[streams.Stock]
attributes = { name = "string", price = "float" }

[subscriptions.jumps]
language = "cayuga"
query = '''
SELECT name, price_1 AS before, price FROM
  FILTER{price > 1.05 * price_1}(Stock NEXT{$2.name = $1.name} Stock) PUBLISH Jumps
'''

[subscriptions."a.b"]
language = "cayuga"
query = "SELECT before FROM FILTER{before > 3}(Jumps)"
"""


def test_a_right_file_has_no_findings() -> None:
    assert findings(RIGHT) == []


@pytest.mark.parametrize(
    ("wrong", "instead", "finding"),
    [
        ("FILTER{price >", "FILTER{prise >", Finding((8, 9), "unknown attribute 'prise'; did you mean 'price'?")),
        ("FILTER{before", "FILTER{befor", Finding((13, 35), "unknown attribute 'befor'; did you mean 'before'?")),
        ('"float" }', '"flaot" }', Finding((1, 0), "attribute 'price': expected ")),
        ('language = "cayuga"\nquery = \'', 'langage = "cayuga"\nquery = \'', Finding((4, 0), "unknown key 'langage'")),
        ("[subscriptions.jumps]", "[subscriptions.jumps", Finding((4, 20), "")),
        (
            "price > 1.05 * price_1",
            "name = name",
            Finding((8, 14), "name = name is always true", "warning"),
        ),
    ],
)
def test_findings_have_the_place_in_the_file(wrong: str, instead: str, finding: Finding) -> None:
    assert wrong in RIGHT
    found = findings(RIGHT.replace(wrong, instead, 1))
    assert found
    assert (found[0].place, found[0].severity) == (finding.place, finding.severity)
    assert found[0].message.startswith(finding.message)


def test_all_mistakes_are_found() -> None:
    text = RIGHT.replace("price >", "prise >").replace('[subscriptions."a.b"]', "[subscriptions.c]")
    text = text.replace("FROM FILTER{before > 3}(Jumps)", "FROM FILTER{x > 3}(Stock)")
    assert [finding.place for finding in findings(text)] == [(8, 9), (13, 35)]


def test_words_that_may_come() -> None:
    inside = next(query for query in queries(RIGHT) if query.name == "jumps")
    line = RIGHT[: inside.begin].count("\n") + 1
    found = {each.word: each for each in suggestions(RIGHT, (line, 5))}
    assert found["price"].about == "float, of Stock"
    assert found["Jumps"].about == "name: string, before: float, price: float"
    assert found["abs"].about == "abs(number)"
    assert all(word.isidentifier() for word in found)
    assert suggestions(RIGHT, (0, 2)) == []


def test_types_below_the_pointer() -> None:
    place = next((at, line.index("price_1")) for at, line in enumerate(RIGHT.split("\n")) if "price_1" in line)
    assert hover(RIGHT, place) == "attribute price: float, of Stock"
    assert hover(RIGHT, (0, 3)) is None


def test_formatting_keeps_what_queries_mean() -> None:
    once = formatted(RIGHT)
    assert findings(once) == []
    assert formatted(once) == once
    assert "SELECT name, price_1 AS before, price" in once
    assert once.startswith("# prices\n[streams.Stock]\n")
    broken = RIGHT.replace("FILTER{price", "FILTER{{price")
    assert formatted(broken) == broken


def test_long_queries_are_broken_outside_of_texts() -> None:
    text = "SELECT " + ", ".join(f"a{n} AS 'x  y'" for n in range(30))
    lines = wrapped(text).split("\n")
    assert len(lines) > 3
    assert max(map(len, lines)) <= 100
    assert " ".join(lines) == text
    assert all(line.count("'") % 2 == 0 for line in lines)


def test_columns_of_editors() -> None:
    line = "a = 'ä😀' b"
    assert utf16(line, 8) == 9
    assert characters(line, 9) == 8
    assert offset_of("ab\ncd", (1, 9)) == 5


def _said(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    process.stdin.flush()


def _heard(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    length = 0
    while (line := process.stdout.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    found: dict[str, Any] = json.loads(process.stdout.read(length))
    return found


def test_the_server_answers_an_editor() -> None:
    uri = "file:///subs.toml"
    document = {"uri": uri, "languageId": "toml", "version": 1, "text": RIGHT.replace("price >", "prise >")}
    at = {"textDocument": {"uri": uri}, "position": {"line": 8, "character": 12}}
    with subprocess.Popen(
        [sys.executable, "-m", "broker.command", "language-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            _said(
                process,
                {"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": None}},
            )
            abilities = _heard(process)["result"]["capabilities"]
            assert abilities["hoverProvider"]
            assert abilities["documentFormattingProvider"]
            _said(process, {"method": "initialized", "params": {}})
            _said(process, {"method": "textDocument/didOpen", "params": {"textDocument": document}})
            found = _heard(process)["params"]["diagnostics"]
            assert [each["range"] for each in found] == [
                {"start": {"line": 8, "character": 9}, "end": {"line": 8, "character": 14}}
            ]
            _said(process, {"id": 2, "method": "textDocument/completion", "params": at})
            assert "price" in [each["label"] for each in _heard(process)["result"]]
            _said(process, {"id": 3, "method": "shutdown"})
            _heard(process)
            _said(process, {"method": "exit"})
            assert process.wait(20) == 0
        finally:
            process.kill()


def grammar() -> dict[str, Any]:
    """The TextMate grammar, as its package names it."""
    folder = ROOT / "examples" / "editors" / "vscode"
    package = json.loads((folder / "package.json").read_text("utf-8"))
    found: dict[str, Any] = json.loads((folder / package["contributes"]["grammars"][0]["path"]).read_text("utf-8"))
    return found


def coloured(text: str) -> tuple[list[tuple[int, int]], list[tuple[str, str]]]:
    """What an editor makes of a file: the places of queries, and their tokens with their kinds. At one place the end of
    a query wins, then the earlier pattern."""
    (outer,) = grammar()["patterns"]
    patterns = grammar()["repository"]["query"]["patterns"]
    inner = [(each["name"].split(".")[0], re.compile(each["match"], re.MULTILINE)) for each in patterns]
    places: list[tuple[int, int]] = []
    tokens: list[tuple[str, str]] = []
    at = 0
    while (begin := re.compile(outer["begin"]).search(text, at)) is not None:
        end, at = re.compile(re.escape(begin.group(1))), begin.end()
        while (last := end.search(text, at)) is not None:
            found = [(kind, match) for kind, each in inner if (match := each.search(text, at)) is not None]
            found = [(kind, match) for kind, match in found if match.start() < last.start()]
            if not found:
                break
            kind, first = min(found, key=lambda each: each[1].start())  # the earlier pattern of two at one place
            tokens.append((first.group(), kind))
            at = first.end()
        assert last is not None, text[begin.start() :]
        places.append((begin.end(), last.start()))
        at = last.end()
    return places, tokens


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_grammar_of_editors_colours_the_examples(path: Path) -> None:
    blocks = re.findall(r"```toml[^\n]*\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    for text in blocks if path.suffix == ".md" else [path.read_text("utf-8")]:
        if "[subscriptions." not in text:
            continue
        places, tokens = coloured(text)
        found = [text[begin:end].removeprefix("\n") for begin, end in places]
        assert found == [text[each.begin : each.end] for each in queries(text)]
        assert {kind for token, kind in tokens if token in ("FROM", "WITHIN", "PATTERN", "IN", "CASE")} <= {"keyword"}
        assert any(kind == "keyword" for _, kind in tokens)
        strings = [token for token, kind in tokens if kind == "string"]
        assert all(token.startswith("'") and token.endswith("'") and "\n" not in token for token in strings)


def test_the_grammar_of_editors_has_all_keywords_and_functions() -> None:
    patterns = {each["name"].split(".")[1]: each["match"] for each in grammar()["repository"]["query"]["patterns"]}
    lark = "".join(path.read_text("utf-8") for path in sorted((ROOT / "broker" / "language").rglob("*.lark")))
    words = set(re.findall(r"[A-Z][A-Z_]*", patterns["control"]))
    assert set(re.findall(r"/([A-Z][A-Z_]*)(?=\\b|\(\?=)[^/]*/i", lark)) == words
    functions = [name for name in FUNCTIONS if name.isidentifier()]
    assert all(re.search(patterns["function"], f"{name}(") for name in functions)
    assert not re.search(patterns["function"], "price(")
