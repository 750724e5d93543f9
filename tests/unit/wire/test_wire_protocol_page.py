"""The page on the protocol says what is: every message with its number and fields, the version, and every code."""

from __future__ import annotations

import re
from typing import Final

from unit.wire.protocol_tables import PAGE, written

from broker.events import ERRORS
from broker.wire import VERSION, Busy, Expired, PermissionDenied, WireError
from broker.wire.messages import TABLE

TEXT: Final = PAGE.read_text(encoding="utf-8")
OWN_CODES: Final = {Busy.code, Expired.code, PermissionDenied.code, WireError.code, "session", "version", "internal"}


def test_the_tables_are_those_of_the_messages() -> None:
    assert written(TEXT) == TEXT, "run `make protocol`"
    assert re.findall(r"^\| (\d+) \| `", TEXT, re.MULTILINE) == list(map(str, TABLE))


def test_every_word_for_a_field_is_explained() -> None:
    explained = set(re.findall(r"\*\*([a-z]+)", TEXT.partition("Words for the fields")[2].partition("\n\n")[0]))
    words = [word for row in TABLE.values() for shape in row.shapes for word in shape.word.rstrip("?").split(" or ")]
    assert {word.split()[0] for word in words} == explained


def test_every_request_that_is_answered_names_a_message() -> None:
    for row in TABLE.values():
        assert row.answer is None or row.answer in {each.message for each in TABLE.values() if not each.request}
        assert row.request or (row.answer is None and row.when_full == "take" and not row.at_once)
        assert len(row.names) == len(row.shapes)


def test_the_version_is_there() -> None:
    assert f"this is version {VERSION}." in TEXT
    assert f"\nVERSION = {VERSION}\n" in TEXT


def test_every_code_is_there() -> None:
    table = TEXT.partition("| code |")[2].partition("\n\n")[0]
    codes = {code for row in table.splitlines() for code in re.findall(r"`([a-z-]+)`", row.split("|")[1])}
    kinds = {code for code in ERRORS if code != "error"}
    assert codes == kinds | OWN_CODES
