"""Prints SASE+ queries as text that parses to the same tree, without unnecessary parentheses.

`parse(print_query(q)) == q` for every query that can be written. Each clause has its own line, all equivalence tests
are one and come first, durations have their largest unit, and defaults are left out. So texts that differ only in
layout, letter case of keywords, position of equivalence tests and unnecessary parentheses print alike.
"""

from __future__ import annotations

from ...events.instant import format_duration
from ..printing import print_expression
from ..syntax import Name, Or
from .syntax import (
    ComponentExpression,
    Element,
    ElementAlternatives,
    EquivalenceTest,
    ReturnItem,
    SaseQuery,
    StrategyClause,
)


def print_query(query: SaseQuery) -> str:
    """Return the text of a SASE+ query. Linear in its size times its depth; recursion as deep as the tree."""
    lines = [f"PATTERN SEQ({', '.join(map(_element, query.elements))})"]
    if query.selections:
        kleene = _kleene(query)
        strategies = " AND ".join(_selection(selection, kleene) for selection in query.selections)
        lines.append(f"WHERE {strategies}{_conditions(query)}")
    if query.within is not None:
        lines.append(f"WITHIN {format_duration(query.within)}")
    if query.items:
        lines.append(f"RETURN {', '.join(map(_item, query.items))}")
    if query.output != "all":
        lines.append(f"OUTPUT {query.output}")
    if query.publish is not None:
        lines.append(f"PUBLISH {query.publish}")
    return "\n".join(lines)


def _kleene(query: SaseQuery) -> set[str]:
    return {component.variable for component in query.components if component.kind == "kleene"}


def _element(element: Element) -> str:
    if isinstance(element, ElementAlternatives):
        return f"({' | '.join(map(_component, element.options))}){'' if element.least else '?'}"
    return _component(element)


def _component(component: ComponentExpression) -> str:
    match component.kind:
        case "single":
            return f"{component.stream}{'' if component.least else '?'} {component.variable}"
        case "kleene":
            return f"{component.stream}{_bounds(component)} {component.variable}[]"
        case "negated":
            return f"~({component.stream} {component.variable})"


def _bounds(component: ComponentExpression) -> str:
    match component.least, component.most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case least, None:
            return f"{{{least},}}"
        case least, most:
            return f"{{{least}}}" if least == most else f"{{{least},{most}}}"


def _selection(selection: StrategyClause, kleene: set[str]) -> str:
    variables = ", ".join(f"{name}[]" if name in kleene else name for name in selection.variables)
    return f"{selection.strategy}({variables})"


def _conditions(query: SaseQuery) -> str:
    kleene = _kleene(query)
    tests = ", ".join(_test(test, kleene) for test in query.equivalence)
    conjuncts = [f"[{tests}]"] if tests else []
    alone = len(conjuncts) + len(query.conditions) == 1
    for condition in query.conditions:
        text = print_expression(condition)
        conjuncts.append(f"({text})" if isinstance(condition, Or) and not alone else text)
    return f" {{ {' AND '.join(conjuncts)} }}" if conjuncts else ""


def _test(test: EquivalenceTest, kleene: set[str]) -> str:
    if isinstance(test, Name):
        return print_expression(test)
    named = [(member.variable, member.attribute) for member in test.members]
    return " = ".join(f"{name}{'[]' if name in kleene else ''}.{attribute}" for name, attribute in named)


def _item(item: ReturnItem) -> str:
    text = print_expression(item.expression)
    return text if item.alias is None else f"{text} AS {item.alias}"
