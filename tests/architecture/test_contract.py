"""The contract of executors stays small: these numbers only fall. What a machine must say besides is its host's matter,
or the result of taking a span."""

from __future__ import annotations

from typing import Final

from broker.engine.executors.contract import Executor
from broker.engine.program.account import Account

METHODS: Final = 10
ATTRIBUTES: Final = 6
SWITCHES: Final = 0


def test_the_contract_has_few_methods() -> None:
    assert len([name for name in dir(Executor) if not name.startswith("_")]) == METHODS


def test_a_machine_says_little_by_attributes() -> None:
    machine = Executor(Account(1, 1), [])
    assert len(vars(machine)) == ATTRIBUTES
    assert len([value for value in vars(machine).values() if isinstance(value, bool)]) == SWITCHES
