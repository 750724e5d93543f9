"""A broker whose clock is set leads nobody astray. The long form is torture.clocks."""

from __future__ import annotations

from pathlib import Path

from torture.clocks import JUMPS, Clients, Trial


def test_a_clock_that_is_set_for_a_moment_costs_nobody_anything(tmp_path: Path) -> None:
    trial = Trial(tmp_path, 1)
    with trial.life(behind=0) as broker:
        clients = Clients(broker.address, trial.clock, trial.met, 0)
        trial.settle(clients)
        for ahead in JUMPS:
            trial.jump(clients, ahead)
        clients.close()
    assert trial.met["jumps"] == len(JUMPS)
    assert trial.met["stamped: busy"] > 0
    assert trial.met["events"] >= 10 * len(JUMPS)
