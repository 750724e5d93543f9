"""What operators are told of the last refused events and of the last changes: the notes of a running broker.

Refused events are noted under their stream with reason and place, changes under their subscription with their texts.
Who may read a stream may see the values of its refused events, who may see a subscription its changes. Not here: counts
(intake), the log of who changed what, which has no texts (auditing).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, final

from ..events import ForetellError, StreamDefinition
from ..language.subscription import SubscriptionDefinition
from ..wire import Administer, Message, Publish, Refusal, Subscribe, Unsubscribe, Update
from ..wire.administration_messages import DELETE_SUBSCRIPTION, REPLACE_SUBSCRIPTION
from .auditing import DONE
from .inputs_and_effects import Audit
from .recent_notes import NOTES_OF_A_NAME_MAX, RecentNotes

VALUES_NOTED_MAX: Final = 16
"""Values of a refused event that are noted, the first ones."""
_VALUE_CHARACTERS: Final = 100
_OTHER_FAULTS: Final = frozenset(("permission", "busy", "expired", "unknown-stream"))
"""Codes of refusals that are not for what is in the batch."""


@final
class Noting:
    """The notes. `refused` by stream, `changed` by subscription."""

    __slots__ = ("changed", "refused")

    def __init__(self) -> None:
        self.refused: Final = RecentNotes()
        self.changed: Final = RecentNotes()

    def refused_batch(
        self, user: str, batch: Publish, streams: Mapping[str, StreamDefinition], error: ForetellError, now: int
    ) -> None:
        """Note that all of a batch was refused, for what is in it."""
        if batch.stream in streams and error.code not in _OTHER_FAULTS:
            noted = {"time": now, "user": user, "code": error.code, "reason": str(error), "events": len(batch.rows)}
            self.refused.add(batch.stream, noted)

    def refused_events(self, stream: StreamDefinition, batch: Publish, refused: Sequence[Refusal], now: int) -> None:
        """Note the last events that were refused alone, of an answered batch."""
        for each in refused[-NOTES_OF_A_NAME_MAX:]:
            values = list(zip_longest(stream.schema.names, batch.rows[each.index]))[:VALUES_NOTED_MAX]
            data = {name: _short(value) for name, value in values}
            time = None if batch.times is None else batch.times[each.index]
            noted = {"time": now, "code": each.code, "reason": each.reason, "event_time": time, "data": data}
            self.refused.add(stream.name, {**noted, "events": 1, "index": each.index})

    def changes(
        self, message: Message, before: SubscriptionDefinition | None, audits: Sequence[Audit], now: int
    ) -> None:
        """Note what a request has changed of subscriptions. `before`: the subscription that it names, as it was."""
        texts = _texts(message, before)
        if texts is not None:
            for each in audits:
                if each.outcome == DONE:
                    noted = {"time": now, "user": each.user, "action": each.action, **each.details, **texts}
                    self.changed.add(each.name, noted)

    def check_invariants(self) -> None:
        """For tests."""
        self.refused.check_invariants()
        self.changed.check_invariants()


def named(message: Message) -> str:
    """The subscription that a request names which may replace its text; empty if there is none."""
    return message.name if isinstance(message, Administer) else ""


def _texts(message: Message, before: SubscriptionDefinition | None) -> dict[str, Any] | None:
    """The texts that a change brings and replaces; None for a change of something else."""
    match message:
        case Subscribe(query=str()):
            return {"text": message.query}
        case Unsubscribe():
            return {}
        case Update():
            arcs = {"insert": "\n".join(message.insert), "delete": ", ".join(message.delete)}
            return {**arcs, "start": message.start, "end": message.end}
        case Administer(action=action) if action == DELETE_SUBSCRIPTION:
            return {} if before is None else {"before": before.query}
        case Administer(action=action) if action == REPLACE_SUBSCRIPTION:
            texts = {"text": message.details.get("query")}
            return texts if before is None else {**texts, "before": before.query}
        case _:
            return None


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _VALUE_CHARACTERS:
        return value[: _VALUE_CHARACTERS - 1] + "…"
    return value if value is None or isinstance(value, str | int | float | bool) else type(value).__name__
