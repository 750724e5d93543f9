"""The countable part of the house rules, read from the syntax tree of every source file; nothing is imported here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("broker", "client", "spark_bridge")
LINES_MAX = 600
FUNCTION_LINES_MAX = 60  # of a function of the engine
PARAMETERS_MAX = 8  # without self
# Functions of the engine that are larger still; nothing comes to these, and what is mended goes.
LARGER = {
    "broker/engine/engine.py add_stream",  # a public call
}
FORBIDDEN_NAMES = {"utils", "util", "misc", "manager", "factory", "helpers", "helper", "base", "types", "common"}
FORBIDDEN_IMPORTS = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle"}
FORBIDDEN_CALLS = {"eval", "exec"}
HALVES = ("TO" "DO", "FIX" "ME", "XX" "X", "NotImplemented" "Error")  # so that this file does not find itself
UNFINISHED = re.compile("|".join(rf"\b{word}\b" for word in HALVES))
SKIPPED = {"skip", "skipif", "xfail", "importorskip"}
# Time and chance come in as parameters everywhere below broker/server.
CLOCKS_AND_CHANCE = {"time", "random", "secrets", "uuid"}
CLOCK_CALLS = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today"), ("os", "urandom")}
PURE = ("events", "language", "algebra", "automaton", "forecast", "engine", "wire", "kernel", "storage")


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def parameters(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


def imported(tree: ast.Module) -> Iterator[str]:
    """The absolute names of the modules that the tree imports; relative imports are not among them."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module


def dotted_calls(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(owner, attribute) for each `owner.attribute` and `anything.owner.attribute` in the tree."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=attribute):
                yield owner, attribute


@pytest.mark.parametrize("path", parameters(sources(*PACKAGES)))
def test_module_follows_the_house_rules(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    name = path.stem if path.stem != "__init__" else path.parent.name

    assert name not in FORBIDDEN_NAMES, f"{name} says nothing about what belongs in it"
    assert text.count("\n") <= LINES_MAX
    if tree.body:
        assert ast.get_docstring(tree), "a module opens with its law"
        assert text.startswith(('"""', 'r"""')), "the docstring comes first"
    code = [node for node in tree.body[1:] if not isinstance(node, ast.Assign)]
    if code:
        match code[0]:
            case ast.ImportFrom(module="__future__", names=[ast.alias(name="annotations")]):
                pass
            case _:
                pytest.fail("`from __future__ import annotations` comes before all code")
    assert UNFINISHED.search(text) is None, "nothing is left for later"
    assert FORBIDDEN_IMPORTS.isdisjoint(module.partition(".")[0] for module in imported(tree))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert FORBIDDEN_CALLS.isdisjoint(called)
    own = path.relative_to(ROOT).parts[0]
    assert own not in {module.partition(".")[0] for module in imported(tree)}, "imports inside a package are relative"


def test_functions_of_the_engine_are_small() -> None:
    larger = set()
    for path in sources("broker/engine"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                given = len(names) - (names[:1] in (["self"], ["cls"]))
                if lines > FUNCTION_LINES_MAX or given > PARAMETERS_MAX:
                    larger.add(f"{path.relative_to(ROOT)} {node.name}")
    assert larger == LARGER


@pytest.mark.parametrize("path", parameters(sources(*(f"broker/{package}" for package in PURE))))
def test_no_clock_and_no_chance_below_the_server(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert CLOCKS_AND_CHANCE.isdisjoint(module.partition(".")[0] for module in imported(tree))
    assert CLOCK_CALLS.isdisjoint(dotted_calls(tree))


@pytest.mark.parametrize("path", parameters(sources("tests")))
def test_tests_are_neither_skipped_nor_unfinished(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert UNFINISHED.search(text) is None
    skipping = {attribute for owner, attribute in dotted_calls(ast.parse(text)) if owner in {"pytest", "mark"}}
    assert SKIPPED.isdisjoint(skipping)


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for path in sources(*PACKAGES)}
    assert sorted(str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").exists()) == []


def test_the_packages_of_the_design_exist() -> None:
    expected = {*PURE, "console", "server", "command"}
    assert {path.name for path in (ROOT / "broker").iterdir() if (path / "__init__.py").exists()} == expected


def test_no_two_classes_of_the_broker_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for path in sources("broker"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    # Names of internal streams, which snapshots hold, are digests of expressions with both of these classes.
    assert places.pop("Attribute") == ["broker/algebra/terms.py", "broker/events/schema.py"]
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
