"""What SIGHUP changes: each setting is applied, or named as one that needs a restart."""

from __future__ import annotations

import gc
import json
import logging
from collections.abc import Iterator
from dataclasses import fields, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from doubles.kernel_rig import ANN, Rig, subscribe

from broker.kernel import Limits, Quota, Reconfigure, User, open_access
from broker.server import ServerConfiguration, read_configuration, serving
from broker.server.audit_log import AuditSettings
from broker.server.logs import LOG, Formatter
from broker.server.opening import Journalling
from broker.server.tracing import TraceSettings

OTHER: dict[str, Any] = {
    "address": "tcp://127.0.0.1:1",
    "subscriptions": Path("other.toml"),
    "limits": Limits(sessions=7),
    "drain": 7,
    "keys": Path("other.keys"),
    "insecure": True,
    "user_keys": {"b" * 40: User("ben")},
    "quota": Quota(connections=7),
    "log_level": "debug",
    "log_format": "json",
    "console": "http://127.0.0.1:1",
    "console_open": True,
    "console_tokens": Path("other.tokens"),
    "console_certificate": Path("other.pem"),
    "console_key": Path("other.key"),
    "console_proxy": True,
    "console_writes": True,
    "model": Path("other.json"),
    "journal": Journalling(Path("other")),
    "io_threads": 2,
    "audit": AuditSettings(Path("other.jsonl")),
    "traces": TraceSettings(7),
}
"""Another value of each setting."""


@pytest.fixture
def log() -> Iterator[StringIO]:
    level, handlers, written = LOG.level, list(LOG.handlers), StringIO()
    yield written
    LOG.handlers[:] = handlers
    LOG.setLevel(level)


@pytest.mark.parametrize("name", [each.name for each in fields(ServerConfiguration)])
def test_each_setting_is_applied_or_said_to_need_a_restart(
    name: str, log: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert name in OTHER, "a new setting: say here what else it may be, and see what SIGHUP does with it"
    opened: list[tuple[str, str]] = []

    def open_log(level: str, form: str) -> None:
        opened.append((level, form))
        handler = logging.StreamHandler(log)
        handler.setFormatter(Formatter(as_json=True))
        LOG.handlers[:] = [handler]
        LOG.setLevel(level.upper())

    monkeypatch.setattr(serving, "open_log", open_log)
    keyed: dict[str, Any] = {"keys": Path("a.keys"), "user_keys": {"a" * 40: User("ann")}}
    started = ServerConfiguration(**(keyed if name in keyed else {}))
    new = replace(started, **{name: OTHER[name]})
    assert new != started
    limits, access = serving._reloading(started, lambda: new)()
    assert (limits, access) == (new.limits, new.access())
    assert opened == [(new.log_level, new.log_format)]
    applied = (limits, access, opened) != (started.limits, started.access(), [(started.log_level, started.log_format)])
    named = [json.loads(line)["settings"] for line in log.getvalue().splitlines()]
    assert len(named) == (not applied)
    for written in named:  # as the file calls it
        section, _, key = written.partition(".")
        with pytest.raises(Exception, match=rf"f\.toml: {written}"):
            read_configuration(f"[{section}]\n{key} = []" if key else f"{section} = []", "f.toml")


def test_a_broker_uses_no_limit_any_more_that_was_replaced() -> None:
    """Of a kernel with sessions, subscriptions and counts, no object has an old limit: each is told by its identity."""
    before = Limits(**{each.name: 300 + at for at, each in enumerate(fields(Limits))})
    after = Limits(**{each.name: 400 + at for at, each in enumerate(fields(Limits))})
    rig = Rig(before)
    rig.say(ANN, subscribe())
    old = {id(getattr(before, each.name)): each.name for each in fields(Limits)}

    def reached() -> set[str]:
        seen, stack, found = set(), [rig.kernel], set()
        while stack:
            each: Any = stack.pop()
            if id(each) in seen or isinstance(each, type) or each is before or hasattr(each, "__globals__"):
                continue
            seen.add(id(each))
            if id(each) in old:
                found.add(old[id(each)])
            stack += gc.get_referents(each)
        return found

    rig.kernel.limits = after
    assert reached(), "there are others who have a limit"
    rig.step(Reconfigure(after, open_access()))
    assert reached() == set()
