"""Many subscriptions in one request: how they are divided into messages, and what became of each.

Here: that. Not here: the call that sends the messages (calls), the options of one subscription (calls.prepare).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from broker.language.subscription import SubscriptionDefinition
from broker.wire import Failure, Message, Subscribe, Subscribed, SubscribeMany, SubscriptionOutcome, SubscriptionRequest
from broker.wire.limits import SUBSCRIPTIONS_AT_ONCE_MAX

from .errors import DefinitionError, ForetellError, remote_error
from .session import Session

QUERIES_AT_ONCE_CHARACTERS: Final = 128 * 1024
"""A request for several subscriptions ends with the query that reaches this size: so it fits a frame."""


def subscribed_already(name: str) -> DefinitionError:
    """Why a client may not subscribe to a name again."""
    return DefinitionError(f"subscription {name!r}: this client has subscribed to it already")


def prepared(
    prepare: Callable[..., Subscribe], session: Session, definitions: Iterable[SubscriptionDefinition]
) -> list[Subscribe | ForetellError]:
    """The request for each, its inbox open, or why there is none: its name is one that the client or this list has.
    Raises DefinitionError for what concerns all; then none is open."""
    found: dict[str, Subscribe] = {}
    each: list[Subscribe | ForetellError] = []
    try:
        for d in definitions:
            if d.name in found:
                each.append(DefinitionError(f"subscription {d.name!r}: this list has another of that name before it"))
                continue
            if session.has_inbox(d.name):
                each.append(subscribed_already(d.name))
                continue
            forecast = None if d.forecast is None else dict(d.forecast)
            found[d.name] = prepare(d.name, d.language, d.query, d.lineage, d.report, forecast, results=d.results)
            each.append(found[d.name])
    except BaseException:
        for name in found:
            session.close_inbox(name)
        raise
    return each


def divided(requests: Sequence[Subscribe]) -> Iterator[Sequence[Subscribe]]:
    """The requests, divided into messages. Linear in the requests."""
    begin = size = 0
    for at, request in enumerate(requests):
        size += len(request.query or "")
        if at + 1 - begin == SUBSCRIPTIONS_AT_ONCE_MAX or size >= QUERIES_AT_ONCE_CHARACTERS:
            yield requests[begin : at + 1]
            begin, size = at + 1, 0
    if begin < len(requests):
        yield requests[begin:]


def message(part: Sequence[Subscribe]) -> Callable[[int], Message]:
    """One message for some requests, which have a window and what happens to a slow client in common."""
    wanted = tuple(
        [SubscriptionRequest(r.name, r.language, r.query, r.lineage, r.report, r.forecast, r.results) for r in part]
    )
    return partial(SubscribeMany, wanted=wanted, credits=part[0].credits, when_slow=part[0].when_slow)


def outcome(each: SubscriptionOutcome) -> Subscribed | ForetellError:
    """What became of one: the answer that it would have had alone, or the error."""
    if each.code is None:
        return Subscribed(0, each.name, each.attached, warnings=each.warnings)
    return remote_error(Failure(0, each.code, each.message, each.line, each.column, each.excerpt, each.retry))
