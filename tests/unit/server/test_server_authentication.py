"""What libzmq is answered for each handshake, and that a broker which would let strangers in does not start."""

from __future__ import annotations

import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st
from zmq.utils import z85

from broker.events import DefinitionError
from broker.server import router as router_module
from broker.server.router import Router
from broker.server.security import DOMAIN, answered
from broker.server.security import trial as trial_module
from broker.server.security.routing_ids import reserved
from broker.wire.keys import Keys

KEY = bytes(range(32))
NAME = z85.encode(KEY).decode()


def request(**other: bytes) -> list[bytes]:
    fields = {"version": b"1.0", "number": b"7", "domain": DOMAIN, "address": b"10.0.0.1", "id": b""}
    fields |= {"mechanism": b"CURVE", "key": KEY} | other
    return list(fields.values())


def test_a_known_key_is_let_in_by_its_name() -> None:
    assert answered(request(), {NAME}) == ([b"1.0", b"7", b"200", b"OK", NAME.encode(), b""], "")


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (request(key=bytes(32)), "10.0.0.1: the unknown key 0000000000000000000000000000000000000000"),
        (request(key=b"short"), "10.0.0.1: no CURVE key"),
        (request(mechanism=b"NULL"), "10.0.0.1: no CURVE key"),
        (request(mechanism=b"PLAIN"), "10.0.0.1: no CURVE key"),
        (request()[:6], "10.0.0.1: no CURVE key"),
        ([*request(), b"more"], "10.0.0.1: no CURVE key"),
        (request(domain=b"global"), "10.0.0.1: another domain"),
        (request(version=b"2.0"), "a request that is not ZAP 1.0"),
        ([], "a request that is not ZAP 1.0"),
    ],
)
def test_anything_else_is_refused_and_says_why(asked: list[bytes], reason: str) -> None:
    reply, found = answered(asked, {NAME})
    assert reply[2] == b"400"
    assert reply[4] == b""
    assert found == reason


@given(st.lists(st.binary(max_size=40), max_size=9))
def test_nothing_but_the_right_request_is_let_in(asked: list[bytes]) -> None:
    reply, reason = answered(asked, {NAME})
    assert (reply[2] == b"200") == (asked == request(number=asked[1] if len(asked) > 1 else b"", address=b"", id=b""))
    assert (reply[2] == b"200") == (reason == "")


def pair() -> Keys:
    public, secret = (key.decode() for key in zmq.curve_keypair())
    return Keys(public, secret)


class Everybody:
    def __contains__(self, key: object) -> bool:
        return True


def test_a_broker_that_lets_strangers_in_does_not_start() -> None:
    with pytest.raises(DefinitionError, match="a client with an unknown key was not refused"):
        Router("tcp://127.0.0.1:0", pair(), Everybody())


@pytest.mark.parametrize("option", [zmq.CURVE_SERVER, zmq.ZAP_DOMAIN, zmq.ZAP_ENFORCE_DOMAIN])
def test_a_socket_without_one_of_its_options_is_not_served_to_strangers(
    option: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each option is lost in turn: either nobody gets in (who would know it is not the right somebody), or no start."""
    keys = pair()
    original = router_module._curve
    monkeypatch.setattr(
        router_module, "_curve", lambda keys: {key: value for key, value in original(keys).items() if key != option}
    )
    try:
        router = Router("tcp://127.0.0.1:0", keys, set())
    except DefinitionError:
        return
    try:
        trial_module.check_strangers_fail(router.endpoint, keys.public, lambda: None)
    finally:
        router.close(0)


def test_without_anybody_to_ask_nobody_gets_in() -> None:
    """A handler that has died denies: ask it nothing, and the stranger's handshake does not succeed."""
    keys = pair()
    router = Router("tcp://127.0.0.1:0", keys, set())
    assert router.authenticator is not None
    router.authenticator.close()
    with zmq.Context() as context, context.socket(zmq.DEALER) as stranger:
        stranger.linger = 0
        public, secret = zmq.curve_keypair()
        stranger.curve_serverkey, stranger.curve_publickey, stranger.curve_secretkey = (
            keys.public.encode(),
            public,
            secret,
        )
        stranger.connect(router.endpoint)
        stranger.send(b"x")
        assert not router.socket.poll(500)
    router.close(0)


def test_ids_that_have_the_form_of_assigned_ones_can_be_told_from_others() -> None:
    assert reserved(b"\0\x01\x02\x03\x04")
    assert not any(reserved(session) for session in (b"", b"ann", b"\0", b"\0" * 6, b"\x01\x01\x02\x03\x04"))
