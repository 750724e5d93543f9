"""Real executors, Spark Connect, and workers that die: each in a process of its own, which has a session of its own.

What comes out is compared with the embedded engine here. In a cluster the packages come out of an archive.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from doubles.divided_history import DividedHistory
from spark.test_parity import BY_KEY, BY_TIME, COUNTED, EVERYWHERE, STREAMS, WHOLE, happened, program

from broker.engine.results import expanded
from broker.forecast.model_file import write_model
from spark_bridge.history.form import batches
from spark_bridge.history.writing import write_history

TIMEOUT_S = 600
TEXTS = (EVERYWHERE, BY_KEY, BY_TIME, WHOLE, COUNTED)


def expected(history: DividedHistory) -> tuple[list[str], str]:
    """Lines and model of the embedded engine."""
    engine = program(*TEXTS).engine()
    lines: list[str] = []
    for batch in history.between():
        for run in batches(batch, history.streams):
            lines += [json.dumps(match.line()) for match in expanded(engine.publish(*run))]
    lines += [json.dumps(match.line()) for match in expanded(engine.finish())]
    return sorted(lines), write_model(engine.model())


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "connect:local[2]"])
def test_a_job_in_a_process_of_its_own(master: str, tmp_path: Path) -> None:
    history = DividedHistory(program().streams, happened(600, 11), 100)
    write_history(tmp_path / "history", history.streams, history.between(), slice_rows=200)
    (tmp_path / "subscriptions.toml").write_text(STREAMS + "".join(TEXTS))
    job = Path(__file__).with_name("cluster_job.py")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}
    done = subprocess.run(
        [sys.executable, str(job), master, str(tmp_path)],
        env=environment | {"SPARK_LOCAL_IP": "127.0.0.1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told: dict[str, Any] = json.loads((tmp_path / "told.json").read_text())
    lines, model = expected(history)
    assert told["prepared"] == lines
    assert told["model"] == model
    if master.startswith("local-cluster"):
        assert (tmp_path / "killed").exists()
        assert told["after"] == lines
        assert all("foretell.zip" in place for place in told["imported"])
