"""Reads results as columns, and as those who send them do, and holds them to what reading them one by one gives."""

from __future__ import annotations

from typing import Any, TypeVar

from broker.engine import CodedTexts, Match
from broker.engine.disorder.joined import JoinedResults
from broker.engine.matches.result_rows import light
from broker.engine.results import Results

R = TypeVar("R", bound=Results | JoinedResults)


def listed(column: Any) -> list[Any]:
    """The values of a column of any form."""
    if isinstance(column, CodedTexts):
        return [None if code < 0 else column.texts[code] for code in column.codes]
    return list(column)


def row_of(match: Match, names: list[str]) -> dict[str, Any]:
    """A result as a row of a table with these columns."""
    line = match.line()
    row: dict[str, Any] = dict.fromkeys(names)
    fields = {"kind": match.kind, "subscription": match.subscription, "start": match.start, "end": match.end}
    row |= {**fields, "id": match.id, "lineage": match.lineage}
    data = line.pop("data", {})
    taken = ["kind", "subscription", "id"]
    if match.kind in ("match", "retraction"):
        taken += ["start", "end", "lineage"]
    for name, value in data.items():
        row[f"data.{name}" if name in (*fields, "id", "lineage", "details") else name] = value
    row["details"] = {name: value for name, value in line.items() if name not in taken} or None
    assert list(row) == names
    return row


def in_columns(results: R) -> R:
    """The same results, which columns show as they are, wholly and of one subscription; and so do their lines."""
    table = results.columns()
    columns = {name: listed(table[name]) for name in table}
    sent = [(each.subscription, each.withdrawn, each.line()) for each in light(results)]
    matches = list(results)
    assert repr(sent) == repr([(match.subscription, match.withdrawn, match.line()) for match in matches])
    rows = [{name: column[at] for name, column in columns.items()} for at in range(table.count)]
    # Text tells 1, 1.0 and True apart.
    assert repr(rows) == repr([row_of(match, list(table)) for match in matches])
    if matches:
        name = matches[len(matches) // 2].subscription
        one = results.columns(name)
        assert listed(one["id"]) == [match.id for match in matches if match.subscription == name]
        assert listed(one["subscription"]) == [name] * one.count
    return results
