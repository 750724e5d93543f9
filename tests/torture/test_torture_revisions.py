"""A real broker, killed while a disordered stream changes, tells what one tells that was not."""

from __future__ import annotations

from pathlib import Path

import pytest
from torture.revisions import revisions


@pytest.mark.parametrize("fsync", ["always", "os"])
def test_killed_while_it_revises_it_tells_what_an_engine_tells_that_was_not(tmp_path: Path, fsync: str) -> None:
    told = revisions(3, 7, fsync, tmp_path)
    assert told.startswith("killed")
    for kind in ("told match", "told retraction", "update", "retract", "gap"):
        assert f"'{kind}'" in told
