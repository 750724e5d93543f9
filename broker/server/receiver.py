"""Takes messages from the socket, a bounded number in each pass, and gives them to the scheduler."""

from __future__ import annotations

import time
from typing import Final, final

from ..kernel import Undecodable
from ..wire import Failure, WireError, decode
from .logs import Complaints
from .output_gate import OutputGate
from .router import Router
from .scheduler import Scheduler
from .security.routing_ids import reserved
from .sender import Sender

PASS_MESSAGES_MAX: Final = 256
PASS_SECONDS_MAX: Final = 0.001
"""A pass takes no further message after this time, because messages are sent only at its end."""


@final
class Receiver:
    """Receives messages, and refuses forged routing ids; `complaints` counts refusals."""

    def __init__(
        self, router: Router, scheduler: Scheduler, gate: OutputGate, sender: Sender, complaints: Complaints
    ) -> None:
        self._router: Final = router
        self._scheduler: Final = scheduler
        self._gate: Final = gate
        self._sender: Final = sender
        self._complaints: Final = complaints

    def authenticate(self) -> None:
        """Answer the waiting handshakes."""
        for refused in self._router.authenticator.answer():
            self._complaints.add("connection refused", reason=refused)

    def receive(self, began: float) -> bool:
        """Take messages until there are none, the scheduler is full, or the pass has lasted long enough; whether there
        are none. `began`: the start of the pass.
        """
        for _ in range(PASS_MESSAGES_MAX):
            if self._scheduler.crowded or self._gate.failed is not None:
                return False
            received = self._router.receive()
            if received is None:
                return True
            session, identity, frames = received
            if not self._router.assigned(session):
                self._refuse_forged(session, identity)
                continue
            try:
                if len(frames) != 1:
                    raise WireError(f"expected a message of one frame, found {len(frames)}")
                message = decode(frames[0])
            except WireError as error:
                self._scheduler.submit(Undecodable(session, error), sum(map(len, frames)))
            else:
                self._scheduler.receive(session, message, identity, len(frames[0]))
            if time.monotonic() - began >= PASS_SECONDS_MAX:
                break
        return False

    def _refuse_forged(self, session: bytes, identity: str) -> None:
        self._complaints.add("forged routing id refused", session=session[:16].hex(), key=identity)
        if reserved(session):  # the peer may wait for a later connection to get this id
            self._router.give_up(session)
            return
        self._sender.send(session, Failure(0, "protocol", "a client must not choose its routing id"))
        self._router.forget(session)
