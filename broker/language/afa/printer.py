"""Prints AFA queries as text that parses to the same tree, without unnecessary parentheses.

`parse(print_query(q)) == q` for every query that can be written. Each clause and each arc has its own line. So texts
that differ only in layout, letter case of keywords and unnecessary parentheses print alike.
"""

from __future__ import annotations

from ...events.instant import format_duration
from ..printing import print_expression
from .syntax import AfaQuery, ArcExpression, Assignment, RegisterDeclaration


def print_query(query: AfaQuery) -> str:
    """Return the text of an AFA query. Linear in its size times its depth; recursion as deep as its expressions."""
    by = f" BY {', '.join(map(print_expression, query.partition))}" if query.partition else ""
    lines = [f"FROM {', '.join(stream.name for stream in query.streams)}{by}"]
    if query.registers:
        lines.append(f"REGISTER {', '.join(map(_register, query.registers))}")
    lines.append(f"START {query.start.name}")
    lines.append(f"FINAL {', '.join(state.name for state in query.finals)}")
    lines += map(print_arc, query.arcs)
    end = [] if query.within is None else [f"WITHIN {format_duration(query.within)}"]
    end += [] if query.publish is None else [f"PUBLISH {query.publish}"]
    return "\n".join([*lines, " ".join(end)] if end else lines)


def print_arc(arc: ArcExpression) -> str:
    """Return the text of one arc, on one line. Costs as print_query."""
    name = "" if arc.name is None else f"{arc.name}: "
    text = f"{name}{arc.source.name} {'->' if arc.takes else '~>'} {arc.target.name}"
    if arc.stream is not None:
        text += f" ON {arc.stream.name}"
    if arc.condition is not None:
        text += f" WHEN {print_expression(arc.condition)}"
    if arc.assignments:
        text += f" SET {', '.join(map(_assignment, arc.assignments))}"
    return text


def _register(register: RegisterDeclaration) -> str:
    return f"{register.name} {register.type.upper()} = {print_expression(register.initial)}"


def _assignment(assignment: Assignment) -> str:
    return f"{assignment.register} = {print_expression(assignment.value)}"
