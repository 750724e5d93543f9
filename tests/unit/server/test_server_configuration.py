"""What an operator may write, and what is said of anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.events import DefinitionError
from broker.kernel import Limits
from broker.server import DEFAULT_ADDRESS, ServerConfiguration, read_configuration


def test_everything_has_a_default() -> None:
    assert read_configuration("", "foretell.toml") == ServerConfiguration(DEFAULT_ADDRESS, None, Limits())


def test_everything_can_be_written() -> None:
    text = 'address = "tcp://[::1]:0"\nsubscriptions = "subs.toml"\n[limits]\nsessions = 7\nqueue_bytes = 4096\n'
    assert read_configuration(text, "/etc/foretell/foretell.toml") == ServerConfiguration(
        "tcp://[::1]:0", Path("/etc/foretell/subs.toml"), Limits(sessions=7, queue_bytes=4096)
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "localhost", "[::1]"])
def test_loopback_addresses_are_served(host: str) -> None:
    ServerConfiguration(f"tcp://{host}:5570")


@pytest.mark.parametrize("host", ["0.0.0.0", "*", "192.168.1.2", "example.org", "[::]", "[2001:db8::1]", "eth0"])
def test_other_machines_are_not_served(host: str) -> None:
    with pytest.raises(DefinitionError, match="address: expected a loopback address"):
        ServerConfiguration(f"tcp://{host}:5570")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("adress = 1", "f.toml: unknown key 'adress'; did you mean 'address'?"),
        ("[limits]\nsesions = 1", "f.toml: unknown key 'limits.sesions'; did you mean 'sessions'?"),
        ("colour = 1", "f.toml: unknown key 'colour'; expected address, subscriptions, limits"),
        ("limits = 1", "f.toml: limits: expected a table, found int 1"),
        ("[limits]\nsessions = true", "f.toml: limits.sessions: expected a whole number from 1 on, found bool true"),
        ("address = 5570", "f.toml: address: expected an address such as tcp://127.0.0.1:5570, found int 5570"),
        ('address = "127.0.0.1:5570"', "f.toml: address: expected an address such as"),
        ('address = "ipc:///tmp/x"', "f.toml: address: expected an address such as"),
        ('address = "tcp://127.0.0.1:70000"', "f.toml: address: expected an address such as"),
        ("subscriptions = 1", "f.toml: subscriptions: expected the path of a subscription file, found int 1"),
        ("address = ", "f.toml: Invalid value"),
    ],
)
def test_a_wrong_configuration_is_one_line_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_configuration(text, "f.toml")
    assert str(caught.value).startswith(reason)
    assert "\n" not in str(caught.value)
