"""Law: requests that only look at what there is, and change nothing."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias, final

from ..wire import (
    AskProbability,
    DescribeStream,
    ListStreams,
    ListSubscriptions,
    Message,
    ProbabilityReport,
    Streams,
)
from .admission import Admission
from .attachments import Attachments
from .listing import stream_entry, streams_page, subscriptions_page
from .matcher import Matcher
from .permissions import User
from .subscribing import Subscribing

ReadRequest: TypeAlias = AskProbability | DescribeStream | ListStreams | ListSubscriptions


@final
class Reading:
    """Each user is shown what it may see."""

    __slots__ = ("_admission", "_attachments", "_matcher", "_subscribing")

    def __init__(
        self, matcher: Matcher, admission: Admission, attachments: Attachments, subscribing: Subscribing
    ) -> None:
        self._matcher = matcher
        self._admission = admission
        self._attachments = attachments
        self._subscribing = subscribing

    def answer(self, user: User, request: ReadRequest) -> Message:
        """Raises ForetellErrors."""
        admission, streams = self._admission, self._matcher.streams
        match request:
            case AskProbability(correlation, name, key, within):
                admission.check_asked(user, name, self._matcher.subscriptions)
                return ProbabilityReport(correlation, self._matcher.probability(name, key, within).line())
            case DescribeStream(correlation, name):
                admission.check_known(user, name, streams)
                return Streams(correlation, (stream_entry(streams[name]),), False)
            case ListStreams():
                return streams_page(admission.visible(user, streams), request)
            case ListSubscriptions():
                entries = (each for each in self._attachments.entries() if admission.sees(user, each[0].name))
                return subscriptions_page(entries, partial(self._subscribing.cursors.kept, user), request)
