"""Window queries to their typed form: names become attributes and variables, predicates numbered conditions.

Here: pairs, aggregates, and what short forms stand for. Not here: conditions on events (conditions), formulas
(formulas), what the typed form means (semantics).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...events.schema import TEXTS, Schema, ValueType
from ...events.schema import Attribute as SchemaAttribute
from ...language.window import regex as written
from ...language.window import syntax as window
from ...language.window.printer import print_written_out
from ...language.window.sugar import written_out
from ...language.wording import Wording
from ..partitioned_stream import PartitionedStream
from ..resolution import partitioned_streams, refuse, resolve, type_family
from ..terms import Constant, Term, describe, nullable, used
from ..window_aggregates import ClockGrid, WindowAggregate
from .conditions import Conditions, EventScope
from .formulas import lower_formula
from .window_expression import WindowExpression, WindowFormula, WindowPair, WindowRegex

REGEX_PARTS_MAX: Final = 400
"""The most parts of one regular expression: atoms, quantifiers and operators."""
GRID_MAX: Final = 10_000
"""The most windows of the clock that one event is in."""
SLIDE_EVENTS_MAX: Final = 10_000
"""The most events between the beginnings of two windows by numbers of events: each is a state of an automaton."""


def lower(
    query: window.WindowQuery, text: str, schema_of: Callable[[str], Schema | None], known: Callable[[], list[str]]
) -> WindowExpression:
    """The typed form of a parsed query.

    `schema_of` gives the schema of a stream or None; `known` the names for a suggestion. Raises QueryError with the
    place of an unknown stream, attribute or variable, of a type that does not fit, of more than ATOMS_MAX conditions,
    of a pair that only the empty sequence matches.
    """
    (source,) = partitioned_streams([(query.stream, query.at)], query.partition, text, schema_of, known)
    match query.windows:
        case window.ClockWindows(_, window.WindowSize(events, True) as each) if events > SLIDE_EVENTS_MAX:
            most = f"expected at most {SLIDE_EVENTS_MAX} events between the beginnings of two windows"
            refuse(text, each.at, f"{most}, found {events}")
    windows, keep = written_out(query.windows, query.keep)
    gap = query.windows.gap if isinstance(query.windows, window.SessionWindows) else None
    conditions = Conditions(text, source.schema)
    pairs: tuple[WindowPair, ...] = ()
    formula: WindowFormula | None = None
    clock: ClockGrid | None = None
    match windows:
        case window.Pairs(several):
            timed = not isinstance(query.windows, window.Pairs)
            pairs = tuple(_pair(pair, conditions, timed) for pair in several)
        case window.MarkedWindows():
            formula = lower_formula(windows, conditions)
        case window.ClockWindows(size, slide, offset) if slide is not None:
            clock = ClockGrid(slide.amount if size is None else size.amount, slide.amount, offset)
            if clock.size > clock.slide * GRID_MAX:
                at = slide.at if size is None else size.at
                found = clock.size // clock.slide
                refuse(text, at, f"expected at most {GRID_MAX} windows over one event, found {found}")
        case _:
            raise AssertionError(windows)
    aggregates = tuple(_aggregate(one, text, source) for one in query.aggregates)
    schema = Schema(tuple(SchemaAttribute(one.name, one.type, _nullable(one)) for one in aggregates))
    return WindowExpression(
        source,
        tuple(conditions.atoms),
        conditions.back,
        pairs,
        formula,
        clock,
        keep,
        aggregates,
        schema,
        gap,
        query.publish,
        Wording((print_written_out(query),)),
    )


# --- regular expressions ----------------------------------------------------------------------------------------


def _pair(pair: window.PairExpression, conditions: Conditions, timed: bool) -> WindowPair:
    scope = EventScope(conditions, timed)
    body = _regex(pair.body, scope)
    if _only_empty(body):
        message = "expected events after MATCHING, found an expression that only the empty sequence matches"
        refuse(conditions.text, pair.body.at, message)
    prefix = _regex(pair.prefix, scope)
    for regex, at in ((prefix, pair.prefix.at), (body, pair.body.at)):
        parts = _size(regex)
        if parts > REGEX_PARTS_MAX:
            wanted = f"expected a regular expression of at most {REGEX_PARTS_MAX} parts"
            refuse(conditions.text, at, f"{wanted}, found {parts}")
    return WindowPair(prefix, body, pair.within)


def _size(regex: WindowRegex) -> int:
    return 1 + sum(map(_size, regex.parts))


def _regex(node: written.RegexExpression, scope: EventScope) -> WindowRegex:
    match node:
        case written.AnyEvent():
            return WindowRegex("any", at=node.at)
        case written.EventPredicate(predicate):
            return WindowRegex("event", atom=scope.conditions.number(predicate, scope), at=node.at)
        case written.Concatenation(parts):
            return WindowRegex("then", tuple(_regex(part, scope) for part in parts), at=node.at)
        case written.Alternation(parts):
            return WindowRegex("or", tuple(_regex(part, scope) for part in parts), at=node.at)
        case written.Intersection(parts):
            return WindowRegex("and", tuple(_regex(part, scope) for part in parts), at=node.at)
        case written.Complement(part):
            return WindowRegex("not", (_regex(part, scope),), at=node.at)
        case written.Quantified(part, least, most):
            return WindowRegex("times", (_regex(part, scope),), least=least, most=most, at=node.at)


def _only_empty(regex: WindowRegex) -> bool:
    """Whether the text says that nothing but the empty sequence matches, as `any{0}` does."""
    match regex.operator:
        case "times":
            return regex.most == 0 or _only_empty(regex.parts[0])
        case "then" | "or":
            return all(map(_only_empty, regex.parts))
        case "and":
            return any(map(_only_empty, regex.parts))
        case _:
            return False


# --- aggregates -------------------------------------------------------------------------------------------------


def _aggregate(one: window.AggregateExpression, text: str, source: PartitionedStream) -> WindowAggregate:
    scope = EventScope(Conditions(text, source.schema), looks_back=False)
    terms = tuple(resolve(argument, scope) for argument in one.arguments)
    for argument, term in zip(one.arguments, terms):
        if term.type == TEXTS:
            refuse(text, argument.at, f"expected a single value in {one.function}, found the list {describe(term)}")
    function, share = one.function, ""
    if function in ("sum", "avg", "stdev", "median", "quantile") and type_family(terms[0].type) != "number":
        refuse(text, one.arguments[0].at, f"expected a number in {function}, found a value of type {terms[0].type}")
    if function in ("min", "max", "argmin", "argmax") and terms[0].type == "bool":
        refuse(text, one.arguments[0].at, f"expected a number or a string in {function}, found a value of type bool")
    if function == "median":
        function, share = "quantile", "0.5"
    elif function == "quantile":
        share = _share(terms[1], one.arguments[1].at, text)
        terms = terms[:1]
    return WindowAggregate(function, terms, one.distinct, one.name, _type(function, terms), share)


def _share(term: Term, at: int, text: str) -> str:
    value = used(term) if isinstance(term, Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        refuse(text, at, "expected a number from 0 to 1 as the share of a quantile")
    return repr(value)


def _type(function: str, terms: tuple[Term, ...]) -> ValueType:
    if function in ("count", "from", "until"):
        return "int"
    if function in ("avg", "stdev"):
        return "float"
    return terms[-1].type


def _nullable(one: WindowAggregate) -> bool:
    if one.function in ("count", "from", "until"):
        return False
    if one.function in ("sum", "avg", "stdev"):
        return True  # beyond 64 bits or the finite floats
    return any(nullable(term) for term in one.arguments)
