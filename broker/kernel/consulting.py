"""Answers questions of the console about what a user may see, in portions. They change nothing and concern no session.

Each call is bounded by its page, except `names`: O(subscriptions), which is a millisecond for 100,000 where users need
no permission. Not here: the requests of clients (read_requests, administration).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, Final, final

from ..events import StreamDefinition, Unsupported
from ..language.subscription import SubscriptionDefinition
from .administration import Administration
from .admission import Admission
from .answers import bounded_count, stream_entry
from .attachments import Attachments
from .cursor_requests import CursorRequests
from .distribution import COUNTED
from .engine_port import EnginePort
from .held_back import HeldBack
from .intake import Intake
from .named_counts import OTHER, NamedCounts
from .permissions import VERBS, User

_RESULTS: Final = COUNTED.index("results")
USERS_MAX: Final = 500
CURSORS_MAX: Final = 200
RUNS_COUNTED_MAX: Final = 1_000


@final
class Consulting:
    """The questions, each with the user who asks. They raise PermissionDenied, UnknownStream, UnknownSubscription."""

    def __init__(
        self,
        engine: EnginePort,
        admission: Admission,
        attachments: Attachments,
        administration: Administration,
        intake: Intake,
        counts: NamedCounts,
        cursor_requests: CursorRequests,
        held_back: HeldBack,
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._attachments = attachments
        self._administration = administration
        self._intake = intake
        self._counts = counts
        self._cursor_requests = cursor_requests
        self._held_back = held_back

    def user(self, name: str) -> User | None:
        """The user of that name, as the rules are now."""
        return self._admission.user(name)

    def identity(self, name: str) -> str | None:
        """A key by which requests of this user come; empty without keys; None: there is no such user."""
        return self._admission.identity(name)

    def users(self, user: User) -> list[dict[str, Any]]:
        """What each user may do and has in use, at most USERS_MAX; for who is no administrator, that user alone."""
        known = self._admission.everybody()
        return [
            {
                "name": each.name,
                "admin": each.admin,
                "grants": {verb: list(getattr(each, verb)) for verb in VERBS},
                "quota": asdict(each.quota),
                "used": None
                if account is None
                else {name: getattr(account, name) for name in ("connections", "subscriptions", "states")},
            }
            for each, account in islice(known, USERS_MAX)
            if user.admin or each.name == user.name
        ]

    def cursors(self, user: User) -> list[dict[str, Any]]:
        """The cursors that a user may see, by name, at most CURSORS_MAX."""
        return [{"name": name, **each} for name, each in islice(self._cursor_requests.entries(user), CURSORS_MAX)]

    def streams(self, user: User) -> list[dict[str, Any]]:
        """The streams that a user may see, sorted by name; `held_back`: what is said of one that others wait for."""
        visible, held = self._admission.visible(user, self._engine.streams), self._held_back.in_words()
        entries = [stream_entry(visible[name]) for name in sorted(visible)]
        return [
            {
                "name": e.name,
                "attributes": dict(e.attributes),
                "key": e.key,
                "disorder": e.disorder,
                "refused": self._intake.noting.refused.count(e.name),
                "may_publish": user.may("publish", e.name),
                "held_back": held.get(e.name),
            }
            for e in entries
        ]

    def definitions_of_streams(self, user: User) -> list[StreamDefinition]:
        """The same streams as they were declared."""
        return list(self._admission.visible(user, self._engine.streams).values())

    def readable(self, user: User) -> list[StreamDefinition]:
        """The streams whose events a user may read, sorted by name."""
        visible = self._admission.visible(user, self._engine.streams)
        return [visible[name] for name in sorted(visible) if user.may("read", name)]

    def readable_stream(self, user: User, name: str) -> StreamDefinition:
        """A stream whose events a user may read."""
        streams = self._engine.streams
        self._admission.check_known(user, name, streams)
        user.check("read", name)
        return streams[name]

    def events(self, user: User, stream: str, count: int) -> dict[str, dict[str, Any]]:
        """The last events of a stream by id, the oldest first."""
        names = self.readable_stream(user, stream).schema.names
        return self._intake.recent.last(stream, names, count)

    def refused(self, user: User, stream: str) -> list[Mapping[str, Any]]:
        """The last refused events of a stream, the newest first."""
        self._admission.check_known(user, stream, self._engine.streams)
        user.check("read", stream)
        return self._intake.noting.refused.of(stream)

    def schema(self, user: User, stream: str) -> StreamDefinition:
        """A stream as it was declared."""
        self._admission.check_known(user, stream, self._engine.streams)
        return self._engine.streams[stream]

    def changes(self, user: User, name: str) -> dict[str, Any]:
        """The last changes of a subscription, the newest first, and the updates of its arcs."""
        self.definition(user, name)
        return {"changes": self._intake.noting.changed.of(name), "updates": self._updates(name)}

    def condition(self, name: str) -> dict[str, Any] | None:
        """What a request may change of a subscription; None if it is not there. Not for users: nothing is checked."""
        definition = self._engine.subscriptions.get(name)
        if definition is None:
            return None
        try:
            runs: int | None = len(self._engine.partial_matches(name, RUNS_COUNTED_MAX))
        except Unsupported:
            runs = None
        return {
            "language": definition.language,
            "query": definition.query,
            "states": self._admission.states(name),
            "runs": runs,
            "updates": self._updates(name),
            "clients": len(self._attachments.of(name)),
        }

    def _updates(self, name: str) -> list[list[Any]]:
        return [[list(each[0]), list(each[1]), each[2], each[3]] for each in self._engine.updates(name)]

    def counted(self, identity: str) -> dict[str, int]:
        """The numbers of results by subscription that the user of a key may see, and those of `other`."""
        user = self._admission.by_identity(identity)
        known = self._counts.statistics(self._engine.subscriptions)
        return {
            name: bounded_count(row["results"])
            for name, row in known.items()
            if user is not None and (name == OTHER or self._admission.sees(user, name))
        }

    def names(self, user: User) -> list[str]:
        """The names of the subscriptions that a user may see, in no order."""
        admission, known = self._admission, self._engine.subscriptions
        return list(known) if admission.everything(user) else [name for name in known if admission.sees(user, name)]

    def languages(self, user: User, names: Sequence[str]) -> list[str]:
        """The language of each of these; "" for one that is gone, or that the user may not see. O(names)."""
        found, admission = self._engine.languages(names), self._admission
        if admission.everything(user):
            return found
        known = self._engine.subscriptions
        seen = [name in known and admission.sees(user, name) for name in names]
        return [language if shown else "" for language, shown in zip(found, seen, strict=True)]

    def subscriptions(self, user: User, names: Sequence[str]) -> list[dict[str, Any]]:
        """What there is to say of each of these, without those that are gone. O(names)."""
        known = self._engine.subscriptions
        return [self._entry(known[name]) for name in names if name in known and self._admission.sees(user, name)]

    def entry(self, name: str) -> dict[str, Any]:
        """The same of one that exists."""
        return self._entry(self._engine.subscriptions[name])

    def definition(self, user: User, name: str) -> SubscriptionDefinition:
        """A subscription."""
        if not (user.admin and name in self._engine.subscriptions):
            self._admission.check_existing(user, name, self._engine.subscriptions)
        return self._engine.subscriptions[name]

    def definitions(self, user: User, names: Sequence[str]) -> list[SubscriptionDefinition]:
        """These subscriptions, without those that are gone or that the user may not see. O(names)."""
        known = self._engine.subscriptions
        return [known[name] for name in names if name in known and self._admission.sees(user, name)]

    def sessions(self, user: User, now: int) -> list[dict[str, Any]]:
        """The sessions, the oldest first, at most 200. Raises PermissionDenied if the user is no administrator."""
        return self._administration.sessions(user, now)

    def _entry(self, definition: SubscriptionDefinition) -> dict[str, Any]:
        deliveries = self._attachments.of(definition.name).values()
        counts = self._counts.known(definition.name)
        return {
            "name": definition.name,
            "language": definition.language,
            "query": definition.query,
            "clients": len(deliveries),
            "queued": bounded_count(sum([delivery.waiting for delivery in deliveries])),
            "results": bounded_count(counts[_RESULTS]) if counts is not None else 0 if self._counts.room else None,
        }
