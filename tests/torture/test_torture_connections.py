"""Connections that say nonsense and are cut: the others go on, and nothing stays. Long form: torture.connections."""

from __future__ import annotations

from itertools import count

from doubles.broker_process import broker_process
from doubles.process_gauges import comes_true, growth_of_repeated, open_files
from torture.connections import QUIET, attack
from torture.innocent import beside


def test_connections_that_say_nonsense_leave_nothing_and_disturb_nobody() -> None:
    with broker_process(QUIET) as broker:
        process, files, seeds = broker.process.pid, open_files(broker.process.pid), count()
        with beside(broker.address) as innocent:
            innocent.rest(1)
            known = open_files(process)

            def round_() -> None:
                with innocent.attack():
                    attack(broker.address, 150, next(seeds))
                assert comes_true(lambda: open_files(process) <= known), "a connection was not closed"
                innocent.rest(10)

            grown = growth_of_repeated(round_, process, enough=500)
        assert grown[-1] <= 500, grown
        assert comes_true(lambda: open_files(process) <= files)
