"""CURVE keys: their format, and the file that holds them.

A key is 32 bytes as 40 characters of Z85. A public key may be known to anyone; a secret key goes from its file to the
socket only, and never into a message, an error or a log. A file that other users can read is refused.

    # keys of a client
    public = "..."
    secret = "..."
    server = "..."      # a client's file: the broker's public key, without which it would trust any broker
"""

from __future__ import annotations

import os
import stat
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from ..events import DefinitionError, shown, suggestion

KEY_CHARACTERS: Final = 40
_ALPHABET: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#")
_FIELDS: Final = ("public", "secret", "server")
_FILE_BYTES_MAX: Final = 4_096


@final
@dataclass(frozen=True, slots=True)
class Keys:
    """A pair of keys; `server` is the broker's public key, which a client must know. Raises DefinitionError."""

    public: str
    secret: str = field(repr=False)
    server: str | None = None

    def __post_init__(self) -> None:
        checked_key(self.public, "public")
        _check_secret(self.secret)
        if self.server is not None:
            checked_key(self.server, "server")


def checked_key(key: object, what: str) -> str:
    """The key, if it has the format of a public one. Raises DefinitionError, with `what` as the key's name."""
    if not _is_key(key):
        raise DefinitionError(f"{what}: expected a public key of {KEY_CHARACTERS} characters (Z85), found {shown(key)}")
    return str(key)


def read_keys(path: Path) -> Keys:
    """The keys in a file. Raises DefinitionError, whose text begins with the path and quotes no secret."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(_FILE_BYTES_MAX).decode()
    except OSError as error:
        raise DefinitionError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DefinitionError(f"{path}: expected a file of keys, as `foretell keygen` writes it") from None
    if os.name == "posix" and mode & 0o077:
        raise DefinitionError(
            f"{path}: expected a file that only its owner can read (chmod 600), found the mode {mode:03o}"
        )
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        raise DefinitionError(f"{path}: expected a file of keys, as `foretell keygen` writes it") from None
    for name in document:
        if name not in _FIELDS:
            raise DefinitionError(f"{path}: unknown key {name!r}{suggestion(name, _FIELDS)}")
    for name in _FIELDS[:2]:
        if name not in document:
            raise DefinitionError(f'{path}: expected {name} = "...", found none')
    try:
        return Keys(**document)
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from None


def written_keys(keys: Keys, whose: str) -> str:
    """The text of a file of keys."""
    server = "" if keys.server is None else f'server = "{keys.server}"\n'
    return f'# Keys of {whose}. Keep this file secret.\npublic = "{keys.public}"\nsecret = "{keys.secret}"\n{server}'


def _is_key(key: object) -> bool:
    return type(key) is str and len(key) == KEY_CHARACTERS and _ALPHABET.issuperset(key)


def _check_secret(secret: object) -> None:
    if not _is_key(secret):
        raise DefinitionError(f"secret: expected a secret key of {KEY_CHARACTERS} characters (Z85)")
