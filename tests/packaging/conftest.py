"""The wheels that these tests look at: a compiled and a pure one, given by ``--wheels FOLDER`` or built here."""

from __future__ import annotations

from pathlib import Path

import pytest
from doubles.built_wheels import PURE_TAG, REQUIRED, built, source


@pytest.fixture(scope="session")
def wheels(pytestconfig: pytest.Config) -> list[Path]:
    """Those that were given."""
    folder = pytestconfig.getoption("--wheels")
    return sorted(Path(folder).resolve().glob("*.whl")) if folder is not None else []


@pytest.fixture(scope="session")
def wheel(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled one."""
    given = [path for path in wheels if not path.name.endswith(PURE_TAG)]
    return given[0] if given else built(source(tmp_path_factory.mktemp("compiled")), REQUIRED)


@pytest.fixture(scope="session")
def pure_wheel(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = [path for path in wheels if path.name.endswith(PURE_TAG)]
    return given[0] if given else built(source(tmp_path_factory.mktemp("pure")), {"FORETELL_PURE": "1"})
