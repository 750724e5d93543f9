"""Tests, before a broker serves clients, that it refuses a client with an unknown key and one without a key.

Security can fail silently outside this program: a libzmq without CURVE, one that does not ask the authenticator, an
ignored socket option. From inside, the broker seems to work. So it connects to itself as a stranger would, and does not
start if that succeeds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import zmq
from zmq.utils.monitor import recv_monitor_message

from ...events import DefinitionError

TRIAL_SECONDS_MAX: Final = 5.0
_POLL_MILLISECONDS: Final = 20
_FAILED: Final = int(
    zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
)
_SUCCEEDED: Final = int(zmq.EVENT_HANDSHAKE_SUCCEEDED)
_ENDED: Final = int(zmq.EVENT_DISCONNECTED)
_ANYWHERE: Final = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}


def check_strangers_fail(endpoint: str, server_key: str, attend: Callable[[], object]) -> None:
    """Raise DefinitionError if a stranger is not refused, or if that cannot be determined.

    `attend` lets the broker answer handshakes; it is called repeatedly.
    """
    for scheme, reachable in _ANYWHERE.items():
        endpoint = endpoint.replace(f"//{scheme}:", f"//{reachable}:")
    public, secret = zmq.curve_keypair()
    unknown = {zmq.CURVE_SERVERKEY: server_key.encode(), zmq.CURVE_PUBLICKEY: public, zmq.CURVE_SECRETKEY: secret}
    for who, options in (("with an unknown key", unknown), ("without a key", {})):
        if not _refused(endpoint, options, attend):
            raise DefinitionError(
                f"security: a client {who} was not refused at {endpoint}, so this broker would serve everybody: "
                "it does not start"
            )


def _refused(endpoint: str, options: Mapping[Any, bytes], attend: Callable[[], object]) -> bool:
    events = _FAILED | _SUCCEEDED | _ENDED
    with zmq.Context() as context, context.socket(zmq.DEALER) as stranger:
        stranger.linger = 0
        stranger.ipv6 = "[" in endpoint
        for option, value in options.items():
            stranger.setsockopt(option, value)
        monitor = stranger.get_monitor_socket(events)
        try:
            stranger.connect(endpoint)
            deadline = time.monotonic() + TRIAL_SECONDS_MAX
            while time.monotonic() < deadline:
                attend()
                if monitor.poll(_POLL_MILLISECONDS):
                    return not int(recv_monitor_message(monitor)["event"]) & _SUCCEEDED
            return False
        finally:
            stranger.disable_monitor()
            monitor.close(0)
