"""Words and signs of other query languages, with what ours write instead: one row of a table for each.

A row is looked up at the place of an error, by the text before and behind it; it never decides whether a text is right.
Not here: habits whose rewriting needs more than pieces of the text (habits).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, final

from .names import ALGEBRAIC, COMPOSITE, REGISTERED, SEQUENTIAL, WINDOWED

BEFORE_MAX: Final = 200
"""So many characters before an error are looked at."""

_ALL: Final = (ALGEBRAIC, SEQUENTIAL, COMPOSITE, REGISTERED, WINDOWED)


@final
@dataclass(frozen=True, slots=True)
class Borrowing:
    """`here` begins at the place of the error, `before` ends there; `instead` has their named groups in braces."""

    languages: tuple[str, ...]
    before: re.Pattern[str]
    here: re.Pattern[str]
    instead: str


def _row(languages: str | tuple[str, ...], before: str, here: str, instead: str) -> Borrowing:
    named = (languages,) if isinstance(languages, str) else languages
    flags = re.IGNORECASE | re.DOTALL
    return Borrowing(named, re.compile(rf"(?:{before})\Z", flags), re.compile(here, flags), instead)


_SELECTED: Final = r"SELECT\s.+\sFROM\s+(?P<w>\w+\s+(?:BY\s+\w+\s+)?WINDOW)"
_SIZE: Final = r"\(?\s*(?:SIZE\s+)?(?P<d>[0-9]+\s*[a-z]+)"
_VALUE: Final = r"-?[0-9]+(?:\.[0-9]+)?"

BORROWINGS: Final[tuple[Borrowing, ...]] = (
    # --- in all languages ---
    _row(_ALL, "", r";\s*\Z", "the query without ';' at its end"),
    _row(_ALL, "", r"'[0-9]{4}-[0-9]{2}-[0-9]{2}[^']*'", "a time as a number of microseconds since 1970"),
    _row(_ALL, r"[<>=]\s*", rf"'(?P<n>{_VALUE})'", "{n}, without quotes"),
    _row(_ALL, r"[^0-9](?P<a>[0-9]+)", r",(?P<b>[0-9]+)", "{a}.{b}, with a decimal point"),
    _row(_ALL, r"BETWEEN\s+\S+\s+", r"TO\s+(?P<b>\S+?)(?=[\s)}\]]|\Z)", "AND {b}"),
    _row(_ALL, r"\b(?P<a>[\w.]+)\s+", r"ILIKE\s+(?P<p>'[^']*')", "{a} LIKE~ {p}, where * is any text"),
    _row(_ALL, r"\b(?P<a>[\w.]+)\s+", r"(?:REGEXP|RLIKE|SIMILAR\s+TO)\s+(?P<p>'[^']*')", "{a} MATCHES {p}"),
    _row(_ALL, "", r"ORDER\s+BY\b", "no ORDER BY: results come in the order of time; whoever reads them sorts them"),
    _row(
        (ALGEBRAIC, COMPOSITE), r"\b(?P<s>\w+)\s*", r"\?",
        f"an element that may be absent in language = {SEQUENTIAL!r}, as {{s}}? a",
    ),
    _row(_ALL, "", r"LIMIT\b", "no LIMIT: whoever reads results stops when enough have come"),
    # --- aggregates of SQL ---
    _row(
        (ALGEBRAIC, COMPOSITE, REGISTERED), r"\b(?P<f>count)\s*\(\s*", r"\*",
        "a window, FROM stream WINDOW ... AGGREGATE {f}() AS n",
    ),
    _row(
        (ALGEBRAIC, COMPOSITE, REGISTERED), "", r"(?P<f>count|sum|avg|min|max)\s*\(\s*(?P<x>\w*)\s*\)",
        "a window, FROM stream WINDOW ... AGGREGATE {f}({x}) AS n",
    ),
    _row(_ALL, r"\s*", rf"{_SELECTED}\s+TUMBL\w*\s*{_SIZE}", "FROM {w} EVERY {d} AGGREGATE count() AS n"),
    _row(_ALL, r"\s*", rf"{_SELECTED}\s+(?:HOP|SLID)\w*\s*{_SIZE}", "FROM {w} LAST {d} AGGREGATE count() AS n"),
    _row(_ALL, r"\s*", rf"{_SELECTED}(?P<r>\b.*)", "FROM {w} {r} AGGREGATE count() AS n"),
    _row(
        ALGEBRAIC, r"\bFROM\s+(?P<w>\w+)\s+", r"WINDOW\b",
        f"FROM {{w}} WINDOW EVERY 5 min AGGREGATE count() AS n in language = {WINDOWED!r}",
    ),
    _row(WINDOWED, "", r"SELECT\s+(?P<x>.+?)(?=\s*PUBLISH\b|\s*\Z)", "AGGREGATE {x}"),
    _row(WINDOWED, "", r"HAVING\s+(?P<c>.+?)\s*\Z", "PUBLISH name, and FILTER{{...}}(name) in a second subscription"),
    _row(ALGEBRAIC, "", r"HAVING\s+(?P<c>.+?)\s*\Z", "FILTER{{{c}}}(...) around the query"),
    # --- operators on streams ---
    _row(ALGEBRAIC, r"FILTER\s*", r"\((?P<c>[^()]*)\)", "FILTER{{{c}}}"),
    _row(ALGEBRAIC, r"(?P<o>NEXT|FOLD)\s*", r"\((?P<c>[^()]*)\)", "{o}{{{c}}}"),
    _row(ALGEBRAIC, r"NEXT\s+", r"(?P<b>\w+)", "NEXT{{}} {b}"),
    _row(ALGEBRAIC, r"(?P<a>\w+)\s*", r"->\s*(?P<b>\w+)", "{a} NEXT{{}} {b}"),
    _row(
        ALGEBRAIC, r"(?P<a>\w+)\s+",
        r"(?:INNER\s+|LEFT\s+)?JOIN\s+(?P<b>\w+)\s+ON\s+\w+\.(?P<x>\w+)\s*=\s*\w+\.(?P<y>\w+)",
        "{a} NEXT{{$2.{y} = $1.{x}}} {b}",
    ),
    _row(ALGEBRAIC, r"\bevery\s+", r"(?P<b>\w+)", "{b} alone, since each of its events begins a match"),
    _row(ALGEBRAIC, r"\s*\w+\s*", r",\s*(?P<b>\w+)", "NEXT{{}} {b} for one after the other, UNION {b} for both"),
    _row(ALGEBRAIC, r"INSERT\s+", r"INTO\s+(?P<x>\w+)", "the query with PUBLISH {x} at its end"),
    _row(ALGEBRAIC, r"DISTINCT\s+", r"(?P<x>\w+)", "{x} without DISTINCT; NEXT and FOLD see what came before"),
    # --- sequences ---
    _row(SEQUENTIAL, r"WITHIN\s[^{]*", r"WHERE\b", "WHERE ... before WITHIN"),
    _row(SEQUENTIAL, r"\s*PATTERN\s+", r"(?P<e>\w+\s+\w+(?:\s*,\s*\w+\s+\w+)*)\s+WHERE\b", "PATTERN SEQ({e})"),
    _row(
        SEQUENTIAL, r"\s*PATTERN\s+", r"\(",
        "PATTERN SEQ(Stream a, Stream+ b[]), and conditions in braces behind a strategy instead of DEFINE",
    ),
    _row(SEQUENTIAL, r"SEQ\s*\([^)]*", r";", "',' between the elements of SEQ"),
    _row(SEQUENTIAL, r"SEQ\s*\([^)]*", r"!\s*\(?\s*(?P<e>\w+\s+\w+)", "~({e})"),
    _row(SEQUENTIAL, r"[(,|]\s*(?P<s>\w+)\s*(?P<k>[+*]|\{[^}]*\})\s*(?P<a>\w+)\s*", r"[,|)]", "{s}{k} {a}[]"),
    _row(SEQUENTIAL, r"[(,|]\s*(?P<s>\w+)\s+(?P<a>\w+)\s*", r"\[\s*\]\s*[+*]", "{s}+ {a}[]"),
    _row(SEQUENTIAL, r"SEQ\s*\((?:[^)]*,)?\s*(?P<a>\w+)\s*", r"[,)]", "Stream {a}: the stream before each variable"),
    _row(SEQUENTIAL, r"WHERE\s*", r"\{", "a strategy for all variables, as in skip_till_next_match(a, b) {{...}}"),
    _row(SEQUENTIAL, r"\bprev\s*\(\s*", r"(?P<a>\w+)\.(?P<x>\w+)", "{a}[i-1].{x}"),
    _row(SEQUENTIAL, r"\blast\s*\(\s*(?P<a>\w+)\s*\)\s*", r"\.\s*(?P<x>\w+)", "last({a}[].{x})"),
    _row(SEQUENTIAL, "", r"(?:PARTITION\s+)?BY\s+(?P<x>\w+)", "[{x}] among the conditions in braces"),
    # --- composite subscriptions ---
    _row(COMPOSITE, r"(?P<a>\w+)\s*", r"(?:->|then\b|followed\s+by\b)\s*(?P<b>\w+)", "{a}; {b}"),
    _row(COMPOSITE, r"FROM\s+\w+\s+", r"(?P<a>\w+)\s*=\s*(?P<p>[^\n]+?)\s*(?=\bMATCH\b|\n)", "{a}: {p}"),
    _row(COMPOSITE, "", r"[,;]\s*(?P<b>\w+)\s*:", "{b}: ... with nothing but a space before it"),
    _row(COMPOSITE, r"MATCH\s.*", r"[+*]", f"repetition in language = {SEQUENTIAL!r}, as Stream+ a[]"),
    _row(
        COMPOSITE, r"@\s*\(\s*t\s*\(\s*(?P<b>\w+)\s*\)\s*", r"(?P<o>[<>=!]+)\s*(?P<d>[0-9]+\s*\w*)",
        "t({b}) - t(another) {o} {d}, the time between two events",
    ),
    _row(COMPOSITE, r"MATCH\s.*", r"BY\s+(?P<x>\w+)", "BY {x} behind FROM, before the definitions"),
    # --- windows ---
    _row(WINDOWED, "", rf"TUMBL\w*\s*{_SIZE}", "EVERY {d}"),
    _row(WINDOWED, "", rf"(?:HOP|SLID)\w*\s*{_SIZE}", "LAST {d}"),
    _row(WINDOWED, r"(?:MATCHING|AFTER)\s+", r"(?P<c>\w+\s*(?:=|!=|<=?|>=?)\s*(?:'[^']*'|[-\w.]+))", "[{c}]"),
    _row(
        WINDOWED, r"\s*FROM\s+\w+\s*", r",\s*\w+",
        f"one stream, which a query in language = {ALGEBRAIC!r} with UNION and PUBLISH makes of two",
    ),
    # --- automata with registers ---
    _row(REGISTERED, r"->\s*(?P<b>\w+)\s+(?:IF|WHERE)\s+", r"(?P<c>[^\n]+?)\s*(?=\n|\Z)", "-> {b} WHEN {c}"),
    _row(REGISTERED, "", r":=?\s*=?\s*(?P<v>[^\s,]+)", "= {v}"),
    _row(REGISTERED, "", r"=>\s*(?P<b>\w+)", "-> {b}"),
    _row(REGISTERED, r"(?P<n>\w+)\s+(?P<t>INT|FLOAT|STRING|BOOL)\s*", r"START\b|,", "{n} {t} = and its first value"),
)  # fmt: skip


def borrowed(text: str, at: int, language: str) -> str | None:
    """Return what is written instead of a word or sign of another language at the place `at`; None if there is none.
    O(rows)."""
    left = text[max(0, at - BEFORE_MAX) : at]
    for row in BORROWINGS:
        if language in row.languages:
            here = row.here.match(text, at)
            before = None if here is None else row.before.search(left)
            if here is not None and before is not None:
                found = {**before.groupdict(), **here.groupdict()}
                return row.instead.format(**{name: " ".join(value.split()) for name, value in found.items()})
    return None
