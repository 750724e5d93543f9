"""Sigma's detections: from YAML to a condition on fields, and from that to CEL.

A condition is a tree: ALL and ANY of conditions, NONE of one, or a test of a field. What a rule means is decided here,
as in Sigma's specification 2.1 and notes of pySigma: values ignore case, `*` and `?` are wildcards, a missing field
satisfies no test, and NOT of that is true. Not here: what is tested how (naive, or the engine).

A rule is licensed under DRL 1.1: whoever shows a match of it names its author.
"""

from __future__ import annotations

import base64
import fnmatch
import itertools
import re
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

ANY_TEXT: Final = "*"
ONE_CHARACTER: Final = "?"
DASHES: Final = "-/\u2013\u2014\u2015"
SPELLINGS_MAX: Final = 125

Kind: TypeAlias = Literal["like", "like~", "matches", "matches~", "cidr", "null", "same"]


class Untranslated(Exception):
    """A rule needs what CEL has not; the message says what."""


@dataclass(frozen=True, slots=True)
class FieldTest:
    """A test of a field by any of some patterns, as the operator of that name has them. "null" has none: the field is
    missing; the pattern of "same" is another field."""

    field: str
    kind: Kind
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Together:
    """Conditions of which all hold, or any, or of which the only one does not."""

    how: Literal["all", "any", "none"]
    parts: tuple[Condition, ...]


Condition: TypeAlias = FieldTest | Together


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    title: str
    author: str
    product: str | None
    category: str | None
    condition: Condition


def read_rule(document: dict[str, Any]) -> Rule:
    """The rule of a YAML document. Raises Untranslated."""
    detection = dict(document.get("detection", {}))
    written = detection.pop("condition", None)
    if written is None or "id" not in document:
        raise Untranslated("a condition and an id")
    detection.pop("timeframe", None)
    if isinstance(written, list):
        written = " or ".join(f"({each})" for each in written)
    source = document.get("logsource", {})
    condition = _ConditionReader(str(written), detection).read()
    author = str(document.get("author", "unknown"))
    return Rule(document["id"], document["title"], author, source.get("product"), source.get("category"), condition)


def _joined(how: Literal["all", "any"], parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else Together(how, tuple(parts))


# --- the condition ------------------------------------------------------------------------------------------------


class _ConditionReader:
    """Reads `selection and not 1 of filter_*`; names are selections of the detection."""

    def __init__(self, text: str, detection: dict[str, Any]) -> None:
        if "|" in text:
            raise Untranslated("an aggregation in the condition")
        self.words = re.findall(r"[()]|[^\s()]+", text)
        self.detection = detection

    def read(self) -> Condition:
        found = self._any()
        if self.words:
            raise Untranslated(f"{self.words[0]!r} in the condition")
        return found

    def _next(self, *wanted: str) -> bool:
        if self.words and self.words[0].lower() in wanted:
            self.words.pop(0)
            return True
        return False

    def _any(self) -> Condition:
        parts = [self._all()]
        while self._next("or"):
            parts.append(self._all())
        return _joined("any", parts)

    def _all(self) -> Condition:
        parts = [self._one()]
        while self._next("and"):
            parts.append(self._one())
        return _joined("all", parts)

    def _one(self) -> Condition:
        if self._next("not"):
            return Together("none", (self._one(),))
        if self._next("("):
            found = self._any()
            if not self._next(")"):
                raise Untranslated("a parenthesis without its end")
            return found
        word = self.words.pop(0)
        if word.lower() in ("1", "any", "all") and self._next("of"):
            return _joined("all" if word.lower() == "all" else "any", self._named(self.words.pop(0)))
        if word not in self.detection:
            raise Untranslated(f"the unknown selection {word!r}")
        return _selection(self.detection[word])

    def _named(self, pattern: str) -> list[Condition]:
        names = [name for name in self.detection if not name.startswith("_")]
        if pattern.lower() != "them":
            names = [name for name in self.detection if fnmatch.fnmatchcase(name, pattern)]
        if not names:
            raise Untranslated(f"no selection is called {pattern!r}")
        return [_selection(self.detection[name]) for name in names]


# --- selections ---------------------------------------------------------------------------------------------------


def _selection(value: Any) -> Condition:
    if isinstance(value, dict):
        return _joined("all", [_item(str(key), each) for key, each in value.items()])
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return _joined("any", [_selection(each) for each in value])
    raise Untranslated("keywords without a field")


def _item(key: str, value: Any) -> Condition:
    field, *modifiers = key.split("|")
    if not field:
        raise Untranslated("keywords without a field")
    values = value if isinstance(value, list) else [value]
    every = "all" in modifiers
    tests = [_test(field, [each for each in modifiers if each != "all"], one) for one in values]
    if every:
        return _joined("all", tests)
    merged: dict[Kind, list[str]] = {}
    others: list[Condition] = []
    for test in tests:
        if isinstance(test, FieldTest) and test.patterns:
            merged.setdefault(test.kind, []).extend(test.patterns)
        else:
            others.append(test)
    return _joined("any", [*(FieldTest(field, kind, tuple(them)) for kind, them in merged.items()), *others])


def _test(field: str, modifiers: list[str], value: Any) -> Condition:
    if value is None:
        return FieldTest(field, "null")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if modifiers[:1] == ["re"]:
        flags = "".join(sorted(set(modifiers[1:]) & set("ims")))
        return FieldTest(field, "matches", (f"(?{flags}){text}" if flags else text,))
    match modifiers:
        case ["cidr"]:
            return FieldTest(field, "cidr", (text,))
        case ["fieldref"]:
            return FieldTest(field, "same", (text,))
        case ["exists"]:
            missing = FieldTest(field, "null")
            return missing if text == "false" else Together("none", (missing,))
    return _wildcards(field, modifiers, text)


def _wildcards(field: str, modifiers: list[str], text: str) -> Condition:
    """A test by wildcards. The modifiers come in order: `wide` before `base64offset` before `contains`."""
    spellings = [_tokens(text)]
    before, behind, kind = "", "", "like~"
    for modifier in modifiers:
        if modifier in ("contains", "startswith", "endswith"):
            before = ANY_TEXT if modifier != "startswith" else ""
            behind = ANY_TEXT if modifier != "endswith" else ""
        elif modifier == "cased":
            kind = "like"
        elif modifier == "windash":
            spellings = [other for one in spellings for other in _dashed(one)]
        elif modifier in ("wide", "utf16le", "base64", "base64offset"):
            spellings = [other for one in spellings for other in _encoded(modifier, one)]
        else:
            raise Untranslated(f"the modifier {modifier!r}")
    patterns = tuple(dict.fromkeys(f"{before}{_pattern(each)}{behind}" for each in spellings))
    return FieldTest(field, "like" if kind == "like" else "like~", patterns)


Tokens: TypeAlias = "list[tuple[str, bool]]"
"""The characters of a value; True: a wildcard."""


def _tokens(text: str) -> Tokens:
    found: Tokens = []
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character == "\\" and text[at : at + 1] in ("*", "?", "\\"):
            found.append((text[at], False))
            at += 1
        else:
            found.append((character, character in "*?"))
    return found


def _pattern(tokens: Tokens) -> str:
    """The pattern of LIKE."""
    return "".join(f"\\{each}" if each in "*?\\" and not wild else each for each, wild in tokens)


def _dashed(tokens: Tokens) -> list[Tokens]:
    """With each dash or slash that begins an option in all five spellings."""
    text = "".join(each for each, _ in tokens)
    places = [match.start() for match in re.finditer(r"\B[-/]\b", text)]
    if len(DASHES) ** len(places) > SPELLINGS_MAX:
        raise Untranslated("too many spellings of dashes")
    found = []
    for chosen in itertools.product(DASHES, repeat=len(places)):
        own = list(tokens)
        for place, dash in zip(places, chosen):
            own[place] = (dash, False)
        found.append(own)
    return found


def _encoded(modifier: str, tokens: Tokens) -> list[Tokens]:
    if any(wild for _, wild in tokens):
        raise Untranslated("wildcards in an encoded value")
    plain = "".join(each for each, _ in tokens)
    if modifier in ("wide", "utf16le"):
        texts = [plain.encode("utf-16-le").decode("latin-1")]
    elif modifier == "base64":
        texts = [base64.b64encode(plain.encode("latin-1", "replace")).decode()]
    else:
        data = plain.encode("latin-1", "replace")
        ends = [None, -3, -2]
        texts = [
            base64.b64encode(b" " * shift + data)[(0, 2, 3)[shift] : ends[(len(data) + shift) % 3]].decode()
            for shift in range(3)
        ]
    return [[(each, False) for each in text] for text in texts]


# --- as CEL -------------------------------------------------------------------------------------------------------


def fields_of(condition: Condition) -> list[str]:
    """The fields that a condition reads."""
    if isinstance(condition, Together):
        return [field for part in condition.parts for field in fields_of(part)]
    return [condition.field, *(condition.patterns if condition.kind == "same" else ())]


def attribute_of(field: str) -> str:
    """The attribute of a field: names have letters, digits and `_` only, and do not begin with a digit."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", field)
    return f"_{name}" if name[:1].isdigit() or name.upper() in ("NOT", "TRUE", "FALSE", "DUR") else name


def query_of(rule: Rule, stream: str) -> str:
    """The subscription in CEL."""
    return f"FILTER{{{written(rule.condition)}}}({stream})"


def written(condition: Condition, wanted: bool = True) -> str:
    """The condition, or with `wanted` false that it does not hold. A null makes every comparison false, so that a
    missing field is asked for where a test must not hold."""
    if isinstance(condition, Together):
        if condition.how == "none":
            return written(condition.parts[0], not wanted)
        word = " AND " if (condition.how == "all") is wanted else " OR "
        return word.join(f"({written(part, wanted)})" for part in condition.parts)
    name = attribute_of(condition.field)
    if condition.kind == "null":
        return f"{name} IS {'' if wanted else 'NOT '}NULL"
    if condition.kind == "same":
        other = attribute_of(condition.patterns[0])
        if wanted:
            return f"lower({name}) = lower({other})"
        return f"{name} IS NULL OR {other} IS NULL OR lower({name}) != lower({other})"
    quoted = ["'" + each.replace("'", "''") + "'" for each in condition.patterns]
    listed = quoted[0] if len(quoted) == 1 else f"({', '.join(quoted)})"
    test = f"{condition.kind.upper()} {listed}"
    return f"{name} {test}" if wanted else f"{name} IS NULL OR {name} NOT {test}"
