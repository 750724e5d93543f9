"""Who may do what, as values. Not here: how a client proves who it is, or what a request needs.

A user has for each verb the names that it extends to: whole names, or beginnings that end in `*`. What is not granted
is refused. `publish`, `read` and `declare` are about streams, `subscribe` about the names of subscriptions; `admin`
sees what all users have, and no values of streams for that.

An identity is what the transport vouches for, the public key of a client; several may belong to one user, so that a key
can be exchanged while both work. It is never the routing id, which anybody may choose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal, TypeAlias, final, get_args

from ..events import DefinitionError, shown
from ..wire import PermissionDenied

Verb: TypeAlias = Literal["publish", "read", "subscribe", "declare"]

ANYBODY: Final = "anybody"
"""What everybody is called where nobody has to say who they are."""

VERBS: Final[tuple[str, ...]] = get_args(Verb)

_NAME_CHARACTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_PATTERN_LENGTH_MAX: Final = 128


@final
@dataclass(frozen=True, slots=True)
class Quota:
    """What one user may use at a time, over all its connections; None is bounded by the broker's limits only.

    Who comes without a key has a quota for each connection. Raises DefinitionError.
    """

    connections: int | None = None
    """Clients at a time; a further one is refused."""

    subscriptions: int | None = None
    """Attached subscriptions; a further one is refused."""

    states: int | None = None
    """States of the automata of these subscriptions: what a subscription costs before any event comes."""

    events_per_second: int | None = None
    """Published events, on average; about a second's worth may come at once. What is more is refused as busy."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and (type(value) is not int or value < 1):
                raise DefinitionError(f"quota.{each.name}: expected a whole number from 1 on, found {shown(value)}")


@final
@dataclass(frozen=True, slots=True)
class User:
    """One user and its grants. Raises DefinitionError for a pattern that can fit no name."""

    name: str
    publish: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    declare: tuple[str, ...] = ()
    admin: bool = False
    quota: Quota = field(default_factory=Quota)

    def __post_init__(self) -> None:
        if "/" in self.name:  # which stands between a user's name and that of something it has
            raise DefinitionError(f"users: expected a name without '/', found {shown(self.name)}")
        if not self.name:
            raise DefinitionError("users: expected a name of one character at least, found an empty one")
        for verb in VERBS:
            for pattern in self._patterns(verb):
                _check_pattern(f"users.{self.name}.{verb}", pattern)

    def may(self, verb: str, name: str) -> bool:
        """Whether a grant extends to the name. O(grants)."""
        return any(
            name.startswith(pattern[:-1]) if pattern[-1] == "*" else name == pattern for pattern in self._patterns(verb)
        )

    def check(self, verb: str, name: str) -> None:
        """Raises PermissionDenied, in the same words whether there is something of the name or not."""
        if not self.may(verb, name):
            what = "subscription" if verb == "subscribe" else "stream"
            raise PermissionDenied(f"{what} {name!r}: user {self.name!r} has no permission to {verb}")

    def check_admin(self, what: str) -> None:
        """Raises PermissionDenied."""
        if not self.admin:
            raise PermissionDenied(f"{what}: user {self.name!r} has no permission to administrate")

    def knows(self, stream: str) -> bool:
        """Whether the stream's schema may be shown: to whoever has to do with it."""
        return self.admin or any(self.may(verb, stream) for verb in ("read", "publish", "declare"))

    def _patterns(self, verb: str) -> tuple[str, ...]:
        patterns: tuple[str, ...] = getattr(self, verb)
        return patterns


_EVERYTHING: Final = ("*",)


@final
@dataclass(frozen=True, slots=True)
class Access:
    """Users by identity. `anybody` stands for all who come without one; None: nobody may."""

    users: Mapping[str, User] = field(default_factory=dict)
    anybody: User | None = None

    def user(self, identity: str) -> User | None:
        """Whose identity this is."""
        return self.users.get(identity) if identity else self.anybody

    def everybody(self) -> Iterable[User]:
        """Each user once, in the order of the rules."""
        found = {user.name: user for user in self.users.values()}
        if self.anybody is not None:
            found.setdefault(self.anybody.name, self.anybody)
        return found.values()


def open_access(quota: Quota | None = None) -> Access:
    """Everybody may do everything: for a broker that only its own machine can reach."""
    every = _EVERYTHING
    return Access({}, User(ANYBODY, every, every, every, every, True, quota or Quota()))


def _check_pattern(place: str, pattern: object) -> None:
    if type(pattern) is str and 0 < len(pattern) <= _PATTERN_LENGTH_MAX:
        if _NAME_CHARACTERS.issuperset(pattern.removesuffix("*")):
            return
    raise DefinitionError(f"{place}: expected a name or the beginning of names and *, found {shown(pattern)}")
