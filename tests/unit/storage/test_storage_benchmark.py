"""The benchmark of the journal runs, and reads back from each design what was committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.journal import MODES
from benchmarks.journal_trial import DESIGNS, measure


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("design", DESIGNS)
def test_a_trial_reads_what_it_has_committed(design: str, mode: str, tmp_path: Path) -> None:
    if "thread" in design and mode != "always":
        mode = "always"  # the only mode in which there is something to wait for
    found = measure({"design": design, "mode": mode, "batches": 2, "seconds": 0.02, "folder": str(tmp_path)})
    assert found["events_per_second"] > 0
    assert 40 < found["bytes_per_event"] < 700
    assert not list(tmp_path.iterdir())
