"""Many subscriptions in few requests: the calls of `subscribe_many` of both clients.

Here: dividing a list into requests, and what became of each. Not here: a single subscription (calls).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from broker.language.subscription import SubscriptionDefinition
from broker.wire import Failure, Subscribe, Subscribed, SubscribedMany, SubscribeMany, SubscriptionRequest, WhenSlow
from broker.wire.limits import SUBSCRIPTIONS_AT_ONCE_MAX

from .calls import Call, Calls, expected
from .errors import ForetellError, ProtocolError, remote_error
from .session import Session

QUERIES_AT_ONCE_CHARACTERS: Final = 128 * 1024
"""A request ends with the query that reaches this size, so that it fits a frame."""


def prepared(
    calls: Calls,
    session: Session,
    definitions: Iterable[SubscriptionDefinition],
    window: int,
    when_slow: WhenSlow | None,
) -> list[Subscribe]:
    """Check the options of each, open the inboxes, and return the requests. Raises DefinitionError; then none is
    open."""
    found: list[Subscribe] = []
    try:
        for d in definitions:
            found.append(
                calls.prepare(
                    d.name, d.language, d.query, d.lineage, d.report, d.forecast, window, when_slow=when_slow
                )
            )
    except BaseException:
        for request in found:
            session.close_inbox(request.name)
        raise
    return found


def subscribe_many(session: Session, requests: Sequence[Subscribe]) -> Call[list[Subscribed | ForetellError]]:
    """Send prepared requests; what became of each. The inboxes of those that the broker refuses are closed."""
    found: list[Subscribed | ForetellError] = []
    for part in _parts(requests):
        wanted = [SubscriptionRequest(r.name, r.language, r.query, r.lineage, r.report, r.forecast) for r in part]
        first = part[0]
        ask = partial(SubscribeMany, wanted=tuple(wanted), credits=first.credits, when_slow=first.when_slow)
        answer = expected((yield session.request(ask)), SubscribedMany)
        if [each.name for each in answer.outcomes] != [request.name for request in part]:
            raise ProtocolError("expected an outcome for each subscription that was asked for, found others")
        for request, each in zip(part, answer.outcomes):
            if each.code is None:
                session.inboxes[request.name].request = request
                found.append(Subscribed(0, each.name, each.attached))
            else:
                session.close_inbox(request.name)
                failure = Failure(0, each.code, each.message, each.line, each.column, each.excerpt, each.retry)
                found.append(remote_error(failure))
    return found


def _parts(requests: Sequence[Subscribe]) -> Iterator[Sequence[Subscribe]]:
    """The requests, divided into messages."""
    begin = size = 0
    for at, request in enumerate(requests):
        size += len(request.query or "")
        if at + 1 - begin == SUBSCRIPTIONS_AT_ONCE_MAX or size >= QUERIES_AT_ONCE_CHARACTERS:
            yield requests[begin : at + 1]
            begin, size = at + 1, 0
    if begin < len(requests):
        yield requests[begin:]
