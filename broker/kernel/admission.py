"""Law: whether a session may have what it asks for, by who it is; what is asked is carried out elsewhere, afterwards.

Every session has an account from HELLO on, by the identity that the transport vouches for. A subscription needs
`subscribe` on its name, `read` on each stream that flows into it, however far from it, and `publish` on the stream
that it publishes. Where others read that stream already, they need `read` on what it reads, or it is refused: nobody
comes to values that they may not read through what somebody else adds.

When the rules change, whoever may not have any more what they have is ended, as a whole: it may come again and is told
then what it may not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, final

from ..events import StreamDefinition, UnknownStream, UnknownSubscription, suggestion
from ..language.subscription import SubscriptionDefinition
from ..wire import PermissionDenied, Subscribe
from .accounts import Account
from .permissions import Access, User
from .sources import Flow, Flows, Sources


@final
class Admission:
    """Accounts by user, and what flows where. Without `flows` nothing is restricted but by quotas."""

    __slots__ = ("_access", "_accounts", "_states", "sources")

    def __init__(
        self,
        access: Access,
        flows: Flows | None = None,
        states: Callable[[str], int] | None = None,
        known: Iterable[SubscriptionDefinition] = (),
    ) -> None:
        self._access = access
        self._accounts: dict[str, Account] = {}  # by user's name
        self._states = states
        self.sources = None if flows is None else Sources(flows, known)

    # ---- sessions ----

    def enter(self, identity: str) -> Account:
        """The account of a session that begins. Raises PermissionDenied, LimitExceeded."""
        user = self._access.user(identity)
        if user is None:
            raise PermissionDenied("this broker knows no user with this key" if identity else "a key is needed here")
        account = self._accounts.setdefault(user.name, Account(user)) if identity else Account(user)
        account.connect()
        return account

    def leave(self, account: Account) -> None:
        """The session has ended and holds nothing any more."""
        account.disconnect()
        if not account.connections and self._accounts.get(account.user.name) is account and not account.paid_until:
            del self._accounts[account.user.name]

    def change(self, access: Access) -> None:
        """Other rules from now on; each session that there is must be asked for with `may_stay`."""
        self._access = access

    def may_stay(self, identity: str, account: Account, names: Iterable[str]) -> bool:
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
        if self.sources is None:
            return streams
        return {name: stream for name, stream in streams.items() if user.knows(name)}

    # ---- subscriptions ----

    def check_subscribe(
        self,
        account: Account,
        request: Subscribe,
        existing: SubscriptionDefinition | None,
        streams: Mapping[str, StreamDefinition],
        names: Iterable[str],
    ) -> Flow | None:
        """Whether this may be subscribed to; the flow of what is new. `names`: of all subscriptions.

        Raises PermissionDenied, UnknownStream, UnknownSubscription, and what the engine says of a text that it cannot
        read.
        """
        account.check_subscription()
        user = account.user
        user.check("subscribe", request.name)
        sources = self.sources
        if sources is None:
            return None
        if existing is not None:
            self._check_reads(user, request.name, sources.of(existing.name).reads)
            return None
        if request.query is None:
            hint = suggestion(request.name, [name for name in names if self.sees(user, name)])
            raise UnknownSubscription(f"subscription {request.name!r} is not known{hint}")
        flow = sources.read(SubscriptionDefinition(request.name, request.language, request.query, request.lineage))
        self._check_reads(user, request.name, flow.reads)
        for stream in flow.reads:
            if stream not in streams and stream not in sources.published():
                known = [name for name in (*streams, *sources.published()) if user.may("read", name)]
                raise UnknownStream(
                    f"subscription {request.name!r}: unknown stream {stream!r}{suggestion(stream, known)}"
                )
        if flow.publishes is not None:
            user.check("publish", flow.publishes)
        return flow

    def check_readers(self, flow: Flow, attached: Iterable[tuple[str, User]]) -> None:
        """Whether all who read what this flow publishes may read what goes into it. O(attachments).

        `attached`: subscriptions by name, and who has them. Raises PermissionDenied.
        """
        sources = self.sources
        if sources is None or flow.publishes is None:
            return
        added = sources.upstream(flow.reads)
        for name, user in attached:
            if flow.publishes in sources.upstream(sources.of(name).reads):
                for stream in added:
                    if not user.may("read", stream):
                        raise PermissionDenied(
                            f"stream {flow.publishes!r}: somebody reads it who has no permission to read {stream!r}"
                        )

    def states(self, name: str) -> int:
        """How many states this subscription takes of a quota."""
        return 0 if self._states is None else self._states(name)

    def sees(self, user: User, name: str) -> bool:
        """Whether a subscription that exists is there for this user."""
        return user.admin or self._may_have(user, name)

    def _may_have(self, user: User, name: str) -> bool:
        sources = self.sources
        if sources is None:
            return True
        reads = sources.upstream(sources.of(name).reads)
        return user.may("subscribe", name) and all(user.may("read", stream) for stream in reads)

    def _check_reads(self, user: User, name: str, reads: Iterable[str]) -> None:
        assert self.sources is not None
        for stream in reads:
            user.check("read", stream)
        for stream in self.sources.upstream(reads):
            if not user.may("read", stream):
                # Which one it is would say what a stream that may be read is made of.
                raise PermissionDenied(
                    f"subscription {name!r}: user {user.name!r} has no permission to read all that flows into it"
                )

    # ---- the whole ----

    def statistics(self) -> dict[str, Any]:
        """Of the users that have accounts."""
        return {"users": len(self._accounts)}

    def check_invariants(self, sessions: Iterable[tuple[Account, int]]) -> None:
        """For tests; each session's account with the number of its attachments."""
        used: dict[int, tuple[Account, int, int]] = {}
        for account, attached in sessions:
            _, connections, subscriptions = used.get(id(account), (account, 0, 0))
            used[id(account)] = account, connections + 1, subscriptions + attached
        for account, connections, subscriptions in used.values():
            assert (account.connections, account.subscriptions) == (connections, subscriptions)
        for account in self._accounts.values():
            assert id(account) in used or not (account.connections or account.subscriptions or account.states)
        if self.sources is not None:
            self.sources.check_invariants()
