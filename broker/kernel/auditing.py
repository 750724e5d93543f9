"""What is noted of requests that change something others can see: who asked for what, and what came of it.

Here: which requests these are, and which of their fields are shown. Texts of queries, values of events and reasons of
refusals, which may quote them, are never shown. Not here: where it is written (broker.server.audit_log).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ..events import UnknownSubscription
from ..wire import (
    AddStream,
    Administer,
    Failure,
    Forget,
    Message,
    ResetTime,
    Settle,
    Subscribe,
    SubscribedMany,
    SubscribeMany,
    Unsubscribe,
    Update,
)
from .inputs_and_effects import Audit, Send
from .sessions import Session

_Shown: TypeAlias = tuple[str, str, dict[str, Any]]
SHOWN_DETAILS: Final = ("attribute", "type", "language", "keep_runs")
DONE: Final = "done"
REFUSED: Final = "refused"

_SHOWN: Final[Mapping[type[Any], Callable[[Any], _Shown]]] = {
    AddStream: lambda request: ("declare-stream", request.name, {}),
    ResetTime: lambda request: ("reset-time", request.stream, {}),
    Subscribe: lambda request: ("subscribe", request.name, _subscribed(request.language, request.durable)),
    Unsubscribe: lambda request: ("unsubscribe", request.name, {}),
    Update: lambda request: (
        "update", request.name, {"inserted": len(request.insert), "deleted": len(request.delete)},
    ),
    Forget: lambda request: ("forget-cursor", request.cursor, {}),
    Settle: lambda request: (
        "requeue" if request.again else "discard", request.cursor, {"results": len(request.positions)},
    ),
    Administer: lambda request: (request.action, request.name, _administered(request)),
}  # fmt: skip


def _subscribed(language: str, durable: str | None) -> dict[str, Any]:
    return {"language": language} if durable is None else {"language": language, "cursor": durable}


def _administered(request: Administer) -> dict[str, Any]:
    details = {name: request.details[name] for name in SHOWN_DETAILS if name in request.details}
    return details if request.position is None else {**details, "position": request.position}


def is_audited(message: Message) -> bool:
    """Whether a request changes something that others can see."""
    return type(message) in _SHOWN or type(message) is SubscribeMany


def audits_of(key: bytes, session: Session, message: Message, sends: Sequence[Send], changed: bool) -> Iterator[Audit]:
    """What is noted of a request of the session with this key, and of its answer, which is among `sends`. `changed`: it
    has changed the state; a request that found everything as it wants it is not noted. O(subscriptions wanted)."""
    user, number = session.account.user.name, session.number
    own = (each.message for each in sends if each.session == key)
    answer = next((each for each in own if each.correlation == message.correlation), None)
    if isinstance(message, SubscribeMany) and isinstance(answer, SubscribedMany):
        for wanted, outcome in zip(message.wanted, answer.outcomes):
            if outcome.code is not None or not outcome.attached:
                details = {"language": wanted.language}
                result = DONE if outcome.code is None else REFUSED
                yield Audit(user, number, "subscribe", wanted.name, details, result, outcome.code)
        return
    if isinstance(message, SubscribeMany):
        action, name, shown = "subscribe", "", {"subscriptions": len(message.wanted)}
    else:
        action, name, shown = _SHOWN[type(message)](message)
    operator = isinstance(message, Administer)
    if isinstance(answer, Failure) and isinstance(message, Unsubscribe) and answer.code == UnknownSubscription.code:
        return  # as clients ask behind a refused request to subscribe, so that nothing is left of it
    if isinstance(answer, Failure):
        yield Audit(user, number, action, name, shown, REFUSED, answer.code, operator)
    elif changed or operator:
        yield Audit(user, number, action, name, shown, DONE, None, operator)
