"""What users of SQL, Esper and Flink write by habit, and what our languages say instead, with the rewritten text.

A habit is recognised by the text around the place of an error; it never decides whether a text is right. Here are texts
only: nothing is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from ..events.instant import UNITS
from .borrowed import borrowed
from .names import ALGEBRAIC, COMPOSITE, SEQUENTIAL, WINDOWED, language_meant

_LEFT: Final = re.compile(r"((?:\$?[0-9]*\.)?[A-Za-z_][\w.\[\]-]*|\$[0-9]*\.[A-Za-z_]\w*)\s*\Z")
_OPERAND: Final = r"('(?:[^']|'')*'|[-\w.$]+)"
_LIKE: Final = re.compile(r"\bLIKE\s+'[^'*?\\]*'", re.IGNORECASE)
_NULL: Final = re.compile(r"NULL\b", re.IGNORECASE)
_COMPARED: Final = re.compile(r"(=|!=|<>|\bNOT)\s*\Z", re.IGNORECASE)
_CASED: Final = re.compile(r"\bCASE\s+\Z", re.IGNORECASE)
_CASE: Final = re.compile(rf"([A-Za-z_][\w.\[\]-]*)\s+WHEN\s+{_OPERAND}\s+THEN\b", re.IGNORECASE)
_NEXT: Final = r"(?=\b(?:PUBLISH|MATCH|GROUP|ORDER|LIMIT|HAVING|WINDOW|WITHIN)\b|\Z)"
_WHERE: Final = re.compile(rf"WHERE\s+(.+?)\s*{_NEXT}", re.IGNORECASE | re.DOTALL)
_WITHIN: Final = re.compile(r"WITHIN\s+([0-9.]+\s*\w*)", re.IGNORECASE)
_GROUP: Final = re.compile(r"GROUP\s+BY\s+([\w]+(?:\s*,\s*\w+)*)", re.IGNORECASE)
_MINUTES: Final = re.compile(r"m\b")
_NUMBER: Final = re.compile(r"([0-9][0-9.]*)\s*\Z")
_DURATION: Final = re.compile(rf"'\s*([0-9.]+)\s*({'|'.join(UNITS)})\s*'", re.IGNORECASE)
_NOT: Final = re.compile(r"\bNOT\s+((?:\w+\s+)?\w*)\Z", re.IGNORECASE)
_SEQUENCE: Final = re.compile(r"SEQ\s*\((.*?)\)\s*WHERE\b", re.IGNORECASE | re.DOTALL)
_COUNT: Final = re.compile(r"\bcount\s*\(\s*(\w+)\s*\[\s*\]\s*\Z", re.IGNORECASE)
_STRATEGY: Final = re.compile(r"(skip_till_\w+|strict_contiguity|partition_contiguity)\s*\([^)]*\)", re.IGNORECASE)
_CONDITIONS: Final = re.compile(r"\bWHERE\b(.*?)(?=\bWITHIN\b|\bRETURN\b|\bPUBLISH\b|\Z)", re.IGNORECASE | re.DOTALL)
_LEFT_MAX: Final = 200
"""So many characters before an error are looked at."""

Habit: TypeAlias = Callable[[str, int], str | None]
"""The text to write instead, given the text and the place of the error; None if it is another mistake."""


def habit(text: str, at: int) -> str:
    """Return the end of an error message for the place `at`: what is written instead; or nothing. O(text)."""
    instead = borrowed(text, at, language_meant(text))
    if instead is not None:
        return f"; not in this language: write {instead}"
    for look in _HABITS:
        found = look(text, at)
        if found is not None:
            return f"; not in this language: write {found}"
    return ""


def _left(text: str, at: int) -> str | None:
    match = _LEFT.search(text[max(0, at - _LEFT_MAX) : at])
    return None if match is None else match.group(1)


def _null(text: str, at: int) -> str | None:
    """NULL as a value; the error is at NULL, behind a comparison or NOT."""
    compared = _COMPARED.search(text[max(0, at - _LEFT_MAX) : at])
    if compared is None or _NULL.match(text, at) is None:
        return None
    left = _left(text, at - len(compared.group()))
    return None if left is None else f"{left} IS {'' if compared.group(1) == '=' else 'NOT '}NULL"


def _case(text: str, at: int) -> str | None:
    """CASE with a value that is compared; the error is at the value."""
    match, word = _CASE.match(text, at), _CASED.search(text[max(0, at - _LEFT_MAX) : at])
    return None if match is None or word is None else f"CASE WHEN {match.group(1)} = {match.group(2)} THEN ..."


def _where(text: str, at: int) -> str | None:
    match = _WHERE.match(text, at)
    if match is None:
        return None
    source = _left(text, at) or "Stream"
    condition = _condition(match.group(1), source)
    if language_meant(text) == WINDOWED and "AGGREGATE" in text[:at].upper():
        return f"PUBLISH Chosen, and FILTER{{{condition}}}(Chosen) in a second subscription"
    if language_meant(text) == WINDOWED:
        return f"FILTER{{{condition}}}({source}) PUBLISH Chosen in a subscription before, and FROM Chosen here"
    if text.lstrip()[:4].upper() == "FROM":
        return f"a definition, FROM {source} a: {condition} MATCH a"
    return f"SELECT * FROM FILTER{{{condition}}}({source})"


def _condition(written: str, source: str) -> str:
    """A condition of SQL on one stream, in our words."""
    text = re.sub(rf"\b{re.escape(source)}\.", "", " ".join(written.split())).replace("==", "=").replace("<>", "!=")
    return _LIKE.sub(lambda like: like.group().replace("%", "*").replace("_", "?"), text)


def _within(text: str, at: int) -> str | None:
    match = _WITHIN.match(text, at)
    if match is None or language_meant(text) != ALGEBRAIC:
        return None
    return f"FILTER{{DUR <= {match.group(1).strip()}}}(...) around the pattern"


def _group(text: str, at: int) -> str | None:
    match = _GROUP.match(text, at)
    if match is None:
        return None
    names = [name.strip() for name in match.group(1).split(",")]
    if text.lstrip()[:4].upper() == "FROM":
        return f"FROM stream BY {', '.join(names)}"
    joins = " AND ".join(f"$2.{name} = $.{name}" for name in names)
    return f"FOLD{{{joins}, , ...}}, whose steps join the events of one {' and '.join(names)}"


def _minutes(text: str, at: int) -> str | None:
    match = _NUMBER.search(text[max(0, at - _LEFT_MAX) : at])
    return None if match is None or _MINUTES.match(text, at) is None else f"{match.group(1)} min"


def _duration(text: str, at: int) -> str | None:
    match = _DURATION.match(text, at)
    return None if match is None else f"{match.group(1)} {match.group(2)}, without quotes"


def _negation(text: str, at: int) -> str | None:
    """NOT before an event; the error is at NOT, or behind it."""
    language = language_meant(text)
    if language == ALGEBRAIC:
        return None
    word = re.compile(r"NOT\s+((?:\w+\s+)?\w+)", re.IGNORECASE).match(text, at)
    if word is None:
        before = _NOT.search(text[max(0, at - _LEFT_MAX) : at])
        rest = re.compile(r"\w+").match(text, at)
        if before is None or rest is None:
            return None
        named = f"{before.group(1)}{rest.group()}"
    else:
        named = word.group(1)
    if language == COMPOSITE:
        return f'the pattern in language = "{SEQUENTIAL}", where ~(Stream {named.split()[-1]}) is negation'
    return f"~({' '.join(named.split())})" if " " in named.strip() else f"~(Stream {named.strip()})"


def _count(text: str, at: int) -> str | None:
    match = _COUNT.search(text[max(0, at - _LEFT_MAX) : at])
    return None if match is None else f"{match.group(1)}.LEN"


def _unbraced(text: str, at: int) -> str | None:
    """Conditions of SASE+ without braces, or without a strategy."""
    sequence, conditions = _SEQUENCE.search(text), _CONDITIONS.search(text)
    if sequence is None or conditions is None or "{" in text or not conditions.start() <= at <= conditions.end():
        return None
    said = " ".join(conditions.group(1).split())
    if not re.search(r"[<>=]", said):
        return None
    strategy = _STRATEGY.search(said)
    if strategy is not None:
        rest = re.sub(r"^AND\s+", "", said[strategy.end() :].strip(), flags=re.IGNORECASE)
        return f"WHERE {strategy.group()} {{ {rest} }}" if rest else None
    if re.match(r"\w+\s*\(", said):
        return None  # a misspelt strategy
    variables = [part.split()[-1] for part in sequence.group(1).split(",") if part.split() and "~" not in part]
    return f"WHERE skip_till_next_match({', '.join(variables)}) {{ {said} }}"


def _pattern(text: str, at: int) -> str | None:
    begins = text.lstrip()[:3].upper() == "SEQ" and at == len(text) - len(text.lstrip())
    return f"PATTERN {text.lstrip()[:20].partition('(')[0]}(..." if begins else None


_HABITS: Final[tuple[Habit, ...]] = (
    _null, _case, _where, _within, _group, _minutes, _duration, _count, _unbraced, _pattern,
    _negation,
)  # fmt: skip
