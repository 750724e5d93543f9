"""The tables of messages in docs/protocol.md, made from the table of messages: `make protocol` writes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from broker.wire.messages import TABLE
from broker.wire.row import UNASKED, MessageRow

PAGE: Final = Path(__file__).parents[3] / "docs" / "protocol.md"
_TABLE: Final = re.compile(r"\| type \| message \| fields \| (answered by|means) \|\n(?:\|.*\n)+")


def tables() -> list[str]:
    """What clients say, what answers it, and what the broker says unasked."""
    rows = list(TABLE.values())
    return [
        _table("answered by", [row for row in rows if row.request]),
        _table("means", [row for row in rows if not row.request and row.number < UNASKED]),
        _table("means", [row for row in rows if row.number >= UNASKED]),
    ]


def written(page: str) -> str:
    """The page with these tables in place of those that it has."""
    made = iter(tables())
    return _TABLE.sub(lambda _: next(made), page)


def _table(last: str, rows: list[MessageRow]) -> str:
    lines = [f"| type | message | fields | {last} |", "|---|---|---|---|"]
    for row in rows:
        said = ", ".join(f"`{name}` {shape.word}" for name, shape in zip(row.names, row.shapes, strict=True))
        lines.append(f"| {row.number} | `{row.message.__name__}` | {said + ' ' if said else ''}| {_meaning(row)} |")
    return "\n".join(lines) + "\n"


def _meaning(row: MessageRow) -> str:
    if not row.request:
        return row.means
    return "; ".join(filter(None, (f"`{row.answer.__name__}`" if row.answer else "nothing", row.means)))


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
