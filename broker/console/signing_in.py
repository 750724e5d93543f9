"""Who looks at the console: tokens of users, and the browsers that have shown one.

A file has a line a token: the name of a user of the broker, and the SHA-256 of the token in hexadecimal, so that
reading it lets nobody in. A browser that has shown a token gets a cookie with a secret of its own, which ends with the
broker or after SIGNED_IN_SECONDS_MAX. Permissions are those that the user has when something is asked.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, final

from ..events.errors import DefinitionError

COOKIE: Final = "foretell"
SIGNED_IN_SECONDS_MAX: Final = 12 * 3_600
"""After that a token is asked for again."""
SIGNED_IN_MAX: Final = 256
"""Browsers at a time; the one that signed in first goes."""
_DIGEST: Final = frozenset("0123456789abcdef")


def digest(token: str) -> str:
    """What the file has of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def read_tokens(path: Path) -> dict[str, str]:
    """The users by the digests of their tokens. Raises DefinitionError with the line."""
    found: dict[str, str] = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DefinitionError(f"{path}: expected a file of tokens: {reason}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, kept = line.strip().rpartition(" ")
        if not name or len(kept) != 64 or not _DIGEST.issuperset(kept):
            raise DefinitionError(f"{path}: line {number}: expected a user and 64 hexadecimal digits")
        found[kept] = name.strip()
    return found


@final
class SigningIn:
    """The signed-in browsers. `anybody`: the user of those without a token; None: they see nothing."""

    def __init__(
        self, tokens: Mapping[str, str], anybody: str | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tokens = dict(tokens)
        self._anybody = anybody
        self._clock = clock
        self._browsers: dict[str, tuple[str, float]] = {}

    @property
    def needed(self) -> bool:
        """Whether a token is needed."""
        return self._anybody is None

    def enter(self, token: str) -> str | None:
        """The secret of a cookie for whoever shows a token; None if nobody has it. O(tokens)."""
        shown, user = digest(token), None
        for kept, name in self._tokens.items():
            if hmac.compare_digest(kept, shown):
                user = name
        if user is None:
            return None
        while len(self._browsers) >= SIGNED_IN_MAX:
            del self._browsers[next(iter(self._browsers))]
        secret = secrets.token_urlsafe(32)
        self._browsers[digest(secret)] = user, self._clock() + SIGNED_IN_SECONDS_MAX
        return secret

    def leave(self, secret: str) -> None:
        """Forget a browser."""
        self._browsers.pop(digest(secret), None)

    def user(self, secret: str | None) -> str | None:
        """The name of the user who looks; None: nobody who is known."""
        if secret is not None:
            known = self._browsers.get(digest(secret))
            if known is not None and known[1] > self._clock():
                return known[0]
        return self._anybody
