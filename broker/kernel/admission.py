"""Decides whether a session may have what it asks for. Other modules then carry the request out.

Every session has an account from HELLO on, by the identity that the transport vouches for. A subscription needs
`subscribe` on its name, `read` on each stream that flows into it or ever did, however far from it, and `publish` on the
stream that it publishes. Where others read that stream already, they need `read` on what it reads, or it is refused:
nobody comes to values that they may not read through what somebody else adds. A reader need not be there for that: it
has a cursor, or may come back for what it had before a crash.

A user is answered by what it may do, never by what there is beyond that: a subscription that it may not have is to it
as one that does not exist, unless it would make one of that name itself.

When the rules change, whoever may not have any more what they have is ended, as a whole: it may come again and is told
then what it may not.
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
"""When to ask again for what would feed subscriptions whose clients may still come back after a restart."""


@final
class Admission:
    """Accounts by user, and what flows where. Without `flows` nothing is restricted but by quotas.

    `sources`: needed with `flows`; without, they are only kept in step, for a later start with permissions.
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
        """The session has ended and holds nothing any more."""
        account.disconnect()
        if not account.connections and self._accounts.get(account.user.name) is account and not account.paid_until:
            del self._accounts[account.user.name]

    def change(self, access: Access) -> None:
        """Other rules from now on; each session that there is must be asked for with `may_stay`."""
        self._access = access

    def may_stay(self, identity: str, account: UserAccount, names: Iterable[str]) -> bool:
        """Whether a session may go on with these subscriptions by the rules of now, which its account then follows."""
        user = self._access.user(identity)
        if user is None or user.name != account.user.name:
            return False
        account.user = user
        return all(self._may_have(user, name) for name in names)

    # ---- streams ----

    def check_known(self, user: User, name: str, streams: Mapping[str, StreamDefinition]) -> None:
        """Whether a stream is there for this user. Raises PermissionDenied, UnknownStream."""
        if not user.knows(name):
            raise PermissionDenied(f"stream {name!r}: user {user.name!r} has no permission that concerns it")
        if name not in streams:
            raise UnknownStream(f"stream {name!r} is not known{suggestion(name, filter(user.knows, streams))}")

    def visible(self, user: User, streams: Mapping[str, StreamDefinition]) -> Mapping[str, StreamDefinition]:
        """Those that are there for this user."""
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
        """Whether this may be subscribed to; the flow of what is new. `names`: of all subscriptions.

        What the user may not have is judged by the request alone, in the same words whether it exists or not. Raises
        PermissionDenied, UnknownStream, UnknownSubscription, and what the engine says of a text that it cannot read.
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

    def check_asked(self, user: User, name: str, names: Collection[str]) -> None:
        """Whether this user may hear what a subscription foretells, as who attaches to it does. `names`: of all.

        Raises PermissionDenied, UnknownSubscription.
        """
        user.check("subscribe", name)
        if name not in names or not self._may_have(user, name):
            hint = suggestion(name, [each for each in names if self.sees(user, each)])
            raise UnknownSubscription(f"subscription {name!r} is not known{hint}")

    def check_readers(
        self, flow: Flow, readers: Callable[[str], Iterable[User]], awaited: Callable[[str], bool]
    ) -> None:
        """Whether all who read what this flow publishes may read what goes into it. O(subscriptions that it feeds).

        `readers`: of a subscription, who is attached to it or has a cursor of it; `awaited`: whether clients may come
        back for it of whom nobody knows who they are. Raises PermissionDenied, Busy.
        """
        sources = self.sources
        if self._flows is None or sources is None or flow.publishes is None:
            return
        added = sources.upstream(flow.reads)
        for name in sources.downstream(flow.publishes):
            for user in readers(name):
                for stream in added:
                    if self._may_have(user, name) and not user.may("read", stream):
                        raise PermissionDenied(
                            f"stream {flow.publishes!r}: somebody reads it who has no permission to read {stream!r}"
                        )
            if awaited(name):
                for user in self._access.everybody():
                    if self._may_have(user, name) and not all(user.may("read", stream) for stream in added):
                        raise Busy(
                            f"stream {flow.publishes!r}: it is not known yet who reads it after the broker's restart",
                            AWAITED_RETRY_MICROSECONDS,
                        )

    def check_values(self, user: User, name: str) -> None:
        """Whether this user may see what a subscription that exists has found. Raises PermissionDenied."""
        if self._flows is not None and self.sources is not None:
            self._check_all(user, name, self.sources.into(name))

    def user(self, name: str) -> User | None:
        """The user of this name, by the rules of now."""
        return next((user for user in self._access.everybody() if user.name == name), None)

    def states(self, name: str) -> int:
        """How many states this subscription takes of a quota."""
        return 0 if self._states is None else self._states(name)

    def sees(self, user: User, name: str) -> bool:
        """Whether a subscription that exists is there for this user."""
        return user.admin or self._may_have(user, name)

    def _may_have(self, user: User, name: str) -> bool:
        if self._flows is None or self.sources is None:
            return True
        return user.may("subscribe", name) and all(user.may("read", each) for each in self.sources.into(name))

    def _check_all(self, user: User, name: str, streams: Iterable[str]) -> None:
        if not all(user.may("read", stream) for stream in streams):
            # Which one it is would say what a stream that may be read is made of.
            raise PermissionDenied(
                f"subscription {name!r}: user {user.name!r} has no permission to read all that flows into it"
            )

    # ---- the whole ----

    def statistics(self) -> dict[str, Any]:
        """Of the users that have accounts."""
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
