"""Rules without an engine: each is tested on each event, as a plain program would do it. The truth for `--verify`.

Here: the meaning of a condition by other means than the engine's: `re` and `ipaddress`. Not here: how fast that is.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from .rules import Condition, FieldTest, Rule

Event = Mapping[str, str]
Test = Callable[[Event], bool]


def matches(rules: list[Rule], events: list[Event]) -> list[tuple[str, int]]:
    """The id of a rule and the number of an event, from 1, for each match, ordered."""
    tests = [(rule.id, _test(rule.condition)) for rule in rules]
    return sorted((id, number) for number, event in enumerate(events, 1) for id, test in tests if test(event))


def _test(condition: Condition) -> Test:
    if isinstance(condition, FieldTest):
        return _field_test(condition)
    parts = [_test(part) for part in condition.parts]
    if condition.how == "all":
        return lambda event: all(part(event) for part in parts)
    if condition.how == "any":
        return lambda event: any(part(event) for part in parts)
    return lambda event: not parts[0](event)


def _field_test(test: FieldTest) -> Test:
    field = test.field
    match test.kind:
        case "null":
            return lambda event: field not in event
        case "same":
            other = test.patterns[0]
            return lambda event: field in event and other in event and event[field].lower() == event[other].lower()
        case "cidr":
            networks = [ipaddress.ip_network(each) for each in test.patterns]
            return lambda event: field in event and _inside(event[field], networks)
        case "like" | "like~":
            # Wildcards that frame a text without wildcards are looked for as texts: that is 20 times as fast.
            folds = test.kind == "like~"
            found = [_like(each.lower() if folds else each) for each in test.patterns]
            return lambda event: field in event and _any(found, _lower(event[field]) if folds else event[field])
        case _:
            flags = re.ASCII | (re.IGNORECASE if test.kind == "matches~" else 0)
            regexes = [re.compile(each, flags) for each in test.patterns]
            return lambda event: field in event and any(each.search(event[field]) for each in regexes)


@lru_cache(maxsize=64)
def _lower(text: str) -> str:
    return text.lower()


def _any(tests: list[Callable[[str], bool]], text: str) -> bool:
    return any(test(text) for test in tests)


def _inside(text: str, networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    plain = getattr(address, "ipv4_mapped", None) or address
    return any(plain in network for network in networks)


def _like(pattern: str) -> Callable[[str], bool]:
    parts = re.findall(r"\\.|[^\\]", pattern, re.DOTALL)
    begins, ends = parts[:1] == ["*"], parts[-1:] == ["*"]
    inner = parts[begins : len(parts) - ends if len(parts) > 1 else None]
    if "*" not in inner and "?" not in inner:
        text = "".join(part[-1] for part in inner)
        if begins and ends:
            return lambda value: text in value
        if begins:
            return lambda value: value.endswith(text)
        return (lambda value: value.startswith(text)) if ends else (lambda value: value == text)
    signs = {"*": ".*", "?": "."}
    regex = re.compile("".join(signs.get(part) or re.escape(part[-1]) for part in parts), re.DOTALL)
    return lambda value: regex.fullmatch(value) is not None
