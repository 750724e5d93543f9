"""Decides whether a session has the permission for a request. Not here: carrying the request out.

HELLO gives each session an account, by the identity that the transport has authenticated. A subscription needs
`subscribe` on its name, `read` on each stream that flows into it now or did earlier, directly or through other
subscriptions, and `publish` on the stream that it publishes. If other users read that stream already, they need `read`
on everything that the new subscription reads, or it is refused: another user's subscription must not give them values
that they may not read. This includes users who have a cursor, and clients that may come back after a crash.

An answer never reveals what a user may not see: a subscription that the user may not have looks like one that does not
exist, unless the user tries to create one of that name.

When the rules change, the broker ends each session that has something it may not have any more. The client may connect
again, and is then refused what is not permitted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, final

from ..events import StreamDefinition, UnknownStream, UnknownSubscription, suggestion
from ..language.subscription import SubscriptionDefinition
from ..wire import Busy, PermissionDenied, Subscribe
from .accounts import UserAccount
from .permissions import Access, User
from .sources import Flow, Flows, Sources

AWAITED_RETRY_MICROSECONDS: Final = 1_000_000
"""When to retry a subscription that would feed others whose clients may still come back after a restart."""


@final
class Admission:
    """Accounts by user, and the flows between streams. Without `flows` only quotas restrict users.

    `sources`: needed with `flows`; without `flows` they are kept up to date for a later start with permissions.
    """

    __slots__ = ("_access", "_accounts", "_flows", "_states", "sources")

    def __init__(
        self,
        access: Access,
        flows: Flows | None = None,
        states: Callable[[str], int] | None = None,
        sources: Sources | None = None,
    ) -> None:
        assert flows is None or sources is not None
        self._access = access
        self._accounts: dict[str, UserAccount] = {}  # by user's name
        self._states = states
        self._flows = flows
        self.sources = sources

    # ---- sessions ----

    def enter(self, identity: str) -> UserAccount:
        """The account of a session that begins. Raises PermissionDenied, LimitExceeded."""
        user = self._access.user(identity)
        if user is None:
            raise PermissionDenied("this broker knows no user with this key" if identity else "a key is needed here")
        account = self._accounts.setdefault(user.name, UserAccount(user)) if identity else UserAccount(user)
        account.connect()
        return account

    def leave(self, account: UserAccount) -> None:
        """Close the account of a session that has ended and was detached from everything."""
        account.disconnect()
        if not account.connections and self._accounts.get(account.user.name) is account and not account.paid_until:
            del self._accounts[account.user.name]

    def change(self, access: Access) -> None:
        """Apply other rules. The caller then checks every session with `may_stay`."""
        self._access = access

    def may_stay(self, identity: str, account: UserAccount, names: Iterable[str]) -> bool:
        """Whether the present rules allow a session these subscriptions. Its account takes over the rules."""
        user = self._access.user(identity)
        if user is None or user.name != account.user.name:
            return False
        account.user = user
        return all(self._may_have(user, name) for name in names)

    # ---- streams ----

    def check_known(self, user: User, name: str, streams: Mapping[str, StreamDefinition]) -> None:
        """Check that a stream exists and this user may see it. Raises PermissionDenied, UnknownStream."""
        if not user.knows(name):
            raise PermissionDenied(f"stream {name!r}: user {user.name!r} has no permission that concerns it")
        if name not in streams:
            raise UnknownStream(f"stream {name!r} is not known{suggestion(name, filter(user.knows, streams))}")

    def visible(self, user: User, streams: Mapping[str, StreamDefinition]) -> Mapping[str, StreamDefinition]:
        """The streams that this user may see."""
        if self._flows is None:
            return streams
        return {name: stream for name, stream in streams.items() if user.knows(name)}

    # ---- subscriptions ----

    def check_subscribe(
        self,
        account: UserAccount,
        request: Subscribe,
        existing: SubscriptionDefinition | None,
        streams: Mapping[str, StreamDefinition],
        names: Iterable[str],
    ) -> Flow | None:
        """Check a request to subscribe; returns the flow of a new subscription. `names`: those of all subscriptions.

        A refusal depends on the request alone, so it reads the same whether the subscription exists or not. Raises
        PermissionDenied, UnknownStream, UnknownSubscription, and the engine's error for a text that it cannot parse.
        """
        account.check_subscription()
        user, name = account.user, request.name
        user.check("subscribe", name)
        flows, sources = self._flows, self.sources
        if flows is None or sources is None or (existing is not None and self._may_have(user, name)):
            return None
        if request.query is None:
            hint = suggestion(name, [each for each in names if self.sees(user, each)])
            raise UnknownSubscription(f"subscription {name!r} is not known{hint}")
        flow = flows(SubscriptionDefinition(name, request.language, request.query, request.lineage))
        for stream in flow.reads:
            user.check("read", stream)
        self._check_all(user, name, sources.upstream(flow.reads))
        for stream in flow.reads:
            if stream not in streams and stream not in sources.published():
                known = [each for each in (*streams, *sources.published()) if user.may("read", each)]
                raise UnknownStream(f"subscription {name!r}: unknown stream {stream!r}{suggestion(stream, known)}")
        if flow.publishes is not None:
            user.check("publish", flow.publishes)
        if existing is not None:
            self._check_all(user, name, sources.into(name))
        return flow

    def check_existing(self, user: User, name: str, names: Collection[str]) -> None:
        """Check that this user may ask for the forecasts of a subscription, or change it, as if attached to it.

        `names`: those of all subscriptions. Raises PermissionDenied, UnknownSubscription.
        """
        user.check("subscribe", name)
        if name not in names or not self._may_have(user, name):
            hint = suggestion(name, [each for each in names if self.sees(user, each)])
            raise UnknownSubscription(f"subscription {name!r} is not known{hint}")

    def check_readers(
        self, flow: Flow, readers: Callable[[str], Iterable[User]], awaited: Callable[[str], bool]
    ) -> None:
        """Check that all readers of the stream that this flow publishes may read its inputs. O(subscriptions it feeds).

        `readers`: the users who are attached to a subscription or have a cursor of it. `awaited`: whether unknown
        clients may come back for a subscription after a restart. Raises PermissionDenied, Busy.
        """
        sources = self.sources
        if self._flows is None or sources is None or flow.publishes is None:
            return
        added = sources.upstream(flow.reads)
        for name in sources.downstream(flow.publishes):
            self._check_reading(f"stream {flow.publishes!r}", name, added, readers, awaited)

    def check_replacement(
        self,
        user: User,
        name: str,
        language: str,
        query: str,
        readers: Callable[[str], Iterable[User]],
        awaited: Callable[[str], bool],
    ) -> None:
        """Check another text of an existing subscription: an administrator gives it to all who have it, so that these
        need to read its streams, and the administrator to publish on a new one. Raises PermissionDenied, Busy, and the
        engine's error for a text that it cannot parse."""
        flows, sources = self._flows, self.sources
        if flows is None or sources is None:
            return
        flow = flows(SubscriptionDefinition(name, language, query))
        published = flow.publishes
        if published is not None and published != sources.of(name).publishes:
            user.check("publish", published)
        self._check_reading(f"subscription {name!r}", name, sources.upstream(flow.reads), readers, awaited)
        self.check_readers(flow, readers, awaited)

    def _check_reading(
        self,
        what: str,
        name: str,
        added: Iterable[str],
        readers: Callable[[str], Iterable[User]],
        awaited: Callable[[str], bool],
    ) -> None:
        """Check that all who have this subscription may read the streams that come to flow into it."""
        for user in readers(name):
            for stream in added:
                if self._may_have(user, name) and not user.may("read", stream):
                    raise PermissionDenied(f"{what}: a user who reads it has no permission to read {stream!r}")
        if awaited(name):
            for user in self._access.everybody():
                if self._may_have(user, name) and not all(user.may("read", stream) for stream in added):
                    raise Busy(
                        f"{what}: the broker has restarted and does not know its readers yet",
                        AWAITED_RETRY_MICROSECONDS,
                    )

    def check_values(self, user: User, name: str) -> None:
        """Check that this user may see the results of an existing subscription. Raises PermissionDenied."""
        if self._flows is not None and self.sources is not None:
            self._check_all(user, name, self.sources.into(name))

    def user(self, name: str) -> User | None:
        """The user of this name by the present rules; None if there is none."""
        return next((user for user in self._access.everybody() if user.name == name), None)

    def identity(self, name: str) -> str | None:
        """A key of the user of this name, empty for the one without; None if there is none."""
        access = self._access
        if access.anybody is not None and access.anybody.name == name:
            return ""
        return next((key for key, user in access.users.items() if user.name == name), None)

    def by_identity(self, identity: str) -> User | None:
        """The user of a key by the present rules; None if there is none."""
        return self._access.user(identity)

    def everybody(self) -> Iterable[tuple[User, UserAccount | None]]:
        """Each user with what it uses, if it is connected by a key."""
        return [(user, self._accounts.get(user.name)) for user in self._access.everybody()]

    def states(self, name: str) -> int:
        """How many states of a quota this subscription uses."""
        return 0 if self._states is None else self._states(name)

    def everything(self, user: User) -> bool:
        """Whether this user sees every subscription."""
        return user.admin or self._flows is None or self.sources is None

    def sees(self, user: User, name: str) -> bool:
        """Whether this user may see an existing subscription."""
        return user.admin or self._may_have(user, name)

    def _may_have(self, user: User, name: str) -> bool:
        if self._flows is None or self.sources is None:
            return True
        return user.may("subscribe", name) and all(user.may("read", each) for each in self.sources.into(name))

    def _check_all(self, user: User, name: str, streams: Iterable[str]) -> None:
        if not all(user.may("read", stream) for stream in streams):
            # Naming the stream would reveal what a stream that the user may read is derived from.
            raise PermissionDenied(
                f"subscription {name!r}: user {user.name!r} has no permission to read all that flows into it"
            )

    # ---- the whole ----

    def statistics(self) -> dict[str, Any]:
        """The number of users with accounts."""
        return {"users": len(self._accounts)}

    def check_invariants(self, sessions: Iterable[tuple[UserAccount, int]], known: Iterable[str]) -> None:
        """For tests; each session's account with the number of its attachments, and the names of all subscriptions."""
        used: dict[int, tuple[UserAccount, int, int]] = {}
        for account, attached in sessions:
            _, connections, subscriptions = used.get(id(account), (account, 0, 0))
            used[id(account)] = account, connections + 1, subscriptions + attached
        for account, connections, subscriptions in used.values():
            assert (account.connections, account.subscriptions) == (connections, subscriptions)
        for account in self._accounts.values():
            assert id(account) in used or not (account.connections or account.subscriptions or account.states)
        if self.sources is not None:
            self.sources.check_invariants(known)
