"""Compiled once a shape: subscriptions whose texts differ in literals only share parsing, typing and construction.

The first query of a shape is compiled with marked literals, which are ordinary values that also know their number. If
none of them was computed with and all of them arrive in the automata, then exchanging them gives what compiling any
other text of the shape would give, and parts without literals are shared as objects.

Here: marks, exchange, and the canonical text's pieces. Not here: when a template may be used (catalog).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, TypeVar, final

from ..algebra.normal_form import Form, canonical, reordered
from ..algebra.operators import Query
from ..algebra.terms import Comparison, Constant, Term, walk
from ..algebra.terms import replace as replace_leaves
from ..automaton.automaton import Arc, Automaton, Computed, SlotSource, State
from ..automaton.compilation import Compiled
from ..language import syntax
from ..language.shapes import Literal, QueryShape, shape_of

Exchange: TypeAlias = Callable[[Term], Term]
Literals: TypeAlias = tuple[Literal, ...]

_Query = TypeVar("_Query")


class MarkedInteger(int):
    """As the other two: a literal that is equal to itself alone, so that nothing merges it with one that happens to be
    equal in this text and is not in another. Negated, it has the complement of its number."""

    number: int

    def __neg__(self) -> MarkedInteger:
        opposite = MarkedInteger(-int(self))
        opposite.number = ~self.number
        return opposite

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash(("integer", self.number))


class MarkedFloat(float):
    number: int

    def __neg__(self) -> MarkedFloat:
        opposite = MarkedFloat(-float(self))
        opposite.number = ~self.number
        return opposite

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash(("float", self.number))


class MarkedString(str):
    __slots__ = ("number",)
    number: int

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash(("string", self.number))


_MARKED: Final[dict[type, type[Any]]] = {int: MarkedInteger, float: MarkedFloat, str: MarkedString}


def marked(query: _Query, shape: QueryShape) -> _Query | None:
    """The same syntax with marked literals; None where the shape's literals are not the syntax's."""
    numbers = {place: number for number, place in enumerate(shape.places)}
    seen: set[int] = set()

    def visit(node: Any) -> Any:
        if isinstance(node, syntax.Number | syntax.String) and node.at in numbers:
            number = numbers[node.at]
            literal = shape.literals[number]
            if type(node.value) is not type(literal) or node.value != literal:
                return node
            seen.add(number)
            value = _MARKED[type(literal)](literal)
            value.number = number
            return type(node)(value, node.at)
        if isinstance(node, tuple):
            return tuple(visit(part) for part in node)
        if dataclasses.is_dataclass(node) and not isinstance(node, type):
            fields = {f.name: visit(getattr(node, f.name)) for f in dataclasses.fields(node)}
            return type(node)(**fields)
        return node

    copy: _Query = visit(query)
    return copy if len(seen) == len(shape.literals) else None


def number_of(term: Term) -> int | None:
    """The number of a marked literal, its complement where it is negated; None for any other term."""
    number = getattr(term.value, "number", None) if isinstance(term, Constant) else None
    return number if isinstance(number, int) else None


@final
@dataclass(frozen=True, slots=True)
class Template:
    """`compiled` has marked literals; `pieces` are the canonical text around them."""

    query: Query
    compiled: Compiled
    pieces: tuple[str, ...]

    def bound(self, literals: Literals) -> Compiled:
        """The automata for these literals. O(size of the automata); parts without literals are the template's own."""
        if not literals:
            return self.compiled
        exchange = exchanger(literals)
        return Compiled(tuple(_automaton(a, exchange) for a in self.compiled.automata))

    def text(self, literals: Literals) -> str:
        """The canonical text for these literals."""
        return written(self.pieces, literals)


def written(pieces: tuple[str, ...], literals: Literals) -> str:
    """A text from what stands around its literals and these."""
    if not literals:
        return pieces[0]
    parts = [pieces[0]]
    for literal, piece in zip(literals, pieces[1:], strict=True):
        parts += [_printed(literal), piece]
    return "".join(parts)


def chosen(literals: Literals, number: int) -> Literal:
    """The literal with a number, or what its complement stands for."""
    if number >= 0:
        return literals[number]
    literal = literals[~number]
    assert not isinstance(literal, str)
    return -literal


def exchanger(literals: Literals) -> Exchange:
    """What puts literals where their marks are."""

    def exchange(term: Term) -> Term:
        number = number_of(term)
        return term if number is None else Constant(chosen(literals, number), term.type)

    return exchange


def template_of(query: Query, compiled: Compiled, text: str, shape: QueryShape) -> Template | None:
    """The template of what was compiled from marked syntax; None where exchanging literals would not be enough. `text`
    is the canonical one without marks."""
    if compiled.internal:
        return None  # the names of internal streams are digests of all that goes into them
    leaves = (leaf for a in compiled.automata for t in _terms(a) for leaf in walk(t))
    found = {max(n, ~n) for leaf in leaves if (n := number_of(leaf)) is not None}
    if len(found) != len(shape.literals):
        return None
    canonical = shape_of(text)
    if canonical is None or canonical.literals != shape.literals:
        return None
    pieces: list[str] = []
    end = 0
    for literal, place in zip(canonical.literals, canonical.places, strict=True):
        pieces.append(text[end:place])
        end = place + len(_printed(literal))
    template = Template(query, compiled, (*pieces, text[end:]))
    return template if template.text(shape.literals) == text else None


def _printed(literal: Literal) -> str:
    # As print_expression does: a literal has no sign, for which the grammar has a node of its own.
    return "'" + literal.replace("'", "''") + "'" if isinstance(literal, str) else repr(literal)


def _terms(automaton: Automaton) -> list[Term]:
    forms = [arc.guard for arc in automaton.arcs] + [state.theta for state in automaton.states]
    terms: list[Term] = [atom for form in forms for clause in form for atom in clause]
    for arc in automaton.arcs:
        terms += arc.output
        terms += [source.term for source in arc.update if isinstance(source, Computed)]
    return terms


def _automaton(automaton: Automaton, exchange: Exchange) -> Automaton:
    states = tuple(_state(s, exchange) for s in automaton.states)
    return Automaton(states, tuple(_arc(a, exchange) for a in automaton.arcs), automaton.schema)


def _state(state: State, exchange: Exchange) -> State:
    return replace(state, theta=exchanged_form(state.theta, exchange)) if has_marks(state.theta) else state


def _arc(arc: Arc, exchange: Exchange) -> Arc:
    update, output = arc.update, arc.output
    if any(is_marked(s.term) for s in update if isinstance(s, Computed)):
        update = tuple(_source(s, exchange) for s in update)
    if any(map(is_marked, output)):
        output = tuple(exchanged(t, exchange) for t in output)
    guard = exchanged_form(arc.guard, exchange) if has_marks(arc.guard) else arc.guard
    if guard is arc.guard and update is arc.update and output is arc.output:
        return arc
    return arc.with_terms(guard, update, output)


def _source(source: SlotSource, exchange: Exchange) -> SlotSource:
    return Computed(exchanged(source.term, exchange)) if isinstance(source, Computed) else source


def is_marked(term: Term) -> bool:
    return any(number_of(leaf) is not None for leaf in walk(term))


def has_marks(form: Form) -> bool:
    return any(is_marked(atom) for clause in form for atom in clause)


def exchanged_form(form: Form, exchange: Exchange) -> Form:
    return reordered(tuple(tuple(_atom(atom, exchange) for atom in clause) for clause in form))


def _atom(atom: Comparison, exchange: Exchange) -> Comparison:
    found = exchanged(atom, exchange) if is_marked(atom) else atom
    assert isinstance(found, Comparison)
    return found


def exchanged(term: Term, exchange: Exchange) -> Term:
    # Operands are ordered by what they say, literals included.
    return canonical(replace_leaves(term, exchange))
