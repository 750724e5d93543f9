"""Sends the kernel's messages: joins notifications, encodes, and logs refusals that concern the operator."""

from __future__ import annotations

import logging
from typing import Final, final

from ..kernel import Kernel, Send
from ..wire import Closing, Failure, Message, Probe, Welcome, WireError, encode
from .coalescing import coalesced
from .inside_clients import INSIDE, InsideClients
from .logs import Complaints, say
from .router import Router

_REFUSALS: Final = frozenset(("permission", "limit", "busy", "expired", "version", "protocol"))
"""The codes that concern the operator: a client lacks permissions or room, or should not connect at all."""


@final
class Sender:
    """Sends over the router's socket, or to a client inside; `complaints` counts refusals."""

    def __init__(self, router: Router, kernel: Kernel, complaints: Complaints, inside: InsideClients) -> None:
        self._router: Final = router
        self._inside: Final = inside
        self._kernel: Final = kernel
        self._complaints: Final = complaints

    def send_all(self, sends: list[Send]) -> list[bytes]:
        """Send messages in order; the sessions that cannot be reached any more."""
        gone: list[bytes] = []
        for each in coalesced(sends):
            session = each.session
            self._log(session, each.message)
            if session not in gone and not self.send(session, each.message):
                gone.append(session)
        return gone

    def send(self, session: bytes, message: Message) -> bool:
        """Send one message; whether the session can still be reached."""
        if session.startswith(INSIDE):
            return self._inside.take(session, message)
        try:
            frame = encode(message)
        except WireError as error:
            frame = encode(Failure(message.correlation, error.code, str(error)))
        if isinstance(message, Probe):
            return self._router.probe(session, frame)
        return self._router.send(session, frame)

    def _log(self, session: bytes, message: Message) -> None:
        match message:
            case Welcome():
                say(logging.INFO, "session opened", session=session.hex(), user=self._kernel.owner(session))
            case Closing(_, reason):
                say(logging.INFO, "session ended", session=session.hex(), reason=reason)
            case Failure(_, code, reason) if code in _REFUSALS:
                user = self._kernel.owner(session)
                self._complaints.add("request refused", code=code, session=session.hex(), user=user, reason=reason)
