"""Connections that say nonsense and are cut: the others go on, and nothing stays. Long form: torture.connections."""

from __future__ import annotations

from itertools import count

from doubles.broker_process import broker_process
from doubles.process_gauges import comes_true, growth_of_repeated, open_files
from torture.connections import QUIET, Bystander, attack


def test_connections_that_say_nonsense_leave_nothing_and_disturb_nobody() -> None:
    with broker_process(QUIET) as broker:
        process, files, seeds = broker.process.pid, open_files(broker.process.pid), count()
        with Bystander(broker.address) as bystander:
            assert comes_true(lambda: bool(bystander.waits))
            known = open_files(process)

            def round_() -> None:
                before = len(bystander.waits)
                attack(broker.address, 150, next(seeds))
                assert comes_true(lambda: open_files(process) <= known), "a connection was not closed"
                assert comes_true(lambda: len(bystander.waits) > before + 10), "the other client does not get on"

            grown = growth_of_repeated(round_, process, enough=500)
        assert bystander.wrong == []
        assert grown[-1] <= 500, grown
        assert comes_true(lambda: open_files(process) <= files)
