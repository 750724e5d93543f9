"""Law: what an operator can decide, and how that is written in a TOML file; nothing is opened or started here.

address = "tcp://127.0.0.1:5570"       # loopback only in this version; port 0 takes a free one
subscriptions = "subscriptions.toml"   # streams and subscriptions that exist from the start; beside this file

[limits]                               # see broker.kernel.Limits
sessions = 1000
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, final

from ..events import DefinitionError, shown, suggestion
from ..kernel import Limits

DEFAULT_ADDRESS: Final = "tcp://127.0.0.1:5570"

_ADDRESS: Final = re.compile(r"tcp://(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:/]+)):([0-9]{1,5})")
_AN_ADDRESS: Final = f"expected an address such as {DEFAULT_ADDRESS}"
_PORT_MAX: Final = 65_535


@final
@dataclass(frozen=True, slots=True)
class ServerConfiguration:
    """A broker's configuration. Raises DefinitionError.

    `subscriptions`: a subscription file that is loaded at the start. What it declares cannot be removed by clients.
    """

    address: str = DEFAULT_ADDRESS
    subscriptions: Path | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        check_address(self.address)


def check_address(address: object) -> None:
    """Refuse what is no TCP address, and any that other machines can reach. Raises DefinitionError."""
    match = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if match is None or int(match.group(3)) > _PORT_MAX:
        raise DefinitionError(f"address: {_AN_ADDRESS}, found {shown(address)}")
    host = match.group(1) or match.group(2)
    try:
        loopback = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise DefinitionError(
            f"address: expected a loopback address (127.0.0.1, ::1 or localhost), found {shown(host)}; "
            "other machines are not served in this version, which has no encryption and no passwords"
        )


def read_configuration(text: str, place: str) -> ServerConfiguration:
    """The configuration that a TOML text describes; `place` is its file's path, for errors and relative paths.

    Raises DefinitionError, one line that begins with `place`.
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DefinitionError(f"{place}: {str(error).partition(chr(10))[0]}") from None
    try:
        _check_keys(document, [each.name for each in fields(ServerConfiguration)], "")
        limits = document.get("limits", {})
        if not isinstance(limits, dict):
            raise DefinitionError(f"limits: expected a table, found {shown(limits)}")
        _check_keys(limits, [each.name for each in fields(Limits)], "limits.")
        return ServerConfiguration(
            document.get("address", DEFAULT_ADDRESS), _path(document, Path(place).parent), Limits(**limits)
        )
    except DefinitionError as error:
        raise DefinitionError(f"{place}: {error}") from None


def _path(document: Mapping[str, Any], folder: Path) -> Path | None:
    written = document.get("subscriptions")
    if written is None:
        return None
    if not isinstance(written, str) or not written:
        raise DefinitionError(f"subscriptions: expected the path of a subscription file, found {shown(written)}")
    return folder / written


def _check_keys(table: Iterable[str], known: list[str], prefix: str) -> None:
    for key in table:
        if key not in known:
            hint = suggestion(key, known) or f"; expected {', '.join(known)}"
            raise DefinitionError(f"unknown key {prefix + key!r}{hint}")
