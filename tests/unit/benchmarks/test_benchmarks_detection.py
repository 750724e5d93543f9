"""Detection rules as subscriptions: what their conditions become in CEL, which finds what a plain loop finds."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.detection.events import FIELDS, made_events
from benchmarks.detection.naive import Event, matches
from benchmarks.detection.rules import Rule, Untranslated, query_of, read_rule
from benchmarks.detection.trial import STREAM, load, publish, rows_of, schema
from broker.engine import Engine

EVENTS: list[Event] = [
    {"Image": "C:\\Windows\\System32\\CMD.exe", "CommandLine": "cmd /c whoami", "User": "CORP\\anna"},
    {"Image": "C:\\tools\\curl.exe", "CommandLine": "curl -O http://x*y", "DestinationIp": "10.1.2.3"},
    {"Image": "/bin/sh", "DestinationIp": "::ffff:10.0.0.1", "EventID": "4688"},
    {
        "CommandLine": "powershell \u2013enc d2hvYW1p",
        "ParentImage": "c:\\TOOLS\\CURL.EXE",
        "Image": "C:\\Tools\\curl.exe",
    },
    {"Image": "", "CommandLine": "a\nb"},
    {},
]
DETECTIONS: list[tuple[dict[str, Any], str, str]] = [
    ({"s": {"Image|endswith": ["\\cmd.exe", "\\sh"]}}, "s", "Image LIKE~ ('*\\\\cmd.exe', '*\\\\sh')"),
    (
        {"s": {"Image|startswith": "C:\\", "User": "corp\\anna"}},
        "s",
        "(Image LIKE~ 'C:\\\\*') AND (User LIKE~ 'corp\\\\anna')",
    ),
    (
        {"s": {"CommandLine|contains|all": ["cmd", "who"]}},
        "s",
        "(CommandLine LIKE~ '*cmd*') AND (CommandLine LIKE~ '*who*')",
    ),
    ({"s": {"CommandLine|contains": "x\\*y"}}, "s", "CommandLine LIKE~ '*x\\*y*'"),
    ({"s": {"EventID": 4688}}, "s", "EventID LIKE~ '4688'"),
    ({"s": [{"EventID": 4688}, {"User": None}]}, "s", "(EventID LIKE~ '4688') OR (User IS NULL)"),
    ({"s": {"User": None}}, "not s", "User IS NOT NULL"),
    ({"s": {"Image": ""}}, "s", "Image LIKE~ ''"),
    ({"s": {"Image|cased|endswith": "CMD.exe"}}, "s", "Image LIKE '*CMD.exe'"),
    ({"s": {"CommandLine|re": "^c.*\\sw"}}, "s", "CommandLine MATCHES '^c.*\\sw'"),
    ({"s": {"CommandLine|re|i": "^C"}}, "s", "CommandLine MATCHES '(?i)^C'"),
    ({"s": {"DestinationIp|cidr": ["10.0.0.0/8", "::1/128"]}}, "s", "DestinationIp CIDR ('10.0.0.0/8', '::1/128')"),
    ({"s": {"ParentImage|fieldref": "Image"}}, "s", "lower(ParentImage) = lower(Image)"),
    ({"s": {"User|exists": True}}, "s", "User IS NOT NULL"),
    (
        {"s": {"CommandLine|contains|windash": " -enc "}},
        "s",
        "CommandLine LIKE~ ('* -enc *', '* /enc *', '* \u2013enc *', '* \u2014enc *', '* \u2015enc *')",
    ),
    (
        {"s": {"CommandLine|base64offset|contains": "whoami"}},
        "s",
        "CommandLine LIKE~ ('*d2hvYW1p*', '*dob2Fta*', '*3aG9hbW*')",
    ),
    (
        {"a": {"Image|endswith": "exe"}, "filter_x": {"User|contains": "anna"}, "filter_y": {"User": None}},
        "a and not 1 of filter_*",
        "(Image LIKE~ '*exe') AND ((User IS NULL OR User NOT LIKE~ '*anna*') AND (User IS NOT NULL))",
    ),
    ({"a": {"Image": "x"}, "b": {"User": "y"}}, "1 of them", "(Image LIKE~ 'x') OR (User LIKE~ 'y')"),
    (
        {"a": {"Image": "x"}, "b": {"User": "y"}},
        "not (a or b)",
        "(Image IS NULL OR Image NOT LIKE~ 'x') AND (User IS NULL OR User NOT LIKE~ 'y')",
    ),
    (
        {"a": {"Image": "x", "User": "y"}},
        "not a",
        "(Image IS NULL OR Image NOT LIKE~ 'x') OR (User IS NULL OR User NOT LIKE~ 'y')",
    ),
]


def rule_of(detection: dict[str, Any], condition: str, number: int = 0) -> Rule:
    return read_rule({"id": f"r{number}", "title": "t", "detection": {**detection, "condition": condition}})


@pytest.mark.parametrize(("detection", "condition", "expected"), DETECTIONS)
def test_conditions_are_translated(detection: dict[str, Any], condition: str, expected: str) -> None:
    assert query_of(rule_of(detection, condition), STREAM) == f"FILTER{{{expected}}}({STREAM})"


@pytest.mark.parametrize(
    ("detection", "condition", "message"),
    [
        ({"k": ["word"]}, "k", "keywords"),
        ({"s": {"a|expand": "%x%"}}, "s", "'expand'"),
        ({"s": {"a": 1}}, "s | count() > 5", "aggregation"),
        ({"s": {"a": 1}}, "t", "unknown selection 't'"),
        ({"s": {"a": 1}}, "1 of t*", r"no selection is called 't\*'"),
    ],
)
def test_what_is_not_translated_says_why(detection: dict[str, Any], condition: str, message: str) -> None:
    with pytest.raises(Untranslated, match=message):
        rule_of(detection, condition)


def test_the_engine_finds_what_a_plain_loop_finds() -> None:
    rules = [rule_of(detection, condition, number) for number, (detection, condition, _) in enumerate(DETECTIONS)]
    engine, attributes = Engine(), schema(rules)
    engine.add_stream(STREAM, attributes)
    accepted, refused = load(engine, rules)
    assert (len(accepted), refused.total()) == (len(rules), 0)
    found = publish(engine, rows_of(EVENTS, list(attributes)), 1)
    assert found == matches(rules, EVENTS)
    assert len({id for id, _ in found}) >= len(rules) - 2


def test_made_events_are_the_same_again_and_have_all_fields() -> None:
    made = made_events(200, EVENTS[:3])
    assert made == made_events(200, EVENTS[:3])
    assert all(set(event) >= set(FIELDS) for event in made)
    assert 500 < sum(sum(map(len, event.values())) for event in made) / len(made) < 1200
    assert 5 < sum(event["CommandLine"] in ("cmd /c whoami", "curl -O http://x*y") for event in made) < 50
