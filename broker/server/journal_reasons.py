"""Answers questions for reasons from the journal, in a forked copy of the process, so that the loop does not wait.

The loop pays for the fork, as for that of a checkpoint; the copy reads the journal's files and runs the events again,
at a lower priority. One question is in work at a time, and others wait; a copy that works too long is ended. Not here:
the reasons (broker.engine.reasons), who may ask (kernel.read_requests), which events are concerned (journal_history).
"""

from __future__ import annotations

import gc
import json
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final, final

from ..engine import Engine
from ..engine.reasons import Why, WhyNot
from ..engine.reasons.named_events import values_of
from ..events import DefinitionError, ForetellError, LimitExceeded, UnknownSubscription, Unsupported
from ..kernel import ReasonsWanted, Send
from ..kernel.answers import failure
from ..storage import Journal
from ..wire import Busy, Failure, Reasons
from . import forking
from .journal_history import JournalHistory, SubscriptionHistory
from .worker import Hands

REASONS_SECONDS_MAX: Final = 30
"""How long one question may take, on the clock: on a busy machine a process of low priority gets little of it."""
REASONS_WAITING_MAX: Final = 16
"""Questions that wait, of all clients together; further ones are refused as busy."""
REASONS_BYTES_MAX: Final = 512 * 1024
"""One answer as JSON."""
RETRY_MICROSECONDS: Final = 1_000_000


@final
class JournalReasons:
    """The questions that wait, and the one in work. Not thread-safe."""

    __slots__ = ("_answering", "_engine", "_hands", "_journal", "_make_hands", "_waiting")

    def __init__(self, journal: Journal, engine: Engine, make_hands: Callable[[], Hands]) -> None:
        """`make_hands`: makes the thread that waits for copies, when the first question comes."""
        self._journal: Final = journal
        self._engine: Final = engine
        self._make_hands: Final = make_hands
        self._hands: Hands | None = None
        self._waiting: deque[ReasonsWanted] = deque()
        self._answering: _Answering | None = None

    def ask(self, wanted: ReasonsWanted) -> Send | None:
        """Queue a question. Returns a refusal if there is no room or no way to answer it."""
        error: ForetellError | None = None
        if not forking.possible():
            error = Unsupported("reasons of a running broker need a system that can fork a process")
        elif len(self._waiting) >= REASONS_WAITING_MAX:
            text = f"REASONS_WAITING_MAX: {REASONS_WAITING_MAX} questions for reasons wait for their answers"
            error = Busy(text, RETRY_MICROSECONDS)
        if error is not None:
            return Send(wanted.session, failure(wanted.request.correlation, error))
        self._waiting.append(wanted)
        return None

    def advance(self) -> list[Send]:
        """The answer to the question in work, if it is there; the next one is begun. Raises StorageFailed."""
        found: list[Send] = []
        if self._answering is not None and self._answering.answer is not None:
            found += _told(self._answering.wanted, self._answering.answer)
            self._answering = None
        while self._answering is None and self._waiting:
            wanted = self._waiting.popleft()
            refused = self._begin(wanted)
            found += [] if refused is None else _told(wanted, refused)
        return found

    def _begin(self, wanted: ReasonsWanted) -> Send | None:
        journal, engine = self._journal, self._engine
        journal.write()  # what the copy reads
        try:
            copy = forking.Forked(lambda: _answered(journal, engine, wanted), REASONS_SECONDS_MAX)
        except OSError as error:
            reason = f"no process for reasons: {error.strerror or error}"
            return Send(wanted.session, failure(wanted.request.correlation, Busy(reason, RETRY_MICROSECONDS)))
        if self._hands is None:
            self._hands = self._make_hands()
        self._answering = _Answering(copy, wanted)
        self._hands.give(self._answering)
        return None

    def close(self) -> None:
        """End the copy in work without an answer, and the thread."""
        self._waiting.clear()
        if self._answering is not None:
            self._answering.copy.discard()
        if self._hands is not None:
            self._hands.close()
            self._hands = None


def _told(wanted: ReasonsWanted, answer: Send) -> list[Send]:
    """What there is to send: nothing if somebody else than a session is told."""
    if wanted.tell is None:
        return [answer]
    wanted.tell(answer.message)
    return []


@final
class _Answering:
    """Waits for a copy, and makes the answer of what it has found."""

    __slots__ = ("answer", "copy", "wanted")

    def __init__(self, copy: forking.Forked, wanted: ReasonsWanted) -> None:
        self.copy: Final = copy
        self.wanted: Final = wanted
        self.answer: Send | None = None

    def run(self) -> None:
        correlation = self.wanted.request.correlation
        try:
            with self.copy.result() as file:
                found = json.loads(file.readall())
        except forking.CopyLate:
            error = LimitExceeded(
                f"REASONS_SECONDS_MAX: looking for reasons took longer than {REASONS_SECONDS_MAX:,} s; with the name "
                "of a subscription or a key it takes less"
            )
            self.answer = Send(self.wanted.session, failure(correlation, error))
        except (forking.CopyFailed, OSError, ValueError) as error:
            self.answer = Send(self.wanted.session, Failure(correlation, "internal", f"no reasons were found: {error}"))
        else:
            refused = found.get("refused")
            message = Reasons(correlation, _plain(found)) if refused is None else Failure(correlation, *refused)
            self.answer = Send(self.wanted.session, message)


# ---- within the copy ----


def _answered(journal: Journal, engine: Engine, wanted: ReasonsWanted) -> Iterator[bytes]:
    gc.freeze()  # what the parent has is not visited
    gc.enable()
    try:
        text = json.dumps(reasons_of(journal, engine, wanted)).encode()
        if len(text) > REASONS_BYTES_MAX:
            raise LimitExceeded(
                f"REASONS_BYTES_MAX: these reasons have {len(text):,} bytes, expected at most {REASONS_BYTES_MAX:,}"
            )
    except ForetellError as error:
        text = json.dumps({"refused": [error.code, str(error)]}).encode()
    yield text


def reasons_of(journal: Journal, engine: Engine, wanted: ReasonsWanted) -> dict[str, Any]:
    """The reasons as one JSON object, with the events that were looked at. O(events, times the runs at each)."""
    request = wanted.request
    names = [name for name in wanted.subscriptions if name in engine.subscriptions]
    if request.subscription is not None and not names:
        raise UnknownSubscription(f"subscription {request.subscription!r} is not known")
    history = JournalHistory(journal, engine, names)
    for name in names:
        part = history.of(name)
        if request.match is None:
            key = None if not request.key else list(request.key)
            return _line(engine.why_not(name, part.inputs, key, request.events, request.time), part, engine, wanted)
        try:
            return _line(engine.why(request.match, part.inputs, name), part, engine, wanted)
        except DefinitionError:
            continue  # it is none of this subscription
    looked = f"; {history.missing}" if history.missing else ""
    raise DefinitionError(f"expected the id of a match of the events in the journal, found {request.match!r}{looked}")


def _line(reasons: Why | WhyNot, part: SubscriptionHistory, engine: Engine, wanted: ReasonsWanted) -> dict[str, Any]:
    found = reasons.line()
    values = {} if wanted.tell is None else {"values": values_of(found, engine.streams, part.inputs)}
    return {**found, **values, "events": part.line()}


def _plain(value: Any) -> Any:
    """JSON's lists as the wire has them."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return tuple([_plain(each) for each in value]) if isinstance(value, list) else value
