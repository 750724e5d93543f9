"""Puts a subscription's literals into a compiled object with marked literals, without typing or analysing it again.

The distinct forms and terms that contain marks are found once, and numbered. Binding makes each of them once with a
subscription's literals, and assembles the objects that contain them; parts without marks are shared. If the order of
operands, atoms or clauses depends on values, binding makes that part canonical again, which costs more.

Here: forms, terms, automata. Not here: marks (language/marked_literals), templates (broker.engine.compiler).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, final

from ..algebra.marked_terms import exchanger, has_marks, is_marked, number_of
from ..algebra.normal_form import Form, canonical, key, rank, reordered
from ..algebra.structure import Primitive
from ..algebra.terms import (
    Arithmetic,
    Attribute,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Function,
    Negation,
    Register,
    Term,
    children,
    leaves,
)
from ..algebra.terms import replace as replace_leaves
from ..language.marked_literals import Literals, chosen, number_in
from ..language.wording import Wording
from .automaton import Arc, Automaton, Computed, Elapsed, SlotSource, State
from .machines.tree import MachineTree
from .windows.window_automaton import WindowAutomaton

TermMaker: TypeAlias = Callable[[Literals], Term]
FormMaker: TypeAlias = Callable[[Literals], Form]

UNMARKED: Final = -1


@final
class BoundLiterals:
    """A subscription's literals, and the forms and terms made of them when the first of them is needed."""

    __slots__ = ("_forms", "_parts", "_terms", "literals")

    def __init__(self, literals: Literals, parts: MarkedParts) -> None:
        self.literals = literals
        self._parts = parts
        self._forms: list[Form] | None = None
        self._terms: list[Term] | None = None

    @property
    def forms(self) -> list[Form]:
        if self._forms is None:
            self._forms = self._parts.forms_of(self.literals)
        return self._forms

    @property
    def terms(self) -> list[Term]:
        if self._terms is None:
            self._terms = self._parts.terms_of(self.literals)
        return self._terms


Shown: TypeAlias = tuple[tuple[str, bool], ...]
"""What equal terms may differ in: the names of what they read, for display, and whether that may be null."""
AutomatonMaker: TypeAlias = Callable[[BoundLiterals], Automaton]


@final
class MarkedParts:
    """The distinct forms and terms with marks of compiled objects.

    `stable`: the order inside all of them is the same for any literals.
    """

    def __init__(self) -> None:
        self.stable = True
        self._forms: dict[tuple[Form, Shown], int] = {}
        self._terms: dict[tuple[Term, Shown], int] = {}
        self._form_makers: list[FormMaker] = []
        self._term_makers: list[TermMaker] = []

    def form(self, form: Form) -> int:
        """The number of a form; UNMARKED if nothing in it has a mark."""
        if not has_marks(form):
            return UNMARKED
        shown = _shown([atom for clause in form for atom in clause])
        number = self._forms.setdefault((form, shown), len(self._forms))
        if number == len(self._form_makers):
            stable, maker = _form_maker(form)
            self.stable = self.stable and stable
            self._form_makers.append(maker)
        return number

    def term(self, term: Term) -> int:
        """The number of a term in canonical form; UNMARKED if nothing in it has a mark."""
        if not is_marked(term):
            return UNMARKED
        number = self._terms.setdefault((term, _shown([term])), len(self._terms))
        if number == len(self._term_makers):
            stable, maker = _term_maker(term)
            self.stable = self.stable and stable
            self._term_makers.append(maker)
        return number

    def bind(self, literals: Literals) -> BoundLiterals:
        """All forms and terms with these literals. O(1); they are made when they are needed."""
        return BoundLiterals(literals, self)

    def forms_of(self, literals: Literals) -> list[Form]:
        """O(size of the forms with marks)."""
        return [maker(literals) for maker in self._form_makers]

    def terms_of(self, literals: Literals) -> list[Term]:
        """O(size of the terms with marks)."""
        return [maker(literals) for maker in self._term_makers]

    # --- automata -----------------------------------------------------------------------------------------------

    def automaton(self, automaton: Automaton) -> AutomatonMaker:
        """A function that makes the automaton with other literals."""
        states = [(self.form(state.theta), state) for state in automaton.states]
        arcs = [self._arc(arc) for arc in automaton.arcs]
        machines = None if automaton.machines is None else self._tree(automaton.machines)
        windows = None if automaton.windows is None else self._windows(automaton.windows)
        a = automaton
        same_states = all(number == UNMARKED for number, _ in states)

        def made(bound: BoundLiterals) -> Automaton:
            return Automaton(
                a.states if same_states else tuple([_state(number, state, bound) for number, state in states]),
                tuple([arc if maker is None else maker(bound) for arc, maker in arcs]),
                a.schema,
                a.sources,
                a.operands,
                _limit(a.within, bound),
                a.time,
                a.report,
                a.distinct,
                a.forbidden,
                None if machines is None else machines(bound),
                a.initial,
                windows=None if windows is None else windows(bound),
            )

        return made

    def _windows(self, windows: WindowAutomaton) -> Callable[[BoundLiterals], WindowAutomaton]:
        """Its tables are the same for all literals."""
        atoms = [(self.form(atom), atom) for atom in windows.atoms]

        def made(bound: BoundLiterals) -> WindowAutomaton:
            bound_atoms = tuple([atom if n == UNMARKED else bound.forms[n] for n, atom in atoms])
            return replace(windows, atoms=bound_atoms, said=_saying(windows.said, bound))

        return made

    def _tree(self, tree: MachineTree) -> Callable[[BoundLiterals], MachineTree]:
        guards = [(self.form(primitive.guard), primitive) for primitive in tree.primitives]

        def made(bound: BoundLiterals) -> MachineTree:
            primitives = [p if n == UNMARKED else Primitive(bound.forms[n], p.variables, p.source) for n, p in guards]
            conditions = [replace(each, duration=_limit(each.duration, bound)) for each in tree.conditions]
            within = _limit(tree.within, bound)
            return replace(tree, primitives=tuple(primitives), conditions=tuple(conditions), within=within)

        return made

    def sources(self, update: Sequence[SlotSource]) -> Callable[[BoundLiterals], tuple[SlotSource, ...]] | None:
        """A function that fills slots with other literals; None if no slot has any."""
        numbers = [self.term(s.term) if isinstance(s, Computed) else UNMARKED for s in update]
        if all(number == UNMARKED for number in numbers):
            return None
        pairs = list(zip(update, numbers))
        return lambda bound: tuple([s if n == UNMARKED else Computed(bound.terms[n]) for s, n in pairs])

    def _arc(self, arc: Arc) -> tuple[Arc, Callable[[BoundLiterals], Arc] | None]:
        guard, rest = self.form(arc.guard), self.form(arc.rest)
        update = self.sources(arc.update)
        outputs = [(self.term(term), term) for term in arc.output]
        same_output = all(number == UNMARKED for number, _ in outputs)
        conjuncts = [_written_maker(term) for term in arc.conjuncts]
        same_conjuncts = not any(map(is_marked, arc.conjuncts))
        same_time = not _has_marks(arc.elapsed)
        if guard == UNMARKED and rest == UNMARKED and update is None and same_output and same_conjuncts and same_time:
            return arc, None

        def made(bound: BoundLiterals) -> Arc:
            return Arc(
                arc.source,
                arc.target,
                arc.guard if guard == UNMARKED else bound.forms[guard],
                arc.update if update is None else update(bound),
                arc.output
                if same_output
                else tuple([term if number == UNMARKED else bound.terms[number] for number, term in outputs]),
                arc.kind,
                arc.stream,
                arc.operand,
                arc.joins,
                arc.rest if rest == UNMARKED else bound.forms[rest],
                arc.elapsed if same_time else tuple([_in_time(elapsed, bound) for elapsed in arc.elapsed]),
                arc.peeks,
                arc.conjuncts
                if same_conjuncts
                else tuple([maker(bound.literals) for maker in conjuncts]),
                arc.name,
                arc.begin,
                arc.end,
            )

        return arc, made


def _has_marks(elapsed: Sequence[Elapsed]) -> bool:
    limits = [limit for each in elapsed for limits in each.allowed for limit in limits]
    return any(number_in(limit) is not None for limit in limits) or any(each.said.numbers for each in elapsed)


def _in_time(elapsed: Elapsed, bound: BoundLiterals) -> Elapsed:
    allowed = tuple([(_limit(low, bound), _limit(high, bound)) for low, high in elapsed.allowed])
    return replace(elapsed, allowed=allowed, said=_saying(elapsed.said, bound))


def _limit(limit: Any, bound: BoundLiterals) -> Any:
    """The literal of a duration, with its mark if it has one: compiled, an `int` would lose it."""
    number = number_in(limit)
    return limit if number is None else chosen(bound.literals, number)


def _saying(said: Wording, bound: BoundLiterals) -> Wording:
    """What is said with these literals, if they have no marks; else the text is made later."""
    marked = any(number_in(literal) is not None for literal in bound.literals)
    return said if marked else Wording((said.text(bound.literals),))


def _state(number: int, state: State, bound: BoundLiterals) -> State:
    return state if number == UNMARKED else State(state.stream, bound.forms[number], state.stay)


def _written_maker(term: Term) -> TermMaker:
    """A function that makes a condition as written: the parser keeps only one of equal alternatives."""
    if not is_marked(term):
        return lambda literals: term
    match term:
        case Comparison(operator, left, right):
            a, b = _written_maker(left), _written_maker(right)
            return lambda literals: Comparison(operator, a(literals), b(literals))
        case Constant():
            return _constant_maker(term)
        case Disjunction(operands):
            makers = [_written_maker(operand) for operand in operands]
            return lambda literals: _alternatives([maker(literals) for maker in makers])
        case Negation(operand):
            inner = _written_maker(operand)
            return lambda literals: Negation(inner(literals))
        case Conjunction(operands):
            parts = [_written_maker(operand) for operand in operands]
            return lambda literals: Conjunction(tuple([part(literals) for part in parts]))
        case _:
            return lambda literals: replace_leaves(term, exchanger(literals))


def _alternatives(operands: list[Term]) -> Term:
    found = tuple(dict.fromkeys(operands))
    return found[0] if len(found) == 1 else Disjunction(found)


# --- terms --------------------------------------------------------------------------------------------------------


def _term_maker(term: Term) -> tuple[bool, TermMaker]:
    """A function that makes a canonical term, and whether its operands keep their order."""
    if not is_marked(term):
        return True, lambda literals: term
    match term:
        case Constant():
            return True, _constant_maker(term)
        case Arithmetic(operator, left, right, type_):
            (first, a), (second, b) = _term_maker(left), _term_maker(right)
            if first and second and (operator not in "+*" or _ranked(left, right)):
                return True, lambda literals: Arithmetic(operator, a(literals), b(literals), type_)
        case Comparison(operator, left, right):
            (first, a), (second, b) = _term_maker(left), _term_maker(right)
            if first and second and _ranked(left, right):
                return True, lambda literals: Comparison(operator, a(literals), b(literals))
        case Function(name, arguments, type_):
            made = [_term_maker(argument) for argument in arguments]
            if all(stable for stable, _ in made):
                makers = [maker for _, maker in made]
                return True, lambda literals: Function(name, tuple([maker(literals) for maker in makers]), type_)
        case _:
            pass
    return False, lambda literals: canonical(replace_leaves(term, exchanger(literals)))


def _constant_maker(constant: Constant) -> TermMaker:
    number, type_ = number_of(constant), constant.type
    assert number is not None
    if number >= 0:
        return lambda literals: Constant(literals[number], type_)
    return lambda literals: Constant(chosen(literals, number), type_)


def _ranked(left: Term, right: Term) -> bool:
    """Whether the order of two operands is the same for all values of literals."""
    return rank(left)[0] != rank(right)[0] or _apart(_tokens(left), _tokens(right))


def _tokens(term: Term) -> list[str | int]:
    """The term's key in pieces, with the numbers of marks between them."""
    number = number_of(term)
    if number is not None:
        return [f"{term.type}:", number]
    if not is_marked(term):
        return [key(term)]
    match term:
        case Arithmetic(name) | Comparison(name) | Function(name):
            head = name
        case _:
            head = type(term).__name__
    found: list[str | int] = [f"({head} "]
    for place, child in enumerate(children(term)):
        found += [" "] if place else []
        found += _tokens(child)
    return _joined([*found, ")"])


def _joined(tokens: list[str | int]) -> list[str | int]:
    """The tokens with adjacent texts joined."""
    found: list[str | int] = []
    for token in tokens:
        if found and isinstance(token, str) and isinstance(last := found[-1], str):
            found[-1] = last + token
        else:
            found.append(token)
    return found


def _apart(one: list[str | int], other: list[str | int]) -> bool:
    """Whether two keys differ before the first literal that could make them equal."""
    for a, b in zip(one, other):
        if isinstance(a, str) and isinstance(b, str):
            if a != b:
                return not a.startswith(b) and not b.startswith(a)
        elif a != b:
            return False
    return False


def _shown(terms: Sequence[Term]) -> Shown:
    read = [leaf for term in terms for leaf in leaves(term) if isinstance(leaf, Attribute | Register)]
    return tuple([(leaf.name, leaf.nullable) for leaf in read])


# --- forms --------------------------------------------------------------------------------------------------------


def _form_maker(form: Form) -> tuple[bool, FormMaker]:
    """A function that makes a form, and whether its clauses and their atoms keep their order and number."""
    made = [[_term_maker(atom) for atom in clause] for clause in form]
    makers = [[maker for _, maker in clause] for clause in made]
    fixed = all(stable for clause in made for stable, _ in clause)
    if fixed and _in_order(form):
        if len(makers) == 1:
            only = makers[0]
            return True, lambda literals: (tuple([maker(literals) for maker in only]),)  # type: ignore[misc]
        return True, lambda literals: tuple(
            [tuple([maker(literals) for maker in clause]) for clause in makers]  # type: ignore[misc]
        )
    return False, lambda literals: reordered(
        tuple([tuple([maker(literals) for maker in clause]) for clause in makers])  # type: ignore[misc]
    )


def _in_order(form: Form) -> bool:
    """Whether no values of literals could swap or merge two atoms of a clause, or two clauses."""
    keys = [[_tokens(atom) for atom in clause] for clause in form]
    for clause in keys:
        for place, one in enumerate(clause):
            if any(not _apart(one, other) for other in clause[place + 1 :]):
                return False
    return all(_clauses_apart(one, other) for place, one in enumerate(keys) for other in keys[place + 1 :])


def _clauses_apart(one: list[list[str | int]], other: list[list[str | int]]) -> bool:
    for a, b in zip(one, other):
        if a != b:
            return _apart(a, b)
    return True  # one has all atoms of the other and more: the order does not depend on them


def constants(automaton: Automaton) -> Iterator[Any]:
    """The values of all constants, WITHIN and other bounds of time, with the marks that they have.

    Here, as compiled code would read durations as plain integers, without their marks.
    """
    yield automaton.within
    for asked in [asked for arc in automaton.arcs for asked in arc.elapsed]:
        yield from (limit for limits in asked.allowed for limit in limits if number_in(limit) is not None)
    for condition in () if automaton.machines is None else automaton.machines.conditions:
        yield condition.duration
    for term in _terms(automaton):
        for leaf in leaves(term):
            if isinstance(leaf, Constant):
                yield leaf.value


def _terms(automaton: Automaton) -> Iterator[Term]:
    for form in [state.theta for state in automaton.states]:
        yield from (atom for clause in form for atom in clause)
    for form in () if automaton.windows is None else automaton.windows.atoms:
        yield from (atom for clause in form for atom in clause)
    for arc in automaton.arcs:
        for form in (arc.guard, arc.rest):
            yield from (atom for clause in form for atom in clause)
        yield from arc.output
        yield from (source.term for source in arc.update if isinstance(source, Computed))
