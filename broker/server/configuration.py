"""The operator's settings, as consistent values. Not here: reading them from TOML (configuration_file.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias, final, get_args

from ..events import DefinitionError
from ..kernel import Access, Limits, Quota, User, open_access
from ..wire.keys import checked_key
from .audit_log import AuditSettings
from .opening import Journalling
from .security.exposure import DEFAULT_ADDRESS, check_exposure, host_and_port, is_loopback
from .tracing import TraceSettings

LogFormat: TypeAlias = Literal["text", "json"]
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]

LOG_FORMATS: Final[tuple[str, ...]] = get_args(LogFormat)
LOG_LEVELS: Final[tuple[str, ...]] = get_args(LogLevel)

DRAIN_MICROSECONDS: Final = 5_000_000
IO_THREADS_MAX: Final = 64
CONSOLE_EXAMPLE: Final = "http://127.0.0.1:5580"


@final
@dataclass(frozen=True, slots=True)
class ServerConfiguration:
    """A broker's configuration. Raises DefinitionError.

    `subscriptions`: a subscription file that is loaded at the start. Clients cannot remove what it declares.
    `model`: a file with counts that forecasts begin with (from `foretell run --save-model`, or training).
    `drain`: how long a stopping broker delivers queued results, in microseconds. `keys`: the file of the broker's keys;
    with it the broker serves only the owners of `user_keys`. `insecure`: other machines may connect without keys.
    `console`: the address of metrics, health and pages; `console_open`: other machines may read metrics and health.
    `console_tokens`: the file of the tokens of users who see the pages; `console_certificate` and `console_key`: TLS;
    `console_proxy`: a proxy has it. Beyond this machine there are no pages without tokens and one of these.
    `console_writes`: users may change by the pages what their permissions allow.
    `io_threads`: how many threads read and write the connections.
    `journal`: where the broker stores its state durably; None: everything is in memory only. `audit`: where it writes
    who changed what; None: nowhere. `traces`: which batches are traced; None: none.
    """

    address: str = DEFAULT_ADDRESS
    subscriptions: Path | None = None
    limits: Limits = field(default_factory=Limits)
    drain: int = DRAIN_MICROSECONDS
    keys: Path | None = None
    insecure: bool = False
    user_keys: Mapping[str, User] = field(default_factory=dict)
    quota: Quota = field(default_factory=Quota)
    log_level: str = "warning"
    log_format: str = "text"
    console: str | None = None
    console_open: bool = False
    console_tokens: Path | None = None
    console_certificate: Path | None = None
    console_key: Path | None = None
    console_proxy: bool = False
    console_writes: bool = False
    model: Path | None = None
    journal: Journalling | None = None
    io_threads: int = 1
    audit: AuditSettings | None = None
    traces: TraceSettings | None = None

    def __post_init__(self) -> None:
        check_exposure(self.address, self.keys is not None, self.insecure)
        for key in self.user_keys:
            checked_key(key, "users")
        if not 1 <= self.io_threads <= IO_THREADS_MAX:
            raise DefinitionError(f"io_threads: expected 1 to {IO_THREADS_MAX}, found {self.io_threads}")
        if self.keys is None and self.user_keys:
            raise DefinitionError("users: expected security.keys too: without it the broker cannot identify users")
        if self.keys is not None and not self.user_keys:
            raise DefinitionError("security.keys: expected users too: without them no client may connect")
        if self.console is not None:
            host, _ = host_and_port(self.console, "console.address", "http", CONSOLE_EXAMPLE)
            if not (is_loopback(host) or self.console_open):
                raise DefinitionError(
                    "console.address: expected a loopback address, or console.open = true: other machines could read "
                    "the broker's statistics"
                )

    @property
    def exposed(self) -> bool:
        """Whether any machine on the network may do everything."""
        host, _ = host_and_port(self.address, "address", "tcp", DEFAULT_ADDRESS)
        return self.keys is None and not is_loopback(host)

    def access(self) -> Access:
        """The permissions: those of the users, or without keys all permissions for every client."""
        return open_access(self.quota) if self.keys is None else Access(self.user_keys)
