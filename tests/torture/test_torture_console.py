"""Malformed requests to the console: the broker goes on, has changed nothing, and has told nothing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

import pytest
import zmq
from browser.test_console_pages import free_port
from doubles.broker_process import broker_process
from torture.console_requests import LEAKS, Site, attack
from unit.server.test_server_console import Visitor

from broker.console.signing_in import digest
from broker.wire.keys import Keys, written_keys
from client import Client

SUBSCRIPTIONS: Final = """
[streams.S]
attributes = { x = "int" }

[subscriptions.kept]
language = "cayuga"
query = "FILTER{x > 1}(S)"
"""
SECRETS: Final = ("the secret of eve", "the secret of root")


def keys(public_of_broker: str | None = None) -> Keys:
    public, secret = (key.decode() for key in zmq.curve_keypair())
    return Keys(public, secret, public_of_broker)


def attacked(folder: Path, count: int, seed: int) -> None:
    """Attack a broker with users, as somebody unknown and as a user without permission; then look at what is left."""
    own, port = keys(), free_port()
    root, eve = keys(own.public), keys(own.public)
    for name, text in (
        ("broker.keys", written_keys(own, "the broker")),
        ("subscriptions.toml", SUBSCRIPTIONS),
        ("console.tokens", f"eve {digest(SECRETS[0])}\nroot {digest(SECRETS[1])}\n"),
    ):
        (folder / name).touch(0o600)
        (folder / name).write_text(text)
    configuration = f"""
address = "tcp://127.0.0.1:0"
subscriptions = "subscriptions.toml"
security.keys = "broker.keys"
log.level = "debug"
users.eve.keys = ["{eve.public}"]
[users.root]
keys = ["{root.public}"]
publish = ["*"]
read = ["*"]
subscribe = ["*"]
admin = true
[console]
address = "http://127.0.0.1:{port}"
tokens = "console.tokens"
writes = true
"""
    with broker_process(configuration, str(folder / "foretell.toml")) as broker:
        visitor = Visitor(f"http://127.0.0.1:{port}")
        visitor.post("/api/sign-in", {"token": SECRETS[0]})
        cookie = visitor.cookie.partition("=")[2]
        told = [each.encode() for each in (*SECRETS, cookie, own.secret, root.secret, visitor.token)]
        for signed_in in ("", cookie):
            met = attack(Site("127.0.0.1", port, signed_in, visitor.token, told), count // 2, seed + len(signed_in))
            assert sum(met.values()) == count // 2
            assert {"400", "403" if signed_in else "401", "404", "405"} <= met.keys(), met
        with Client(broker.address, keys=root) as client:
            with client.subscribe("kept") as results:
                client.publish("S", {"x": 5}, time=int(time.time() * 1_000_000))
                assert next(results).data == {"x": 5}
            statistics: dict[str, Any] = client.statistics()
        assert statistics["broker"]["events"] == 1, "only the last one"
        assert statistics["broker"]["subscriptions"] == 1
        assert visitor.get("/api/streams")[1] == [], "eve sees nothing, still"
        assert visitor.get("/api/subscriptions")[1]["entries"] == []
        broker.process.terminate()
        said = "".join(broker.process.communicate(timeout=60))
    assert LEAKS.search(said.replace(str(folder), "").encode()) is None, said[-5_000:]
    assert not any(secret.decode() in said for secret in told)


def test_malformed_requests_are_refused_and_nothing_is_told(tmp_path: Path) -> None:
    attacked(tmp_path, 400, 1)


@pytest.mark.verify
def test_ten_thousand_malformed_requests_are_refused_and_nothing_is_told(tmp_path: Path) -> None:
    attacked(tmp_path, 10_000, 7)
