"""The event loop: carries inputs to the kernel and effects to the socket, in one thread and in bounded passes.

The end has three parts. From the first request to stop on, nothing new is taken, and what waits is delivered as far as
it is asked for; then everybody is told what was not delivered, and that this is the end; then the socket may finish. A
second request skips what is left of this.
"""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Container
from concurrent.futures import Future
from typing import Any, Final, Self, final

import zmq

from ..kernel import (
    Access,
    Admission,
    Drain,
    EnginePort,
    Input,
    Kernel,
    Limits,
    MakeResults,
    Reconfigure,
    Stop,
    Tick,
    Undecodable,
)
from ..kernel.subscribing import MEMORY
from ..wire import Closing, Failure, Message, Probe, Welcome, WireError, decode, encode
from ..wire.keys import Keys
from .allocation import Trimming
from .coalescing import coalesced
from .durability_gate import DurabilityGate
from .durable_kernel import DurableKernel
from .durations import BUCKETS
from .logs import LOG, Complaints, log_failures, say
from .loop_wakeup import LoopRequest, LoopWakeup
from .requests import Requests
from .router import Router
from .security.routing_ids import reserved

TICK_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 0.01
"""How soon a full peer is tried again."""
PASS_MESSAGES_MAX: Final = 256
PASS_SECONDS_MAX: Final = 0.001
"""No further message is taken in a pass that has lasted so long: what is to be sent waits for the end of its pass."""
FLUSH_SECONDS_MAX: Final = 5.0
_SECRET_BYTES: Final = 32

Reload = Callable[[], tuple[Limits, Access]]
MakeKeeper = Callable[[Callable[[], None]], DurabilityGate]
"""Makes a keeper that calls this when the disk is done with something."""

_REFUSALS: Final = frozenset(("permission", "limit", "busy", "expired", "version", "protocol"))
"""The codes that an operator wants to hear of: somebody has too little, or should not be here."""


def wall_clock() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1_000


@final
class Broker:
    """A kernel behind a socket: a context manager. Listens from its construction on; `run` returns when it is stopped.

    `keys`: only clients that `access` knows are served. `drain_seconds`: how long what waits is delivered at the end.
    `reload` is asked for other limits and permissions on a request to do so; it raises what is wrong with them. Raises
    DefinitionError where the address cannot be had.

    `keeping`: with a journal, what it has recovered. `permanent`: the names of the subscriptions that stay without
    clients; None: of all that the engine has.
    """

    def __init__(
        self,
        matcher: EnginePort,
        address: str,
        limits: Limits | None = None,
        admission: Admission | None = None,
        keys: Keys | None = None,
        access: Access | None = None,
        drain_seconds: float = 0.0,
        reload: Reload | None = None,
        keeping: MakeKeeper | None = None,
        permanent: Container[str] | None = None,
        io_threads: int = 1,
    ) -> None:
        sessions = (limits or Limits()).sessions
        self._router = Router(address, keys, () if access is None else access.users, io_threads, sessions)
        self._wake = LoopWakeup()
        keeper = None if keeping is None else keeping(lambda: self._wake.ask(LoopRequest.STORED))
        taken, cursors = (None, None) if keeper is None else (keeper.history.taken, keeper.history.cursors)
        durability = MEMORY if keeper is None else keeper.durability
        secret = os.urandom(_SECRET_BYTES)
        self._kernel = Kernel(matcher, limits, admission, self._around, secret, taken, durability, permanent, cursors)
        self._kept = DurableKernel(self._kernel, keeper)
        self._keeper = keeper
        self._matcher = matcher
        self._requests = Requests(self._kernel, self._kept, wall_clock)
        self._deaf = False
        self._reload = reload
        self._drain_seconds = drain_seconds
        self._drain_until: float | None = None
        self._asked: deque[Future[dict[str, dict[str, Any]]]] = deque()
        self._complaints = Complaints()
        self._trimming = Trimming()
        self._passed = self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.abandon()
        self._router.close(0)
        self._wake.close()

    @property
    def endpoint(self) -> str:
        """The address that clients connect to."""
        return self._router.endpoint

    @property
    def wake(self) -> LoopWakeup:
        """Where a signal's number goes."""
        return self._wake

    @property
    def idle_seconds(self) -> float:
        """How long the loop has not come around: below TICK_SECONDS unless an event takes longer. From any thread."""
        return time.monotonic() - self._passed

    @property
    def stopping(self) -> bool:
        """Whether it has been told to stop. From any thread."""
        return self._drain_until is not None or self._kept.failed is not None

    def stop(self) -> None:
        """Ask the loop to end, from any thread."""
        self._wake.ask(LoopRequest.STOP)

    def report(self, patience_seconds: float) -> dict[str, dict[str, Any]]:
        """Its statistics, from any thread. Raises TimeoutError."""
        asked: Future[dict[str, dict[str, Any]]] = Future()
        self._asked.append(asked)
        self._wake.ask(LoopRequest.REPORT)
        return asked.result(patience_seconds)

    def run(self) -> None:
        """Serve until told to stop, then say so to the clients. May be called once.

        Raises what the engine raised where it is not known any more what it has taken of a batch, and StorageErrors
        where nothing can be written any more.
        """
        poller = zmq.Poller()
        poller.register(self._router.socket, zmq.POLLIN)
        poller.register(self._wake.reader, zmq.POLLIN)
        poller.register(self._router.authenticator.socket, zmq.POLLIN)
        next_tick = time.monotonic() + TICK_SECONDS
        while self._kept.failed is None and not self._drained():
            patience = next_tick - time.monotonic()
            if self._router.waiting or self.stopping:
                patience = min(patience, RETRY_SECONDS)
            if self._keeper is not None:
                due = self._kept.patience(wall_clock())
                patience = patience if due is None else min(patience, due)
            if self._deaf != (self._kept.crowded or self._requests.deaf):
                self._deaf = not self._deaf
                poller.modify(self._router.socket, 0 if self._deaf else zmq.POLLIN)
            at_once = self._requests.waiting or self._kernel.has_work(self._router.full)
            ready = dict(poller.poll(0 if at_once else max(0, int(patience * 1_000) + 1)))
            self._passed = time.monotonic()
            if self._wake.reader.fileno() in ready and (self._attend() or self._drained()):
                break  # what has come after the request to stop is not read any more, and told the end like all else
            self._authenticate()
            self._requests.turn()
            if self._router.socket in ready:
                self._take_messages()
            for session in self._router.retry():
                self._lose(session)
            if self._kernel.has_work(self._router.full):
                self._turn()
            if time.monotonic() >= next_tick:
                self._happen(Tick())
                if not self._deaf:  # or somebody waits to be heard
                    self._router.connections.tick(self._serves)
                log_failures(self._matcher.failures)
                self._complaints.tell()
                self._trimming.go_on()
                next_tick = time.monotonic() + TICK_SECONDS
            self._kept.advance(wall_clock())
            self._perform()
        self._kept.finish(wall_clock())
        self._perform()
        self._router.close(self._flush())
        if self._kept.failed is not None:
            raise self._kept.failed
        self._kept.close(wall_clock())

    # ---- what comes from outside of the socket ----

    def _attend(self) -> bool:
        """Do what was asked for by a signal or another thread; whether to end now."""
        for request in self._wake.take():
            match request:
                case LoopRequest.REPORT:
                    while self._asked:
                        self._asked.popleft().set_result(self._kernel.statistics())
                case LoopRequest.RELOAD:
                    self._change()
                case LoopRequest.STOP if self.stopping:
                    self._drain_until = 0.0
                    return True
                case LoopRequest.STOP:
                    say(logging.INFO, "draining", seconds=self._drain_seconds)
                    self._drain_until = time.monotonic() + self._drain_seconds
                    self._step(Drain())
        return False

    def _drained(self) -> bool:
        until = self._drain_until
        if until is None or self._requests.waiting:
            return until == 0.0  # what was taken is answered, unless there is no time for that
        return time.monotonic() >= until or (self._kernel.drained and not self._kept.holding)

    def _change(self) -> None:
        if self._reload is None:
            say(logging.WARNING, "nothing to reload: the broker was started without a configuration file")
            return
        try:
            limits, access = self._reload()
        except Exception as error:  # whatever is wrong with the file: the broker goes on as it was
            say(logging.ERROR, "not reloaded", reason=str(error))
            return
        if self._router.authenticator.allowed is not None:
            self._router.authenticator.allowed = access.users
        self._requests.come(Reconfigure(limits, access))
        say(logging.INFO, "reloaded", keys=len(access.users))

    def _around(self) -> dict[str, dict[str, Any]]:
        asked = self._router.authenticator
        uptime = int(time.monotonic() - self._started)
        waiting, durations = self._requests.statistics(), self._requests.durations
        loop: dict[str, Any] = {
            "uptime_seconds": uptime,
            "keys_denied": asked.denied,
            "connections_postponed": asked.postponed,
            "silent_connections_ended": self._router.connections.ended,
            **waiting,
            **durations.statistics(),
        }
        journal = {} if self._keeper is None else {"journal": self._keeper.statistics()}
        return {"loop": loop, BUCKETS: durations.buckets(), **journal}

    # ---- messages ----

    def _authenticate(self) -> None:
        for refused in self._router.authenticator.answer():
            self._complaints.add("connection refused", reason=refused)

    def _take_messages(self) -> None:
        for _ in range(PASS_MESSAGES_MAX):
            if self._requests.crowded or self._kept.failed is not None:
                return
            received = self._router.receive()
            if received is None:
                return
            session, identity, frames = received
            if not self._router.assigned(session):
                self._complaints.add("forged routing id refused", session=session[:16].hex(), key=identity)
                if reserved(session):  # it waits for another one that is to have this id
                    self._router.give_up(session)
                    continue
                self._send(session, Failure(0, "protocol", "a client must not choose its routing id"))
                self._router.forget(session)
                continue
            try:
                if len(frames) != 1:
                    raise WireError(f"expected a message of one frame, found {len(frames)}")
                message = decode(frames[0])
            except WireError as error:
                self._requests.come(Undecodable(session, error), sum(map(len, frames)))
            else:
                self._requests.receive(session, message, identity, len(frames[0]))
            if time.monotonic() - self._passed >= PASS_SECONDS_MAX:
                return

    def _turn(self) -> None:
        try:
            self._step(MakeResults(self._router.full))
        except Exception as error:
            # A mistake of ours again, and results are lost that nobody would be told of.
            LOG.exception("results could not be made, which is a mistake in the broker")
            self._kept.fail(error)

    def _step(self, given: Input) -> None:
        self._kept.step(given, wall_clock())
        self._perform()

    def _happen(self, given: Input) -> None:
        self._kept.happen(given, wall_clock())
        self._perform()

    def _perform(self) -> None:
        gone: list[bytes] = []
        for effect in coalesced(self._kept.ready()):
            session = effect.session
            self._note(session, effect.message)
            if session not in gone and not self._send(session, effect.message):
                gone.append(session)
        for session in gone:
            self._lose(session)

    def _serves(self, session: bytes) -> bool:
        return bool(self._kernel.owner(session))

    def _lose(self, session: bytes) -> None:
        user = self._kernel.owner(session)
        if self._requests.leave(session) and user:
            say(logging.INFO, "session lost", session=session.hex(), user=user)
        self._router.forget(session)

    def _note(self, session: bytes, message: Message) -> None:
        match message:
            case Welcome():
                say(logging.INFO, "session opened", session=session.hex(), user=self._kernel.owner(session))
            case Closing(_, reason):
                say(logging.INFO, "session ended", session=session.hex(), reason=reason)
            case Failure(_, code, reason) if code in _REFUSALS:
                user = self._kernel.owner(session)
                self._complaints.add("request refused", code=code, session=session.hex(), user=user, reason=reason)

    def _send(self, session: bytes, message: Message) -> bool:
        try:
            frame = encode(message)
        except WireError as error:
            frame = encode(Failure(message.correlation, error.code, str(error)))
        if isinstance(message, Probe):
            return self._router.probe(session, frame)
        return self._router.send(session, frame)

    def _flush(self) -> int:
        """Tell everyone, and send what waits, for at most FLUSH_SECONDS_MAX; how long libzmq may go on, in ms."""
        deadline = time.monotonic() + FLUSH_SECONDS_MAX
        at_once = self._drain_until == 0.0
        failed = self._kept.failed is not None
        self._step(Stop("the broker failed and is stopping" if failed else "the broker is stopping"))
        self._complaints.tell()
        while self._router.waiting and time.monotonic() < deadline:
            if at_once or LoopRequest.STOP in self._wake.take():
                return 0
            self._router.retry()
            time.sleep(RETRY_SECONDS)
        return max(1, int((deadline - time.monotonic()) * 1_000))
