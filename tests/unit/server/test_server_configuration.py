"""What an operator may write, and what is said of anything else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from broker.command.serve import configured
from broker.events import DefinitionError
from broker.forecast.model_file import Model, save_model
from broker.kernel import Limits, Quota, User
from broker.server import DEFAULT_ADDRESS, ServerConfiguration, read_configuration
from broker.server.serving import engine_of


def test_everything_has_a_default() -> None:
    assert read_configuration("", "foretell.toml") == ServerConfiguration(DEFAULT_ADDRESS, None, Limits())


def test_everything_can_be_written() -> None:
    text = 'address = "tcp://[::1]:0"\nsubscriptions = "subs.toml"\n[limits]\nsessions = 7\nqueue_bytes = 4096\n'
    assert read_configuration(text, "/etc/foretell/foretell.toml") == ServerConfiguration(
        "tcp://[::1]:0", Path("/etc/foretell/subs.toml"), Limits(sessions=7, queue_bytes=4096)
    )


@pytest.mark.parametrize(
    ("written", "found"), [('"5 min"', 300_000_000), ("7", 7), ('"off"', None), ('"1 day"', Limits().ahead_max)]
)
def test_how_far_ahead_is_a_duration_or_off(written: str, found: int | None) -> None:
    limits = read_configuration(f"[limits]\nahead_max = {written}", "f.toml").limits
    assert limits == Limits(ahead_max=found)


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
        ("colour = 1", "f.toml: unknown key 'colour'; expected address, subscriptions, model, "),
        ("[limits]\nahead_max = \"on\"", "f.toml: limits.ahead_max: expected a duration"),
        ("[limits]\nahead_max = true", "f.toml: limits.ahead_max: expected a duration"),
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


KEY, OTHER = "k" * 40, "o" * 40

SECURE = f"""
address = "tcp://0.0.0.0:5570"
drain = "90 s"
[security]
keys = "broker.keys"
[quota]
connections = 5
[users.ann]
keys = ["{KEY}", "{OTHER}"]
publish = ["Stock"]
read = ["Stock*"]
subscribe = ["ann.*"]
declare = ["Ann*"]
quota = {{ events_per_second = 100 }}
[users.ops]
keys = ["{"p" * 40}"]
admin = true
[log]
level = "debug"
format = "json"
[console]
address = "http://[::1]:0"
"""


def test_security_and_operation_can_be_written() -> None:
    found = read_configuration(SECURE, "/etc/foretell/foretell.toml")
    quota = Quota(connections=5, events_per_second=100)
    ann = User("ann", ("Stock",), ("Stock*",), ("ann.*",), ("Ann*",), False, quota)
    ops = User("ops", admin=True, quota=Quota(connections=5))
    assert found == ServerConfiguration(
        "tcp://0.0.0.0:5570",
        None,
        Limits(),
        90_000_000,
        Path("/etc/foretell/broker.keys"),
        False,
        {KEY: ann, OTHER: ann, "p" * 40: ops},
        Quota(connections=5),
        "debug",
        "json",
        "http://[::1]:0",
    )
    assert found.access().user(OTHER) == ann
    assert found.access().user("") is None
    assert not found.exposed


def test_other_machines_are_served_without_keys_only_where_that_is_said() -> None:
    assert read_configuration('address = "tcp://0.0.0.0:1"\n[security]\ninsecure = true', "f.toml").exposed
    assert not ServerConfiguration(insecure=True).exposed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('address = "tcp://0.0.0.0:1"', "address: expected a loopback address (127.0.0.1, ::1 or localhost), found"),
        ("[security]\nkey = 1", "unknown key 'security.key'; did you mean 'keys'?"),
        ('[security]\nkeys = "k"', "security.keys: expected users too: without them no client may connect"),
        ('[security]\ninsecure = "no"', "security.insecure: expected true or false, found string 'no'"),
        (f'[users.ann]\nkeys = ["{KEY}"]', "users: expected security.keys too: without it the broker cannot identify"),
        ("[users.ann]\nadmin = true", "users.ann.keys: expected at least one public key, found none"),
        ('[users.ann]\nkeys = ["short"]', "users.ann.keys: expected a public key of 40 characters (Z85), found string"),
        (f'[users.a]\nkeys = ["{KEY}"]\n[users.b]\nkeys = ["{KEY}"]', f"users.b.keys: the key {KEY} already"),
        ('[users.a]\nread = "Stock"', "users.a.read: expected a list of strings, found string 'Stock'"),
        (
            '[users.a]\nread = ["*x"]',
            "users.a.read: expected a name, or a prefix of names followed by *, found string '*x'",
        ),
        ("[users.a]\nreads = []", "unknown key 'users.a.reads'; did you mean 'read'?"),
        ("[users.a.quota]\nstate = 1", "unknown key 'users.a.quota.state'; did you mean 'states'?"),
        ("[users.a.quota]\nstates = 0", "users.a.quota.states: expected a whole number from 1 on, found int 0"),
        ("users = 1", "users: expected a table, found int 1"),
        ("users.ann = 1", "users.ann: expected a table, found int 1"),
        ("io_threads = 0", "io_threads: expected a whole number from 1 on, found int 0"),
        ('[journal]\npath = "d"\ncheck = "most"', "journal.check: expected one of all, needed, found string 'most'"),
        ("io_threads = 65", "io_threads: expected 1 to 64, found 65"),
        ('[users.""]', "users: expected a name of at least one character, found an empty one"),
        ('drain = "5 parsecs"', "drain: expected a duration in microseconds or such as '5 min'"),
        ('log.level = "inform"', "log.level: expected one of debug, info, warning, error, found string 'inform'; did"),
        ('log.format = "xml"', "log.format: expected one of text, json, found string 'xml'"),
        ('console.address = "tcp://127.0.0.1:1"', "console.address: expected an address such as http://127.0.0.1:5580"),
        (
            'console.address = "http://0.0.0.0:1"',
            "console.address: expected a loopback address, or console.open = true",
        ),
    ],
)
def test_a_wrong_security_or_operation_is_one_line(text: str, reason: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_configuration(text, "f.toml")
    assert str(caught.value).startswith(f"f.toml: {reason}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["foretell.toml", "jumps.toml", "counted.json"])
def test_a_file_that_everybody_can_write_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "foretell.toml").write_text('subscriptions = "jumps.toml"\nmodel = "counted.json"\n')
    (tmp_path / "jumps.toml").write_text('[streams.S]\nattributes = { x = "int" }\n')
    save_model(Model(), tmp_path / "counted.json")
    for path in tmp_path.iterdir():
        path.chmod(0o644)
    engine_of(configured(tmp_path / "foretell.toml", None, None, False))
    (tmp_path / name).chmod(0o646)
    reason = f"{tmp_path / name}: expected a file that other users cannot write (chmod o-w), found the mode 646"
    with pytest.raises(DefinitionError, match=re.escape(reason)):
        engine_of(configured(tmp_path / "foretell.toml", None, None, False))
