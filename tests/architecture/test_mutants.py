"""The list of deliberate faults: each can be applied, names tests that exist, and the packages have their share."""

from __future__ import annotations

import ast
import shutil
from collections import Counter
from pathlib import Path

import pytest
from mutants.run import ROOT, Mutant, judge, problems, read_mutants, try_mutant

MUTANTS = read_mutants()
LEAST = {
    "broker/engine": 16,
    "broker/kernel": 8,
    "broker/storage": 8,
    "broker/forecast": 6,
    "broker/wire": 5,
    "client": 2,
}
LANGUAGES = ("broker/algebra", "broker/automaton", "broker/language")


def package(mutant: Mutant) -> str:
    parts = Path(mutant.file).parts
    return "/".join(parts[:2]) if parts[0] == "broker" else parts[0]


def test_each_fault_stands_once_in_its_file() -> None:
    assert problems(MUTANTS, ROOT) == []


@pytest.mark.parametrize("mutant", [pytest.param(mutant, id=mutant.name) for mutant in MUTANTS])
def test_a_fault_is_another_program_and_its_tests_exist(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(mutant.applied(source))) != ast.dump(ast.parse(source))
    assert mutant.fault
    assert mutant.tests
    for test in mutant.tests:
        path, _, name = test.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert not name or name.partition("[")[0] in functions


def test_the_packages_have_their_share() -> None:
    shares = Counter(map(package, MUTANTS))
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 48
    assert {name: shares[name] >= least for name, least in LEAST.items()} == dict.fromkeys(LEAST, True)
    assert sum(shares[name] for name in LANGUAGES) >= 4


def test_a_mutant_that_is_not_found_once_is_named(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text("a = 1\nb = 1\n")
    twice = Mutant("twice", "some.py", "none", "= 1", "= 2", ())
    gone = Mutant("gone", "none.py", "none", "= 1", "= 2", ())
    found = problems([twice, gone], tmp_path)
    assert found[0] == "twice: expected `old` once in some.py, found it 2 times"
    assert "none.py" in found[1]


@pytest.mark.parametrize(
    ("status", "printed", "hangs", "outcome"),
    [
        (1, "FAILED tests/test_some.py::test_it[a b] - assert 1 == 2\n1 failed", False, "killed"),
        (0, "3 passed", False, "SURVIVED"),
        (2, "ERROR tests/test_some.py - ImportError", False, "BROKEN"),
        (1, "ERROR tests/test_some.py::test_it - NameError", False, "BROKEN"),
        (None, "no end after 300 s", False, "BROKEN"),
        (None, "no end after 300 s", True, "killed"),
    ],
)
def test_only_a_test_that_fails_kills(status: int | None, printed: str, hangs: bool, outcome: str) -> None:
    found, by = judge(Mutant("some", "some.py", "none", "", "", (), hangs), status, printed)
    assert found == outcome
    assert status != 1 or outcome != "killed" or by == "tests/test_some.py::test_it[a b]"


def test_a_fault_is_tried_in_a_copy_and_taken_back(tmp_path: Path) -> None:
    (tmp_path / "tests" / "mutants").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "mutants" / "unshrunk.py", tmp_path / "tests" / "mutants")
    (tmp_path / "some.py").write_text("def most(n):\n    return n <= 3\n")
    (tmp_path / "tests" / "test_some.py").write_text(
        "from hypothesis import given, strategies as st\nimport sys\nsys.path.insert(0, '.')\nfrom some import most\n"
        "@given(st.integers(0, 5))\ndef test_most(n):\n    assert most(n) == (n in (0, 1, 2, 3))\n"
    )
    verdict = try_mutant(Mutant("boundary", "some.py", "none", "<=", "<", ("tests/test_some.py",)), tmp_path)
    assert (verdict.outcome, verdict.by) == ("killed", "tests/test_some.py::test_most")
    assert (tmp_path / "some.py").read_text() == "def most(n):\n    return n <= 3\n"
