"""docs/metrics.md, made from the table of metrics: `make metrics` writes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from broker.server.metric_table import BUILD, BUILD_HELP, HISTOGRAM, HISTOGRAM_HELP, PROCESS, ROWS

PAGE: Final = Path(__file__).parents[3] / "docs" / "metrics.md"
_HEAD: Final = """# Metrics

All metrics that a broker offers at `/metrics` of its [console](operations.md#watch), which says which are worth an
alert. `make metrics` writes this page from `broker/server/metric_table.py`. Counters begin at 0 with the broker.

The labels `stream` and `subscription` have the names of the first [`labels`](limits.md#a-broker) (100) streams and
subscriptions that are active; all others are counted together as `other`. A name that is gone makes room for another.
Everybody who reaches the console can read these names. Figures of partial matches are those of the
[executors](../ARCHITECTURE.md#the-idea).
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    plain = [row for row in ROWS if not row.label]
    for title, group in (("Broker", "broker"), ("Engine", "engine"), ("Loop", "loop"), ("Journal", "journal")):
        rows = [(row.metric, "", str(row.kind), row.help) for row in plain if row.group == group]
        if group == "loop":
            rows.append((HISTOGRAM, "", "histogram", HISTOGRAM_HELP))
        parts.append(_table(title, rows))
        if group == "broker":
            named = [(row.metric, row.label, str(row.kind), row.help) for row in ROWS if row.label]
            parts.append(_table("Streams and subscriptions", named))
    build = [(BUILD, "version, build, python", "gauge", BUILD_HELP)]
    parts.append(_table("Process and build", [*build, *[(name, "", kind, text) for name, kind, text in PROCESS]]))
    return "\n".join(parts)


def _table(title: str, rows: Iterable[tuple[str, str, str, str]]) -> str:
    lines = [f"## {title}", "", "| metric | labels | kind | what |", "|---|---|---|---|"]
    for name, labels, kind, text in rows:
        shown = ", ".join(f"`{label}`" for label in labels.split(", ") if label)
        lines.append(f"| `{name}` | {shown + ' ' if shown else ''}| {kind} | {text} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
