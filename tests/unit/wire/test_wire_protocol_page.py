"""The page on the protocol says what is: every message with its number and fields, the version, and every code."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Final

from broker.events import ERRORS
from broker.wire import VERSION, Busy, Expired, PermissionDenied, WireError
from broker.wire import shapes as s
from broker.wire.codec import MESSAGES

PAGE: Final = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text(encoding="utf-8")
WORDS: Final = {
    s.COUNT.expected: "count",
    s.INTEGER.expected: "integer",
    s.CREDITS.expected: "credits",
    s.TOKEN.expected: "token",
    s.FLAG.expected: "flag",
    s.NAME.expected: "name",
    s.TEXT.expected: "text",
    s.INTEGERS.expected: "integers",
    s.ARRAY.expected: "array",
    s.BLOBS.expected: "blobs",
    s.NAMES.expected: "names",
    s.HORIZON.expected: "horizon",
    s.PLAIN.expected: "plain",
}
OWN_CODES: Final = {Busy.code, Expired.code, PermissionDenied.code, WireError.code, "session", "version", "internal"}


def word(shape: s.Shape) -> str:
    expected = shape.expected.removesuffix(" or nil")
    optional = "?" if expected != shape.expected else ""
    arity = re.fullmatch(r"an array of arrays of (\d+)", expected)
    return (f"records of {arity[1]}" if arity else WORDS[expected]) + optional


def test_every_message_is_there_with_its_fields() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| (.*?) ?\|", PAGE, re.MULTILINE)
    told = {int(number): (name, re.findall(r"`(\w+)` ([a-z 0-9]+\??)", said)) for number, name, said in rows}
    assert told == {
        number: (kind.__name__, list(zip([field.name for field in fields(kind)][1:], map(word, shapes), strict=True)))
        for number, (kind, shapes) in MESSAGES.items()
    }


def test_the_version_is_there() -> None:
    assert f"this is version {VERSION}." in PAGE
    assert f"\nVERSION = {VERSION}\n" in PAGE


def test_every_code_is_there() -> None:
    table = PAGE.partition("| code |")[2].partition("\n\n")[0]
    codes = {code for row in table.splitlines() for code in re.findall(r"`([a-z-]+)`", row.split("|")[1])}
    kinds = {code for code in ERRORS if code != "error"}
    assert codes == kinds | OWN_CODES
