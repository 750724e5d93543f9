"""Reads the configuration from a TOML file. Not here: the values' meaning and consistency (configuration.py).

    address = "tcp://127.0.0.1:5570"       # port 0 takes a free one; beyond this machine only with keys
    subscriptions = "subscriptions.toml"   # streams and subscriptions that exist from the start; beside this file
    model = "model.json"                   # counts that forecasts begin with
    drain = "5 s"                          # how long a stopping broker delivers queued results
    io_threads = 1                         # they read and write the connections; 4 if strangers connect by thousands

    [security]
    keys = "broker.keys"                   # by `foretell keygen`; beside this file
    insecure = false                       # true: other machines may read and change everything without keys

    [users.ann]                            # see broker.kernel.permissions
    keys = ["..."]
    publish = ["Stock"]
    read = ["Stock*"]
    subscribe = ["ann.*"]
    declare = []
    admin = false
    quota = { connections = 5 }

    [quota]                                # of users without their own
    [limits]                               # see broker.kernel.limits; ahead_max is a duration, or "off"
    [log]
    level = "warning"
    format = "text"
    [console]
    address = "http://127.0.0.1:5580"
    open = false
    writes = false                         # true: users may change what their permissions allow

    [journal]                              # absent: everything is in memory only
    path = "data"                          # a folder, beside this file; created if it is missing
    fsync = "always"                       # always, interval, os: see broker.storage.settings
    interval = "50 ms"
    segment_bytes = 67_108_864
    checkpoint_bytes = 16_777_216          # of records between checkpoints
    check = "all"                          # at the start: all records, or those that are replayed
    checkpoint = "fork"                    # fork: by a copy of the process; loop: while all clients wait
    retain_age = "7 day"                   # absent: no limit
    retain_bytes = 10_000_000_000          # absent: no limit

    [audit]                                # absent: nobody notes who changed what
    path = "audit.jsonl"                   # a file, beside this one; created if it is missing
    bytes = 10_000_000                     # of one file, after which the next one is begun
    files = 10                             # that are kept

    [traces]                               # absent: no batch is traced; needs foretell[otel]
    every = 100                            # one of so many batches is traced
    clients = true                         # and each batch that its client traces

An unknown key is an error that names the nearest known one. A value of the wrong type is an error, too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final, final

from ..events import DefinitionError, EventError, parse_duration, shown, suggestion
from ..kernel import Limits, Quota, User
from ..kernel.limits import AHEAD_MICROSECONDS
from ..kernel.permissions import VERBS
from ..storage import Durability, Retention
from ..storage.settings import CHECK, FSYNC
from ..wire.keys import checked_key
from .audit_log import AUDIT_BYTES, AUDIT_FILES, AuditSettings
from .configuration import DRAIN_MICROSECONDS, LOG_FORMATS, LOG_LEVELS, ServerConfiguration
from .opening import CHECKPOINT_BYTES, Journalling
from .saving import WAYS
from .security.exposure import DEFAULT_ADDRESS
from .tracing import EVERY, TraceSettings

_TOP: Final = (
    "address", "subscriptions", "model", "drain", "io_threads", "security", "users", "quota", "limits", "log",
    "console", "journal", "audit", "traces",
)  # fmt: skip
_JOURNAL: Final = (
    "path", "fsync", "interval", "segment_bytes", "checkpoint_bytes", "checkpoint", "retain_age", "retain_bytes",
    "check",
)  # fmt: skip
_USER: Final = ("keys", *VERBS, "admin", "quota")


def read_configuration(text: str, place: str, overrides: Mapping[str, Any] | None = None) -> ServerConfiguration:
    """The configuration in a TOML text; `place` is its file's path, for errors and relative paths.

    `overrides`, by the fields of ServerConfiguration, take precedence over the file. Raises DefinitionError, one line
    that begins with `place`.
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DefinitionError(f"{place}: {str(error).partition(chr(10))[0]}") from None
    try:
        written = _configuration(_Table(document, "", _TOP), Path(place).parent)
        return ServerConfiguration(**(written | dict(overrides or {})))
    except DefinitionError as error:
        raise DefinitionError(f"{place}: {error}") from None


def _configuration(top: _Table, folder: Path) -> dict[str, Any]:
    security = top.table("security", ("keys", "insecure"))
    log = top.table("log", ("level", "format"))
    console = top.table("console", ("address", "open", "tokens", "certificate", "key", "proxy", "writes"))
    quota = _quota(top, Quota())
    return {
        "address": top.values.get("address", DEFAULT_ADDRESS),
        "subscriptions": top.path("subscriptions", folder, "a subscription file"),
        "model": top.path("model", folder, "a model"),
        "limits": _limits(top),
        "drain": top.duration("drain", DRAIN_MICROSECONDS),
        "io_threads": top.count("io_threads", 1),
        "keys": security.path("keys", folder, "a file of keys"),
        "insecure": security.flag("insecure"),
        "user_keys": _users(top.values.get("users", {}), quota),
        "quota": quota,
        "log_level": log.word("level", "warning", LOG_LEVELS),
        "log_format": log.word("format", "text", LOG_FORMATS),
        "console": console.text("address"),
        "console_open": console.flag("open"),
        "console_tokens": console.path("tokens", folder, "a file of tokens"),
        "console_certificate": console.path("certificate", folder, "a certificate"),
        "console_key": console.path("key", folder, "a key"),
        "console_proxy": console.flag("proxy"),
        "console_writes": console.flag("writes"),
        "journal": _journal(top, folder) if "journal" in top.values else None,
        "audit": _audit(top, folder) if "audit" in top.values else None,
        "traces": _traces(top) if "traces" in top.values else None,
    }


def _audit(top: _Table, folder: Path) -> AuditSettings:
    table = top.table("audit", ("path", "bytes", "files"))
    path = table.path("path", folder, "a file")
    if path is None:
        raise DefinitionError("audit.path: expected the path of a file, found none")
    return AuditSettings(path, table.count("bytes", AUDIT_BYTES), table.count("files", AUDIT_FILES))


def _journal(top: _Table, folder: Path) -> Journalling:
    table = top.table("journal", _JOURNAL)
    path = table.path("path", folder, "a folder")
    if path is None:
        raise DefinitionError("journal.path: expected the path of a folder, found none")
    default = Durability()
    durability = Durability(
        table.word("fsync", default.fsync, FSYNC),  # type: ignore[arg-type]  # one of these words
        table.duration("interval", default.interval),
        table.count("segment_bytes", default.segment_bytes),
        retention=Retention(
            table.duration("retain_age", 1) if "retain_age" in table.values else None,
            table.count("retain_bytes", 1) if "retain_bytes" in table.values else None,
        ),
        check=table.word("check", default.check, CHECK),  # type: ignore[arg-type]  # one of these words
    )
    return Journalling(
        path,
        durability,
        table.count("checkpoint_bytes", CHECKPOINT_BYTES),
        table.word("checkpoint", "fork", WAYS),  # type: ignore[arg-type]  # one of these words
    )


def _traces(top: _Table) -> TraceSettings:
    table = top.table("traces", ("every", "clients"))
    return TraceSettings(table.count("every", EVERY), table.flag("clients", True))


def _users(users: object, quota: Quota) -> dict[str, User]:
    """Users by key."""
    if not isinstance(users, dict):
        raise DefinitionError(f"users: expected a table, found {shown(users)}")
    owners: dict[str, User] = {}
    for name, values in users.items():
        table = _Table(values, f"users.{name}.", _USER)
        user = User(
            name,
            table.texts("publish"),
            table.texts("read"),
            table.texts("subscribe"),
            table.texts("declare"),
            admin=table.flag("admin"),
            quota=_quota(table, quota),
        )
        keys = table.texts("keys")
        if not keys:
            raise DefinitionError(f"users.{name}.keys: expected at least one public key, found none")
        for key in keys:
            known = owners.setdefault(checked_key(key, f"users.{name}.keys"), user)
            if known is not user:
                raise DefinitionError(f"users.{name}.keys: the key {key} already belongs to {known.name!r}")
    return owners


def _limits(top: _Table) -> Limits:
    """The limits; `ahead_max` is a duration or "off"."""
    table = top.table("limits", [each.name for each in fields(Limits)])
    ahead = None if table.values.get("ahead_max") == "off" else table.duration("ahead_max", AHEAD_MICROSECONDS)
    return Limits(**dict(table.values) | {"ahead_max": ahead})


def _quota(table: _Table, default: Quota) -> Quota:
    found = table.table("quota", [each.name for each in fields(Quota)])
    try:
        return replace(default, **found.values)
    except DefinitionError as error:
        raise DefinitionError(f"{table.prefix}{error}") from None


@final
class _Table:
    """A table of the file, with known keys only. Each getter raises DefinitionError, which names the key."""

    def __init__(self, values: object, prefix: str, known: Collection[str]) -> None:
        if not isinstance(values, dict):
            raise DefinitionError(f"{prefix.removesuffix('.')}: expected a table, found {shown(values)}")
        for key in values:
            if key not in known:
                hint = suggestion(key, known) or f"; expected {', '.join(known)}"
                raise DefinitionError(f"unknown key {prefix + key!r}{hint}")
        self.values: Mapping[str, Any] = values
        self.prefix = prefix

    def table(self, key: str, known: Collection[str]) -> _Table:
        return _Table(self.values.get(key, {}), f"{self.prefix}{key}.", known)

    def text(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is not None and not (isinstance(value, str) and value):
            raise self._wrong(key, "a string")
        return value

    def path(self, key: str, folder: Path, of: str) -> Path | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value or "\0" in value:
            raise self._wrong(key, f"the path of {of}")
        return folder / value

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.values.get(key, default)
        if isinstance(value, bool):
            return value
        raise self._wrong(key, "true or false")

    def word(self, key: str, default: str, known: Collection[str]) -> str:
        value = self.values.get(key, default)
        if isinstance(value, str) and value in known:
            return value
        hint = suggestion(value, known) if isinstance(value, str) else ""
        raise DefinitionError(f"{self._wrong(key, 'one of ' + ', '.join(known))}{hint}")

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key, [])
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise self._wrong(key, "a list of strings")

    def count(self, key: str, default: int) -> int:
        value = self.values.get(key, default)
        if type(value) is int and 1 <= value < 2**62:
            return value
        raise self._wrong(key, "a whole number from 1 on")

    def duration(self, key: str, default: int) -> int:
        if key not in self.values:
            return default
        try:
            return parse_duration(self.values[key])
        except EventError as error:
            raise DefinitionError(f"{self.prefix}{key}: {error}") from None

    def _wrong(self, key: str, expected: str) -> DefinitionError:
        return DefinitionError(f"{self.prefix}{key}: expected {expected}, found {shown(self.values.get(key))}")
