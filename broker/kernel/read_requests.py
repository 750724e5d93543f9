"""Carries out requests that change nothing: listings, descriptions, probabilities, and questions for reasons."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import Final, final

from ..events import DefinitionError, Unsupported
from ..wire import (
    AskProbability,
    AskReasons,
    DescribeStream,
    ListStreams,
    ListSubscriptions,
    ProbabilityReport,
    Streams,
)
from .admission import Admission
from .answers import stream_entry, streams_page, subscriptions_page
from .attachments import Attachments
from .engine_port import EnginePort
from .inputs_and_effects import ReasonsWanted, Send
from .requests import Requests
from .sessions import Session
from .subscribing import Subscribing

REASONS_SUBSCRIPTIONS_MAX: Final = 100
"""Subscriptions among whose matches an id is looked for, if the question names none."""


@final
class ReadRequests:
    """The handlers. Each user sees only what its permissions allow."""

    __slots__ = ("_admission", "_attachments", "_engine", "_journalled", "_subscribing", "reasons")

    def __init__(
        self,
        engine: EnginePort,
        admission: Admission,
        attachments: Attachments,
        subscribing: Subscribing,
        journalled: bool,
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._attachments = attachments
        self._subscribing = subscribing
        self._journalled = journalled
        self.reasons: list[ReasonsWanted] = []  # which the caller empties

    def requests(self) -> Requests:
        """The requests of this topic."""
        return {
            AskProbability: self._probability,
            AskReasons: self._reasons,
            DescribeStream: self._stream,
            ListStreams: self._streams,
            ListSubscriptions: self._subscriptions,
        }

    def _probability(self, key: bytes, session: Session, request: AskProbability, now: int) -> list[Send]:
        self._admission.check_existing(session.account.user, request.name, self._engine.subscriptions)
        found = self._engine.probability(request.name, request.key, request.within)
        return [Send(key, ProbabilityReport(request.correlation, found.line()))]

    def _reasons(self, key: bytes, session: Session, request: AskReasons, now: int) -> list[Send]:
        """Whoever may read the results of a subscription may know their reasons."""
        if not self._journalled:
            raise Unsupported("reasons are found in the journal, and this broker has none")
        user, known = session.account.user, self._engine.subscriptions
        if request.subscription is not None:
            self._admission.check_existing(user, request.subscription, known)
            names = [request.subscription]
        elif request.match is None:
            raise DefinitionError("reasons: expected the id of a match or the name of a subscription, found neither")
        else:  # those of this session first
            own = [name for name in session.deliveries if name in known]
            others = (name for name in known if name not in session.deliveries and self._admission.sees(user, name))
            names = [*own, *islice(others, max(0, REASONS_SUBSCRIPTIONS_MAX - len(own)))]
        self.reasons.append(ReasonsWanted(key, tuple(names[:REASONS_SUBSCRIPTIONS_MAX]), request))
        return []

    def _stream(self, key: bytes, session: Session, request: DescribeStream, now: int) -> list[Send]:
        streams = self._engine.streams
        self._admission.check_known(session.account.user, request.name, streams)
        return [Send(key, Streams(request.correlation, (stream_entry(streams[request.name]),), False))]

    def _streams(self, key: bytes, session: Session, request: ListStreams, now: int) -> list[Send]:
        return [Send(key, streams_page(self._admission.visible(session.account.user, self._engine.streams), request))]

    def _subscriptions(self, key: bytes, session: Session, request: ListSubscriptions, now: int) -> list[Send]:
        user = session.account.user
        entries = (each for each in self._attachments.entries() if self._admission.sees(user, each[0].name))
        kept = partial(self._subscribing.cursor_requests.kept, user)
        return [Send(key, subscriptions_page(entries, kept, self._engine.updates, request))]
