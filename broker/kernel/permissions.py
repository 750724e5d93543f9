"""Users, grants and quotas, as values. Not here: authentication (server/security), what a request needs (admission.py).

For each verb a user has a list of names, or of prefixes that end in `*`. Everything else is refused. `publish`, `read`
and `declare` concern streams, `subscribe` the names of subscriptions. `admin` sees what all users have, but not the
values of streams.

An identity is the public key of a client, authenticated by the transport. A user may have several, so that a key can be
replaced while both are valid. It is never the routing id, which a client may choose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal, TypeAlias, final, get_args

from ..events import DefinitionError, shown
from ..wire import PermissionDenied

Verb: TypeAlias = Literal["publish", "read", "subscribe", "declare"]

ANYBODY: Final = "anybody"
"""The name of the user that all clients without an identity share."""

VERBS: Final[tuple[str, ...]] = get_args(Verb)

_NAME_CHARACTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_PATTERN_LENGTH_MAX: Final = 128


@final
@dataclass(frozen=True, slots=True)
class Quota:
    """The resources that a user may have in use, over all its connections; None: only the broker's limits apply.

    Without keys the quota applies to each connection. Raises DefinitionError.
    """

    connections: int | None = None
    """Clients at a time; a further one is refused."""

    subscriptions: int | None = None
    """Attached subscriptions; a further one is refused."""

    states: int | None = None
    """States of the automata of these subscriptions, which is their cost before any event."""

    events_per_second: int | None = None
    """Published events, on average; about a second's worth may come at once. More are refused as busy."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and (type(value) is not int or value < 1):
                raise DefinitionError(f"quota.{each.name}: expected a whole number from 1 on, found {shown(value)}")


@final
@dataclass(frozen=True, slots=True)
class User:
    """One user and its grants. Raises DefinitionError for an invalid name, or a pattern that can match no name."""

    name: str
    publish: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    declare: tuple[str, ...] = ()
    admin: bool = False
    quota: Quota = field(default_factory=Quota)

    def __post_init__(self) -> None:
        if "/" in self.name:  # it separates a user's name from that of a cursor or publisher
            raise DefinitionError(f"users: expected a name without '/', found {shown(self.name)}")
        if not self.name:
            raise DefinitionError("users: expected a name of at least one character, found an empty one")
        for verb in VERBS:
            for pattern in self._patterns(verb):
                _check_pattern(f"users.{self.name}.{verb}", pattern)

    def may(self, verb: str, name: str) -> bool:
        """Whether a grant extends to the name. O(grants)."""
        for pattern in self._patterns(verb):  # asked for each message, and `any` would make a generator each time
            if name.startswith(pattern[:-1]) if pattern[-1] == "*" else name == pattern:
                return True
        return False

    def check(self, verb: str, name: str) -> None:
        """Raise PermissionDenied if no grant covers the name, in the same words whether the name exists or not."""
        if not self.may(verb, name):
            what = "subscription" if verb == "subscribe" else "stream"
            raise PermissionDenied(f"{what} {name!r}: user {self.name!r} has no permission to {verb}")

    def check_admin(self, what: str) -> None:
        """Raise PermissionDenied if the user is not an administrator; `what` names the refused request."""
        if not self.admin:
            raise PermissionDenied(f"{what}: user {self.name!r} is not an administrator")

    def knows(self, stream: str) -> bool:
        """Whether the user may see the stream's schema: administrators, and users with any grant for it."""
        return self.admin or any(self.may(verb, stream) for verb in ("read", "publish", "declare"))

    def _patterns(self, verb: str) -> tuple[str, ...]:
        patterns: tuple[str, ...] = getattr(self, verb)
        return patterns


_EVERYTHING: Final = ("*",)


@final
@dataclass(frozen=True, slots=True)
class Access:
    """Users by identity. `anybody`: the user of all clients without an identity; None: they are refused."""

    users: Mapping[str, User] = field(default_factory=dict)
    anybody: User | None = None

    def user(self, identity: str) -> User | None:
        """The user of an identity; None if there is none."""
        return self.users.get(identity) if identity else self.anybody

    def everybody(self) -> Iterable[User]:
        """Each user once, in the order of the rules."""
        found = {user.name: user for user in self.users.values()}
        if self.anybody is not None:
            found.setdefault(self.anybody.name, self.anybody)
        return found.values()


def open_access(quota: Quota | None = None) -> Access:
    """Rules by which all clients may do everything, for a broker that only its own machine can reach."""
    every = _EVERYTHING
    return Access({}, User(ANYBODY, every, every, every, every, True, quota or Quota()))


def _check_pattern(place: str, pattern: object) -> None:
    if type(pattern) is str and 0 < len(pattern) <= _PATTERN_LENGTH_MAX:
        if _NAME_CHARACTERS.issuperset(pattern.removesuffix("*")):
            return
    raise DefinitionError(f"{place}: expected a name, or a prefix of names followed by *, found {shown(pattern)}")
