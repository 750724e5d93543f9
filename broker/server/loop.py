"""The event loop: carries inputs to the kernel and effects to the socket, in one thread and in bounded passes.

The end has three parts. After the first request to stop, the broker accepts nothing new, and delivers queued results as
far as clients grant credits; then it reports to every client what was not delivered, and closes the sessions; then
libzmq sends what it still has. A second request skips the remaining parts.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Container
from concurrent.futures import Future
from typing import Any, Final, Self, final

import zmq

from ..kernel import Access, Admission, Drain, EnginePort, Kernel, Limits, ReasonsWanted, Reconfigure, Stop, Tick
from ..kernel.auditing import REFUSED
from ..kernel.inputs_and_effects import Audit
from ..wire import Message, PermissionDenied
from ..wire.keys import Keys
from .allocation import Trimming
from .audit_log import AuditLog, reconfigured
from .durations import BUCKETS
from .forking import Forked
from .inside_clients import Asked, InsideClients
from .logs import Complaints, log_failures, log_held_back, say
from .loop_wakeup import LoopRequest, LoopWakeup
from .output_gate import OutputGate
from .questions import Questions
from .receiver import Receiver
from .rehearsal import begun, ended
from .router import Router
from .scheduler import Scheduler
from .sender import Sender
from .tracing import BatchTraces

TICK_SECONDS: Final = 1.0
CLOCK_SECONDS: Final = 0.02
"""How often the clock punctuates at most: what falls due meanwhile is told together."""
RETRY_SECONDS: Final = 0.01
"""How soon sending to a full peer is retried."""
FLUSH_SECONDS_MAX: Final = 5.0
_SECRET_BYTES: Final = 32

Reload = Callable[[], tuple[Limits, Access]]
MakeGate = Callable[[Callable[[], None]], OutputGate]
"""Makes a gate that calls the given function, from other threads, when a disk operation has ended."""


def wall_clock() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1_000


def _identity(kernel: Kernel, user: str) -> str:
    """The key by which a user's requests come. Raises PermissionDenied."""
    found = kernel.consulting.identity(user)
    if found is None:
        raise PermissionDenied("this user is not known any more")
    return found


@final
class Broker:
    """A kernel behind a socket, as a context manager. It listens from its construction; `run` returns once stopped.

    `keys`: the broker serves only clients that `access` knows. `drain_seconds`: how long it delivers queued results at
    the end. `reload` returns other limits and permissions, and raises if they are invalid. Raises DefinitionError if
    the address cannot be used.

    `make_gate`: with a journal, makes the gate that has its state. `permanent`: the names of the subscriptions that
    stay without clients; None: all present ones. `configured_streams`: those of the streams that clients cannot change.
    `audit_log`: who changed what. `traces`: of batches.
    """

    def __init__(
        self,
        engine: EnginePort,
        address: str,
        limits: Limits | None = None,
        admission: Admission | None = None,
        keys: Keys | None = None,
        access: Access | None = None,
        drain_seconds: float = 0.0,
        reload: Reload | None = None,
        make_gate: MakeGate | None = None,
        permanent: Container[str] | None = None,
        io_threads: int = 1,
        configured_streams: Container[str] = (),
        audit_log: AuditLog | None = None,
        traces: BatchTraces | None = None,
    ) -> None:
        sessions = (limits or Limits()).sessions
        self._router = Router(address, keys, () if access is None else access.users, io_threads, sessions)
        self._wakeup = LoopWakeup()
        try:
            gate = OutputGate() if make_gate is None else make_gate(lambda: self._wakeup.ask(LoopRequest.STORED))
        except BaseException:
            self._router.close(0)
            self._wakeup.close()
            raise
        self._gate = gate
        receipts, cursors = (None, None) if gate.state is None else (gate.state.receipts, gate.state.cursors)
        secret = os.urandom(_SECRET_BYTES)
        self._kernel = Kernel(
            engine, limits, admission, self._around, secret, receipts, gate.durability, permanent, cursors,
            configured_streams,
        )
        self._engine = engine
        self._audit_log = audit_log
        self._traces = traces
        self._scheduler = Scheduler(self._kernel, gate, wall_clock, audit_log=audit_log, traces=traces)
        self._complaints = Complaints()
        self._inside = InsideClients(self._scheduler.receive)
        self._sender = Sender(self._router, self._kernel, self._complaints, self._inside)
        self._receiver = Receiver(self._router, self._scheduler, gate, self._sender, self._complaints)
        self._deaf = False  # whether the socket is not read for a while
        self._reload = reload
        self._rules = limits or Limits(), access or Access()  # as they are now
        self._drain_seconds = drain_seconds
        self._drain_until: float | None = None
        self._questions = Questions()
        self._trimming = Trimming()
        self._passed = self._started = time.monotonic()
        self._punctuated = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._gate.abandon()
        self._router.close(0)
        self._wakeup.close()

    @property
    def endpoint(self) -> str:
        """The address that clients connect to."""
        return self._router.endpoint

    @property
    def wakeup(self) -> LoopWakeup:
        """Where Python writes a signal's number."""
        return self._wakeup

    @property
    def idle_seconds(self) -> float:
        """Seconds since the loop began its pass: below TICK_SECONDS unless an event takes longer. From any thread."""
        return time.monotonic() - self._passed

    @property
    def stopping(self) -> bool:
        """Whether the broker is about to end. From any thread."""
        return self._drain_until is not None or self._gate.failed is not None

    def stop(self) -> None:
        """Ask the loop to end, from any thread."""
        self._wakeup.ask(LoopRequest.STOP)

    def report(self, patience_seconds: float) -> dict[str, dict[str, Any]]:
        """The broker's statistics, from any thread. Raises TimeoutError."""
        found: dict[str, dict[str, Any]] = self.ask(lambda kernel: kernel.statistics(), patience_seconds)
        return found

    def ask(self, question: Callable[[Kernel], Any], patience_seconds: float) -> Any:
        """The answer to a question that changes nothing, from any thread; the loop asks it between two passes.

        Raises TimeoutError, and the ForetellError with which the kernel refuses.
        """
        answer = self._questions.ask(question)
        self._wakeup.ask(LoopRequest.REPORT)
        return answer.result(patience_seconds)

    def reasons(
        self, question: Callable[[Kernel, Callable[[Any], None]], ReasonsWanted], patience_seconds: float
    ) -> Future[Any]:
        """What will be the answer to a question for reasons, from any thread: Reasons or Failure. Raises as `ask`."""
        told: Future[Any] = Future()
        self.ask(lambda kernel: self._gate.ask_reasons(question(kernel, told.set_result)), patience_seconds)
        return told

    def request(self, user: str, asked: Asked, patience_seconds: float) -> Message:
        """The answer to a request that a user makes inside this process, as a client would, from any thread.

        Raises TimeoutError, when the request may still be carried out, PermissionDenied, WireError.
        """
        until = time.monotonic() + patience_seconds

        def begin(kernel: Kernel) -> Future[Message]:
            return self._inside.begin(user, _identity(kernel, user), asked)

        answer: Future[Message] = self.ask(begin, patience_seconds)
        return answer.result(max(0.0, until - time.monotonic()))

    def rehearse(self, user: str, asked: Asked, patience_seconds: float) -> dict[str, Any]:
        """What such a request would do, see rehearsal. Raises the same, and LimitExceeded, Unsupported, Busy."""

        def begin(kernel: Kernel) -> Forked:
            return begun(kernel, self._inside.key(user), _identity(kernel, user), asked, wall_clock())

        copy: Forked = self.ask(begin, patience_seconds)
        return ended(copy)

    def held(self, user: str, patience_seconds: float) -> list[str]:
        """The subscriptions that a user has inside this process, from any thread. Raises TimeoutError."""
        found: list[str] = self.ask(lambda kernel: self._inside.held(user), patience_seconds)
        return found

    def run(self) -> None:
        """Serve until asked to stop, then close every session. May be called once.


        Raises an error of the engine in the middle of a batch, which leaves its state undefined, and StorageErrors if
        the journal cannot be written any more.
        """
        poller = zmq.Poller()
        poller.register(self._router.socket, zmq.POLLIN)
        poller.register(self._wakeup.reader, zmq.POLLIN)
        poller.register(self._router.authenticator.socket, zmq.POLLIN)
        poller.register(self._router.connections.events, zmq.POLLIN)
        next_tick = time.monotonic() + TICK_SECONDS
        while self._gate.failed is None and not self._drained():
            patience = next_tick - time.monotonic()
            if self._router.waiting or self.stopping:
                patience = min(patience, RETRY_SECONDS)
            now = wall_clock()
            due = self._gate.patience(now)
            patience = min(patience if due is None else min(patience, due), self._clock_patience(now))
            if self._deaf != (self._gate.crowded or self._scheduler.full):
                self._deaf = not self._deaf
                poller.modify(self._router.socket, 0 if self._deaf else zmq.POLLIN)
            at_once = self._scheduler.waiting or self._kernel.has_work(self._router.full)
            ready = dict(poller.poll(0 if at_once else max(0, int(patience * 1_000) + 1)))
            self._passed = time.monotonic()
            if self._wakeup.reader.fileno() in ready and (self._attend() or self._drained()):
                break  # messages after the request to stop are not read; their senders get CLOSING
            self._receiver.authenticate()
            self._scheduler.turn()
            if self._router.connections.events in ready:
                self._router.connections.attend()
            read = self._receiver.receive(self._passed) if self._router.socket in ready else not self._deaf
            for session in self._router.connections.gone() if read else ():  # after all that they have sent
                if self._serves(session):
                    self._lose(session)
            for session in self._router.retry():
                self._lose(session)
            if self._kernel.has_work(self._router.full):
                self._scheduler.make_results(self._router.full)
                self._send_released()
            if self._clock_patience(wall_clock()) <= 0:
                self._punctuated = time.monotonic()
                self._scheduler.punctuate()
                self._send_released()
            if time.monotonic() >= next_tick:
                self._tick()
                next_tick = time.monotonic() + TICK_SECONDS
            self._gate.advance(wall_clock(), self._kernel.work is None)
            self._send_released()
        self._gate.finish()
        self._send_released()
        self._router.close(self._flush())
        if self._gate.failed is not None:
            raise self._gate.failed
        self._gate.close(wall_clock(), self._kernel.work is None)

    def _clock_patience(self, now: int) -> float:
        """Seconds until the clock has to punctuate; TICK_SECONDS at most."""
        due = self._kernel.due(now)
        if due is None:
            return TICK_SECONDS
        again = self._punctuated + CLOCK_SECONDS - time.monotonic()
        return min(TICK_SECONDS, max(again, (due - now) / 1_000_000))

    def _tick(self) -> None:
        self._scheduler.step(Tick())
        self._send_released()
        if not self._deaf:  # otherwise clients seem silent because nothing is read
            self._router.connections.tick(self._serves)
        self._inside.tick()
        log_failures(self._engine.failures)
        log_held_back(self._kernel.held_back.began, self._kernel.held_back.ended)
        self._complaints.report()
        self._trimming.trim_if_due()

    # ---- signals and other threads ----

    def _attend(self) -> bool:
        """Carry out requests of signals and other threads; whether to end now."""
        for request in self._wakeup.take():
            match request:
                case LoopRequest.REPORT:
                    if self._questions.answer(self._kernel):
                        self._wakeup.ask(LoopRequest.REPORT)
                case LoopRequest.RELOAD:
                    self._reread()
                case LoopRequest.STOP if self.stopping:
                    self._drain_until = 0.0
                    return True
                case LoopRequest.STOP:
                    say(logging.INFO, "draining", seconds=self._drain_seconds)
                    self._drain_until = time.monotonic() + self._drain_seconds
                    self._scheduler.step(Drain())
                    self._send_released()
        return False

    def _drained(self) -> bool:
        until = self._drain_until
        if until is None or self._scheduler.waiting:
            return until == 0.0  # accepted requests are answered, unless there is no time left
        return time.monotonic() >= until or (self._kernel.drained and not self._gate.holding)

    def _reread(self) -> None:
        if self._reload is None:
            say(logging.WARNING, "nothing to reload: the broker was started without a configuration file")
            return
        try:
            limits, access = self._reload()
        except Exception as error:  # whatever is wrong with the file, the broker keeps its configuration
            say(logging.ERROR, "not reloaded", reason=str(error))
            self._note(Audit("", 0, "reload", "configuration", {}, REFUSED))
            return
        if self._router.authenticator.allowed is not None:
            self._router.authenticator.allowed = access.users
        self._scheduler.submit(Reconfigure(limits, access))
        self._note(reconfigured(self._rules, (limits, access)))
        self._rules = limits, access
        say(logging.INFO, "reloaded", keys=len(access.users))

    def _note(self, audit: Audit) -> None:
        if self._audit_log is not None:
            self._audit_log.write((audit,), wall_clock())

    def _around(self) -> dict[str, dict[str, Any]]:
        authenticator, durations = self._router.authenticator, self._scheduler.durations
        loop: dict[str, Any] = {
            "uptime_seconds": int(time.monotonic() - self._started),
            "keys_denied": authenticator.denied,
            "connections_postponed": authenticator.postponed,
            "silent_connections_ended": self._router.connections.ended,
            **self._scheduler.statistics(),
            **self._questions.statistics(),
            **durations.statistics(),
        }
        journal = self._gate.statistics()
        return {"loop": loop, BUCKETS: durations.buckets(), **({"journal": journal} if journal else {})}

    # ---- messages ----

    def _send_released(self) -> None:
        traces = self._traces
        if traces is not None:
            traces.stored(self._gate.safe)
        for session in self._sender.send_all(self._gate.released()):
            self._lose(session)
        if traces is not None:
            traces.sent()

    def _serves(self, session: bytes) -> bool:
        return bool(self._kernel.owner(session))

    def _lose(self, session: bytes) -> None:
        user = self._kernel.owner(session)
        if self._scheduler.leave(session) and user:
            say(logging.INFO, "session lost", session=session.hex(), user=user)
        self._router.forget(session)

    def _flush(self) -> int:
        """Close every session and send queued messages, within FLUSH_SECONDS_MAX; libzmq's linger time in ms."""
        deadline = time.monotonic() + FLUSH_SECONDS_MAX
        at_once = self._drain_until == 0.0
        failed = self._gate.failed is not None
        self._scheduler.step(Stop("the broker failed and is stopping" if failed else "the broker is stopping"))
        self._send_released()
        self._complaints.report()
        while self._router.waiting and time.monotonic() < deadline:
            if at_once or LoopRequest.STOP in self._wakeup.take():
                return 0
            self._router.retry()
            time.sleep(RETRY_SECONDS)
        return max(1, int((deadline - time.monotonic()) * 1_000))
