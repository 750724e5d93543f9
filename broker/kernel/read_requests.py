"""Carries out requests that change nothing: listings, descriptions, probabilities."""

from __future__ import annotations

from functools import partial
from typing import final

from ..wire import AskProbability, DescribeStream, ListStreams, ListSubscriptions, ProbabilityReport, Streams
from .admission import Admission
from .answers import stream_entry, streams_page, subscriptions_page
from .attachments import Attachments
from .engine_port import EnginePort
from .inputs_and_effects import Send
from .requests import Requests
from .sessions import Session
from .subscribing import Subscribing


@final
class ReadRequests:
    """The handlers. Each user sees only what its permissions allow."""

    __slots__ = ("_admission", "_attachments", "_engine", "_subscribing")

    def __init__(
        self, engine: EnginePort, admission: Admission, attachments: Attachments, subscribing: Subscribing
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._attachments = attachments
        self._subscribing = subscribing

    def requests(self) -> Requests:
        """The requests of this topic."""
        return {
            AskProbability: self._probability,
            DescribeStream: self._stream,
            ListStreams: self._streams,
            ListSubscriptions: self._subscriptions,
        }

    def _probability(self, key: bytes, session: Session, request: AskProbability, now: int) -> list[Send]:
        self._admission.check_existing(session.account.user, request.name, self._engine.subscriptions)
        found = self._engine.probability(request.name, request.key, request.within)
        return [Send(key, ProbabilityReport(request.correlation, found.line()))]

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
