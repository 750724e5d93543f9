"""Languages are named by their own folders and by the table of languages, and by no other product file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from broker.engine.languages.table import LANGUAGES
from broker.language.names import ALIASES, DEFAULT_LANGUAGE, LanguageName
from broker.language.names import LANGUAGES as NAMES

ROOT = Path(__file__).parents[2]
# The table; the names, which a client knows without an engine; a demonstration, which is an example in some; and the
# constructions, which make automata of what each lowers to.
EXCEPT = (
    *("broker/engine/languages/", "broker/language/names.py", "broker/command/demo/"),
    "broker/automaton/constructions/",
)
OWN = tuple(f"broker/{layer}/{language}/" for layer in ("language", "algebra") for language in LANGUAGES)
# Languages that are called like an ordinary word: only their folders and their query's class are looked for.
ORDINARY = {"window"}
DISTINCT = "|".join(language for language in LANGUAGES if language not in ORDINARY)
WORD = re.compile(rf"(?<![a-z])(?:{DISTINCT}|p-topss|cel)(?![a-z])", re.IGNORECASE)
IDENTIFIER = re.compile(rf"Cel(?=[A-Z])|(?i:{DISTINCT})|^(?i:{'|'.join(LANGUAGES)})Query$")
FOLDER = re.compile(rf"(?:^|\.)(?:language|languages|algebra)\.(?:{'|'.join(LANGUAGES)})(?:$|\.)")


def product_files() -> list[Path]:
    files = sorted(path for folder in ("broker", "client", "spark_bridge") for path in (ROOT / folder).rglob("*.py"))
    return [path for path in files if not path.relative_to(ROOT).as_posix().startswith((*EXCEPT, *OWN))]


def named(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where code names a language: in an import, an identifier or a text that is no docstring. Comments may cite."""
    expressions = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    docstrings = {id(value) for value in expressions if isinstance(value, ast.Constant)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings and WORD.search(text):
                yield node.lineno, text
            case ast.ImportFrom(module=module, names=names, lineno=line):
                for name in (module or "", *(f"{module or ''}.{alias.name}" for alias in names)):
                    if FOLDER.search(name) or IDENTIFIER.search(name):
                        yield line, name
            case ast.alias(name=name, lineno=line) if IDENTIFIER.search(name):
                yield line, name
            case ast.Name(id=name, lineno=line) if IDENTIFIER.search(name):
                yield line, name
            case ast.Attribute(attr=name, lineno=line) if IDENTIFIER.search(name):
                yield line, name
            case ast.arg(arg=name, lineno=line) if IDENTIFIER.search(name):
                yield line, name
            case ast.FunctionDef(name=name, lineno=line) | ast.ClassDef(name=name, lineno=line):
                if IDENTIFIER.search(name):
                    yield line, name


@pytest.mark.parametrize("path", [pytest.param(p, id=str(p.relative_to(ROOT))) for p in product_files()])
def test_no_other_file_names_a_language(path: Path) -> None:
    found = list(named(ast.parse(path.read_text(encoding="utf-8"))))
    assert found == [], "ask the table: broker/engine/languages/table.py"


@pytest.mark.parametrize(
    "code",
    [
        "if form.language == 'sase': pass",
        "from ..language.cayuga.syntax import Next",
        "from ..language import ptopss",
        "match query:\n    case CelQuery(): pass",
        "match query:\n    case syntax.SaseQuery(): pass",
        "def lower_ptopss(): pass",
        "print(f'not in {x} but in CEL')",
        "help = 'P-ToPSS: every tuple'",
    ],
)
def test_names_of_languages_are_found(code: str) -> None:
    assert list(named(ast.parse(code)))


@pytest.mark.parametrize("code", ["'''Cayuga 3.2.'''", "x = 1  # SASE+ 4.2", "cancelled = 'cell'", "Cells = 1"])
def test_citations_and_other_words_are_not(code: str) -> None:
    assert not list(named(ast.parse(code)))


def test_every_row_has_its_name_and_its_folders() -> None:
    assert list(LANGUAGES) == [name for name in NAMES if name in LANGUAGES]
    assert DEFAULT_LANGUAGE in LANGUAGES
    assert set(NAMES) == set(get_args(LanguageName)) - set(ALIASES)
    for language in LANGUAGES.values():
        assert LANGUAGES[language.name] is language
        for file in ("syntax.py", "parser.py", "printer.py"):
            assert (ROOT / "broker" / "language" / language.name / file).is_file()
        for file in ("lowering.py", "semantics.py"):
            assert (ROOT / "broker" / "algebra" / language.name / file).is_file()
        assert (ROOT / "broker" / "engine" / "languages" / f"{language.name}.py").is_file()
