"""The index over guards: finds exactly the arcs whose guards hold, whatever was filed, added and removed when."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.algebra.normal_form import NEVER, Form, normalise
from broker.algebra.predicate import SharedPredicate, holds
from broker.algebra.resolution import BinaryScope, condition
from broker.algebra.terms import Attribute, Register, Side, Term, replace
from broker.engine.index.arcs import TAIL_MAX, ArcIndex
from broker.engine.program.transition import Transition
from broker.events.schema import Row, Schema
from broker.language import cayuga
from broker.language.cayuga import syntax as cayuga_syntax

SCHEMA = Schema.declare({"k": "string?", "x": "float?", "n": "int", "b": "bool"})
FLOATS = [-1.0, 0.0, 0.5, 1.0, 2.0, 1e308]
INTS = [-1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1]
WORDS = ["", "a", "ab", "abc", "abcd", "bcd", "xabcx", "zzz", "Abcde", "äöü", "xÄÖÜ", "abcdeabcde"]
WORDS += ["10.1.2.3", "::ffff:10.0.0.1", "2001:db8::7"]

floats = st.sampled_from(FLOATS)
ints = st.sampled_from(INTS)
relation = st.sampled_from(["<", "<=", ">", ">=", "=", "!="])
atoms = st.one_of(
    st.builds("k = '{}'".format, st.sampled_from(WORDS)),
    st.builds("x {} {!r}".format, relation, floats),
    st.builds("n {} {}".format, relation, ints),
    st.builds("n {} {!r}".format, relation, floats),
    st.builds("x >= {!r} AND x <= {!r}".format, floats, floats),
    st.builds("x > {!r} AND n < {} AND n > {}".format, floats, ints, ints),
    st.builds("x {} {!r} * $1.x".format, relation, floats),
    st.builds("x {} $1.x".format, relation),
    st.builds("starts_with(k, '{}')".format, st.sampled_from(WORDS)),
    st.builds("contains(k, '{}')".format, st.sampled_from(WORDS)),
    st.builds("ends_with(k, '{}')".format, st.sampled_from(WORDS)),
    st.builds("NOT contains(k, '{}')".format, st.sampled_from(WORDS)),
    st.builds("contains(lower(k), '{}')".format, st.sampled_from(WORDS)),
    st.builds("ends_with(lower(k), '{}')".format, st.sampled_from(WORDS)),
    st.builds("NOT starts_with(lower(k), '{}')".format, st.sampled_from(WORDS)),
    st.builds("lower(k) {} '{}'".format, st.sampled_from(["=", "!="]), st.sampled_from(WORDS)),
    st.builds(
        "k {} '{}'".format,
        st.sampled_from(["LIKE", "LIKE~", "NOT LIKE", "NOT LIKE~"]),
        st.sampled_from(["a*", "*B", "*bc*", "abc", "a?c*", "*", "", "*c*e*", "*Ü", "x*?c*"]),
    ),
    st.builds(
        "k {} '{}'".format,
        st.sampled_from(["MATCHES", "MATCHES~", "NOT MATCHES"]),
        st.sampled_from(["^a", "b+c", "(abc|zz)", "[a-c]{3}", "x.*x", "", "Ä|e$"]),
    ),
    st.builds("k CIDR '{}'".format, st.sampled_from(["10.0.0.0/8", "10.1.0.0/16", "0.0.0.0/0", "2001:db8::/32"])),
    st.sampled_from(["b", "NOT b", "DUR < 3", "k = $1.k", "n = $1.n"]),
)
guards = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: " AND ".join(f"({p})" for p in parts)),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: " OR ".join(f"({p})" for p in parts)),
        inner.map("NOT ({})".format),
    ),
    max_leaves=8,
)


def form_of(text: str) -> Form:
    written = text.replace("k ", "$2.k ").replace("(k", "($2.k").replace("x ", "$2.x ").replace("n ", "$2.n ")
    written = written.replace("$1.$2.", "$1.").replace("b", "b")
    words = [("$2.b" if word == "b" else word) for word in written.split(" ")]
    source = cayuga.parse(f"S NEXT{{{' '.join(words)}}} S").source
    assert isinstance(source, cayuga_syntax.Next)
    assert source.condition is not None
    return normalise(replace(condition(source.condition, BinaryScope(text, SCHEMA, SCHEMA, iterates=False)), register))


def register(term: Term) -> Term:
    if isinstance(term, Attribute) and term.side is Side.FIRST:
        return Register(-1, term.position, term.type)
    return term


rows: st.SearchStrategy[Row] = st.tuples(
    st.one_of(st.none(), st.sampled_from(WORDS)), st.one_of(st.none(), floats), ints, st.booleans()
)


@settings(max_examples=max(400, 4 * settings().max_examples))
@given(st.lists(guards, min_size=1, max_size=12), st.lists(st.tuples(rows, rows), min_size=2, max_size=6), st.data())
def test_finds_what_trying_each_finds(texts: list[str], probes: list[tuple[Row, Row]], data: st.DataObject) -> None:
    index: ArcIndex[Transition] = ArcIndex(0)
    arcs = [Transition(form_of(text), None, None, None) for text in texts]
    present: list[Transition] = []
    for arc in arcs:
        index.add(arc)
        present.append(arc)
        if data.draw(st.integers(0, 3)) == 0:
            gone = data.draw(st.sampled_from(present))
            index.remove(gone)
            present.remove(gone)
        if data.draw(st.integers(0, 3)):
            index._columns = None
        for row, bound in probes:
            found = index.satisfied(row, bound, (), 1, 2)
            expected = [a for a in present if a.form != NEVER and holds(a.guard, row, bound, (), 1, 2)]
            assert sorted(map(id, found)) == sorted(map(id, expected))
    index.check_invariants()


def test_removed_arcs_are_not_found_before_the_others_are_filed_again() -> None:
    index: ArcIndex[Transition] = ArcIndex(0)
    arcs = [Transition(form_of(f"x > {i}.0"), None, None, None) for i in range(100)]
    for arc in arcs:
        index.add(arc)
    row: Row = ("a", 1000.0, 0, True)
    assert len(index.satisfied(row, (), (), 1, 1)) == 100
    index.remove(arcs[3])
    assert index._columns is not None
    assert arcs[3] not in index.satisfied(row, (), (), 1, 1)


def test_integers_that_no_float_holds_are_compared_exactly() -> None:
    index: ArcIndex[Transition] = ArcIndex(0)
    for i in range(20):
        index.add(Transition(form_of(f"n > {2**53 - 10 + i}"), None, None, None))
    for n in range(2**53 - 12, 2**53 + 14):
        assert len(index.satisfied(("a", 0.0, n, True), (), (), 1, 1)) == min(max(0, n - 2**53 + 10), 20)


def test_a_tail_is_filed_when_it_is_long() -> None:
    index: ArcIndex[Transition] = ArcIndex(0)
    for i in range(10 * TAIL_MAX):
        index.add(Transition(form_of(f"x > {i}.0"), None, None, None))
        assert len(index.satisfied(("a", i + 0.5, 0, True), (), (), 1, 1)) == i + 1
    assert len(index._tail) <= TAIL_MAX


def test_a_costly_predicate_of_the_event_is_shared_by_all_arcs_that_have_it() -> None:
    costly = "abs(x - 3.0) < 2.0"
    arcs = [Transition(form_of(f"n > {n} AND {costly}"), None, None, None) for n in range(50)]
    arcs += [Transition(form_of(costly), None, None, None) for _ in range(50)]
    index: ArcIndex[Transition] = ArcIndex(8)
    for arc in arcs:
        index.add(arc)
    for x, n, found in ((4.0, 10, 60), (9.0, 10, 0), (2.0, 100, 100), (None, 3, 0), (4.0, 10, 60)):
        row: Row = ("a", x, n, True)
        assert len(index.satisfied(row, ("", 0.0, 0, False), (), 1, 1)) == found
    shared = SharedPredicate()
    (atom,) = form_of(costly)[0]
    assert shared.predicate(atom) is shared.predicate(atom)
    (joined,) = form_of("x < $1.x - 3.0")[0]
    assert shared.predicate(joined) is not shared.predicate(joined)  # another run, another answer
