"""The keys of a client: its own pair, and the public key of the broker that it trusts."""

from __future__ import annotations

from pathlib import Path

from broker.events import DefinitionError
from broker.wire.keys import Keys, read_keys


def client_keys(keys: Keys | str | Path | None) -> Keys | None:
    """The keys, read if a file is given. Raises DefinitionError for an invalid file or without the broker's key."""
    if keys is None:
        return None
    found = keys if isinstance(keys, Keys) else read_keys(Path(keys))
    if found.server is None:
        place = "keys" if isinstance(keys, Keys) else str(keys)
        raise DefinitionError(f'{place}: expected server = "...", the public key of the broker, found none')
    return found
