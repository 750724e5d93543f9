"""What a punctuation promises, and the predicate that limits it to some events (AFA, F.2; semantics 4.8).

A promise (time, condition) of a stream: no event of it that satisfies the condition and is earlier than the time comes
or is withdrawn any more. Without a condition it is of all its events.

Here: the meaning of promises, and predicates from their texts. Whether promises together cover all possible events must
be decidable, so a predicate compares attributes with constants (regions). Not here: what they do to results (engine).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

from ..events.schema import TEXTS, Row, Schema
from ..language import syntax
from ..language.predicate import parse_predicate
from ..language.shorthand import written_out
from .normal_form import canonical
from .regions import Cuts, cuts_of, satisfied
from .resolution import condition, find, refuse
from .terms import TRUE, Side, Term

HOW: Final = "write attributes compared with constants, joined by AND, OR and NOT, as in symbol = 'IBM' AND price > 10"
NAME: Final = "name"
CONSTANT: Final = "constant"
COMPUTED: Final = "computed"


class Promise(NamedTuple):
    """No event of the stream that satisfies the condition comes or is withdrawn before `time`."""

    time: int
    condition: Term = TRUE


def keeps(promises: Iterable[Promise], time: int, row: Row) -> bool:
    """The meaning: whether an event may come, or be withdrawn, after these promises of its stream."""
    return not any(time < promise.time and satisfied(promise.condition, row) for promise in promises)


def covered(promises: Iterable[Promise], possible: Iterable[Row]) -> int | None:
    """The meaning: the time before which none of the possible rows may come; None: one may come at any time."""
    held = list(promises)
    times = [[promise.time for promise in held if satisfied(promise.condition, row)] for row in possible]
    return min(map(max, times), default=None) if all(times) else None


def predicate(text: str, schema: Schema) -> tuple[Term, Cuts]:
    """The predicate of a punctuation, and the constants in it. Raises QueryError with the place of a mistake, also of
    what is no comparison of an attribute with a constant."""
    written = parse_predicate(text)
    _check(written, text)
    term = canonical(condition(written, _RowScope(text, schema)))
    cuts = cuts_of(term)
    assert cuts is not None, "what was checked is decidable"
    return term, cuts


@dataclass(frozen=True, slots=True)
class _RowScope:
    """The names in a predicate: the attributes of the stream."""

    text: str
    schema: Schema

    def name(self, name: syntax.Name) -> Term:
        if name.qualifier is not None:
            found = f"'${name.qualifier}.{name.attribute}'"
            refuse(self.text, name.at, f"expected an attribute by its bare name, found {found}")
        attribute = find(self.schema, Side.EVENT, name, self.text)
        if attribute.type == TEXTS:
            refuse(
                self.text,
                name.at,
                f"expected an attribute with a single value, found the list {attribute.name!r}; {HOW}",
            )
        return attribute

    def duration(self, at: int) -> NoReturn:
        refuse(self.text, at, "expected an attribute, found 'DUR'")


def _check(node: syntax.Expression, text: str) -> None:
    """Refuse what does not compare attributes with constants. O(its parts)."""
    match node:
        case syntax.And(operands) | syntax.Or(operands):
            for operand in operands:
                _check(operand, text)
        case syntax.Not(operand):
            _check(operand, text)
        case syntax.OneOf() | syntax.InRange():
            _check(written_out(node), text)
        case syntax.IsNull(syntax.Name()) | syntax.Name() | syntax.Boolean():
            pass
        case syntax.ComparisonExpression(_, left, right):
            sides = _side(left), _side(right)
            if COMPUTED in sides:
                refuse(text, node.at, f"expected an attribute compared with a constant, found a computed value; {HOW}")
            if sides == (NAME, NAME):
                refuse(text, node.at, f"expected an attribute compared with a constant, found two attributes; {HOW}")
        case _:
            refuse(text, node.at, f"expected an attribute compared with a constant, found another condition; {HOW}")


def _side(node: syntax.Expression) -> str:
    """What one side of a comparison is."""
    match node:
        case syntax.Name():
            return NAME
        case syntax.Number() | syntax.String() | syntax.Boolean():
            return CONSTANT
        case syntax.Negative(operand) if _side(operand) == CONSTANT:
            return CONSTANT
        case _:
            return COMPUTED
