"""Checks which machines can reach an address, and which users of this machine can change the configuration."""

from __future__ import annotations

import os
import re
import stat
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from ...events import DefinitionError, shown

DEFAULT_ADDRESS: Final = "tcp://127.0.0.1:5570"

_ADDRESS: Final = re.compile(r"(tcp|http)://(?:\[([0-9A-Fa-f:.]{1,64})\]|([^\[\]:/]{1,255})):([0-9]{1,5})")
_PORT_MAX: Final = 65_535


def host_and_port(address: object, what: str, scheme: str, example: str) -> tuple[str, int]:
    """The host and the port of an address. Raises DefinitionError."""
    match = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if match is None or match.group(1) != scheme or int(match.group(4)) > _PORT_MAX:
        meant = f"{scheme}://{address}"
        hint = f"; did you mean {meant!r}?" if _ADDRESS.fullmatch(meant) is not None else ""
        raise DefinitionError(f"{what}: expected an address such as {example}, found {shown(address)}{hint}")
    return match.group(2) or match.group(3), int(match.group(4))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host. Names are not resolved, because their addresses may change."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def check_writers(path: Path) -> None:
    """Refuse a file that every user of this machine can change. Raises DefinitionError.

    Other errors of the file are reported when it is read.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return
    if os.name == "posix" and mode & stat.S_IWOTH and path.is_file():
        raise DefinitionError(
            f"{path}: expected a file that other users cannot write (chmod o-w), found the mode {mode:03o}"
        )


def check_exposure(address: object, encrypted: bool, insecure: bool) -> None:
    """Refuse an invalid address, and one that other machines can reach without keys. Raises DefinitionError."""
    host, _ = host_and_port(address, "address", "tcp", DEFAULT_ADDRESS)
    if not (is_loopback(host) or encrypted or insecure):
        raise DefinitionError(
            f"address: expected a loopback address (127.0.0.1, ::1 or localhost), found {shown(host)}; other machines "
            "are served with keys only: see `foretell keygen` and security.keys"
        )
