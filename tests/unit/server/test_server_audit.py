"""The audit log: what its lines say, what they never say, how files are rotated, and what a full disk costs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from doubles.broker_process import broker_process
from doubles.guarded_rig import ANN, BEN, OPS, Rig, subscribe

from broker.kernel import Access, Limits, Received, User
from broker.kernel.inputs_and_effects import Audit
from broker.server import read_configuration
from broker.server.audit_log import AuditLog, AuditSettings, line_of, reconfigured
from broker.wire import (
    AddStream,
    Administer,
    Forget,
    Message,
    ResetTime,
    Settle,
    Subscribe,
    SubscribeMany,
    SubscriptionRequest,
    Unsubscribe,
    Update,
)
from client import Client, ForetellError

PATIENCE = 60
SECRET = "SELECT * FROM FILTER{price = 471147114711}(Secret)"
RISES = "FROM Stock START a FINAL b one: a -> b WHEN price > 471147114711"
CHANGE = Audit("ann", 7, "update", "rises", {"inserted": 1}, "done")


def audits(rig: Rig, identity: str, message: Message) -> list[tuple[Any, ...]]:
    """What is noted of a request: its action, name, outcome, code and details."""
    found = rig.kernel.step(Received(identity[:1].encode(), message, identity), 1_000_000).audits
    assert all(each.user == rig.kernel.owner(identity[:1].encode()) for each in found)
    return [(each.action, each.name, each.outcome, each.code, dict(each.details)) for each in found]


def test_each_change_is_noted_once_and_refused_ones_too() -> None:
    rig = Rig()
    language = {"language": "cayuga"}
    assert audits(rig, BEN, subscribe("x", SECRET)) == [("subscribe", "x", "done", None, language)]
    assert audits(rig, BEN, subscribe("wrong", "SELECT")) == [("subscribe", "wrong", "refused", "query", language)]
    assert audits(rig, ANN, subscribe("ann.x", SECRET)) == [("subscribe", "ann.x", "refused", "permission", language)]
    declared = AddStream(2, "Annals", {"x": "int"}, None, "arrival", None, None)
    assert audits(rig, ANN, declared) == [("declare-stream", "Annals", "done", None, {})]
    assert audits(rig, ANN, declared) == []  # nothing changes
    assert audits(rig, OPS, ResetTime(2, "Stock")) == [("reset-time", "Stock", "done", None, {})]
    assert audits(rig, ANN, ResetTime(2, "Stock")) == [("reset-time", "Stock", "refused", "permission", {})]
    assert audits(rig, BEN, Unsubscribe(2, "x")) == [("unsubscribe", "x", "done", None, {})]
    assert audits(rig, ANN, Forget(2, "mine")) == [("forget-cursor", "mine", "refused", "unknown-subscription", {})]
    assert audits(rig, ANN, Settle(2, "mine", (1, 2), True))[0][:3] == ("requeue", "mine", "refused")
    attribute = {"attribute": "size", "type": "int?"}
    added = Administer(2, "add-attribute", "Stock", None, attribute)
    assert audits(rig, OPS, added) == [("add-attribute", "Stock", "done", None, attribute)]
    closed = Administer(2, "close-session", "1")
    assert audits(rig, ANN, closed) == [("close-session", "1", "refused", "permission", {})]


def test_parameters_and_many_at_once() -> None:
    rig = Rig()
    rig.say(BEN, Subscribe(2, "rises", "afa", RISES, None, None, None, 100))
    changed = Update(2, "rises", ("two: a -> b WHEN price = 4712",), ("one",), None, None)
    assert audits(rig, BEN, changed) == [("update", "rises", "done", None, {"inserted": 1, "deleted": 1})]
    assert audits(rig, ANN, changed)[0][2:4] == ("refused", "permission")
    wanted = tuple(SubscriptionRequest(name, "cayuga", text) for name, text in (("a", SECRET), ("b", "SELECT")))
    assert audits(rig, BEN, SubscribeMany(2, wanted, 10)) == [
        ("subscribe", "a", "done", None, {"language": "cayuga"}),
        ("subscribe", "b", "refused", "query", {"language": "cayuga"}),
    ]


def test_a_line_has_what_applies() -> None:
    assert line_of(CHANGE, 1_000_000) == {
        "time": "1970-01-01T00:00:01Z",
        "user": "ann",
        "session": 7,
        "action": "update",
        "name": "rises",
        "outcome": "done",
        "details": {"inserted": 1},
    }
    refused = line_of(Audit("", 0, "reload", "configuration", {}, "refused", "definition"), 0)
    assert (refused["user"], refused["session"], refused["code"]) == (None, None, "definition")
    assert "details" not in refused


def test_a_configuration_that_was_read_again_names_what_differs() -> None:
    def users(**made: User) -> Access:
        return Access({name * 40: user for name, user in made.items()})

    before = Limits(), users(a=User("ann", read=("Stock",)), b=User("ben"))
    after = Limits(sessions=7), users(a=User("ann", read=("*",)), c=User("carl"))
    assert reconfigured(before, after).details == {
        "users added": ["carl"],
        "users removed": ["ben"],
        "users changed": ["ann"],
        "limits": ["sessions"],
    }
    assert reconfigured(before, before).details == {}


def test_files_are_rotated_by_size(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    size = len(json.dumps(line_of(CHANGE, 0))) + 1
    log = AuditLog(AuditSettings(path, 2 * size, 3))
    for _ in range(9):
        log.write([CHANGE], 0)
    log.close()
    assert {each.name: each.stat().st_size for each in tmp_path.iterdir()} == {
        "audit.jsonl": size, "audit.jsonl.1": 2 * size, "audit.jsonl.2": 2 * size,
    }  # fmt: skip
    assert path.stat().st_mode & 0o777 == 0o600
    log = AuditLog(AuditSettings(path, 2 * size, 1))
    log.write([CHANGE, CHANGE], 0)  # more than there is room for, but together
    log.close()
    assert path.stat().st_size == 2 * size


def test_a_full_disk_costs_lines_and_nothing_else(tmp_path: Path) -> None:
    log = AuditLog(AuditSettings(Path("/dev/full")))
    log.write([CHANGE], 0)
    assert log.lost == 1
    log.close()


def test_a_broker_writes_it_and_no_secrets(tmp_path: Path) -> None:
    text = 'address = "tcp://127.0.0.1:0"\n[audit]\npath = "audit.jsonl"\n'
    place = tmp_path / "foretell.toml"

    def lines() -> list[dict[str, Any]]:
        return [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]

    with broker_process(text, str(place)) as broker:
        with Client(broker.address, PATIENCE) as client:
            client.add_stream("Secret", {"price": "int"})
            client.subscribe("x", query=SECRET)
            with pytest.raises(ForetellError):
                client.subscribe("wrong", query="SELECT 471147114711")
            client.publish("Secret", {"price": 471147114711}, time=1)
        assert [(each["action"], each["name"], each["outcome"]) for each in lines()] == [
            ("declare-stream", "Secret", "done"),
            ("subscribe", "x", "done"),
            ("subscribe", "wrong", "refused"),
        ]
        assert {(each["user"], each["session"]) for each in lines()} == {("anybody", 1)}
    assert "471147114711" not in (tmp_path / "audit.jsonl").read_text()
    assert os.stat(tmp_path / "audit.jsonl").st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("bytes = 5", "audit.path: expected the path of a file, found none"),
        ('path = ""', "audit.path: expected the path of a file, found string ''"),
        ('path = "a"\nfiles = 0', "audit.files: expected a whole number from 1 on, found int 0"),
        ('path = "a"\nsize = 5', "unknown key 'audit.size'"),
    ],
)
def test_wrong_settings(table: str, complaint: str) -> None:
    with pytest.raises(ForetellError) as refused:
        read_configuration(f"[audit]\n{table}\n", "f.toml")
    assert complaint in str(refused.value)
