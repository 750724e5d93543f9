"""The index of texts: parts, beginnings, ends and networks in a text, and witnesses that learn from the stream."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from broker.algebra.normal_form import Form, alternatives_in, normalise, reordered
from broker.algebra.predicate import condition, holds
from broker.algebra.terms import (
    Attribute,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Function,
    Negation,
    Side,
    Term,
    replace,
)
from broker.algebra.text_tests import LOWER, WRITTEN, EventText
from broker.engine.index.addresses import Addresses
from broker.engine.index.arcs import SAMPLED, VAIN, ArcIndex, Guarded
from broker.engine.index.pieces import BITS_MIN, SPARSE, Pieces
from broker.engine.index.texts import AFFIX_MAX, Affixes, Texts
from broker.engine.index.witness import MEASURED_MIN, Selectivities, witness
from broker.events.networks import network
from broker.events.schema import Row
from broker.events.text_condition import CONTAINS, ENDS, EQUALS, STARTS

texts = st.text("abÄß€😀\ud800", max_size=12)
kinds = st.sampled_from([CONTAINS, STARTS, ENDS, EQUALS])


def found_in(index: Pieces[int] | Affixes[int] | Texts[int] | Addresses[str], text: Any) -> list[Any]:
    found: list[Any] = []
    index.find(text, found)
    return sorted(found)


def asks(name: str, part: str, position: int = 0) -> Term:
    return Function(name, (Attribute(Side.EVENT, position, "string", "a"), Constant(part, "string")), "bool")


def stands(kind: str, text: str, part: str) -> bool:
    if kind == CONTAINS:
        return part in text
    return text.startswith(part) if kind == STARTS else text.endswith(part) if kind == ENDS else text == part


@given(st.lists(st.tuples(kinds, texts), max_size=12), st.lists(texts, max_size=6), st.lists(texts, max_size=6))
def test_what_is_found_is_what_stands(parts: list[tuple[str, str]], events: list[str], sample: list[str]) -> None:
    index = Texts[int](EventText(0, WRITTEN), [(text,) for text in sample])
    for number, (kind, part) in enumerate(parts):
        index.add(kind, part, number)
    for text in events:
        expected = [number for number, (kind, part) in enumerate(parts) if stands(kind, text, part)]
        assert found_in(index, (text,)) == expected
    assert found_in(index, (None,)) == []


def test_many_parts_make_the_table_grow_and_all_are_found() -> None:
    many = 4 * (1 << BITS_MIN) // SPARSE
    parts = [f"{number:05}" for number in range(many)]
    index = Pieces[int](4, {})
    for number, part in enumerate(parts):
        index.add(part.encode(), number)
    for number in (0, 7, many - 1):
        assert found_in(index, f"xx{parts[number]}yy".encode()) == [number]
    assert index._bits > BITS_MIN


def test_a_part_is_filed_where_events_and_other_parts_are_rare() -> None:
    index = Pieces[int](4, {int.from_bytes(b"path", "big"): 9})
    index.add(b"path1", 1)
    assert list(index._buckets) == [int.from_bytes(b"ath1", "big")]


def test_parts_under_one_piece_are_all_found() -> None:
    index = Pieces[int](4, {int.from_bytes(piece, "big"): 9 for piece in (b"xabc", b"bcdx")})
    for number, part in enumerate((b"abcd", b"xabcd", b"abcdx", b"abcd")):
        index.add(part, number)
    assert len(index._buckets) == 1
    for text, expected in ((b"--xabcdx--", [0, 1, 2, 3]), (b"abcdx", [0, 2, 3]), (b"abc", [])):
        assert found_in(index, text) == expected


@given(st.integers(0, 3), st.booleans())
def test_an_affix_longer_than_what_is_hashed_is_compared_whole(more: int, end: bool) -> None:
    shared = "x" * AFFIX_MAX
    affix = "y" * more + shared if end else shared + "y" * more
    index = Affixes[int](end)
    index.add(affix, 1)
    assert found_in(index, "--" + affix if end else affix + "--") == [1]
    other = affix[1:] if end else affix[:-1]
    assert found_in(index, "zz" + other if end else other + "zz") == []


def test_networks_are_found_by_their_prefix() -> None:
    index = Addresses[str](1)
    for written in ("10.0.0.0/8", "10.1.0.0/16", "2001:db8::/32", "0.0.0.0/0"):
        index.add(network(written), written)
    for text, expected in (
        ("10.1.2.3", ["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16"]),
        ("::ffff:10.2.0.1", ["0.0.0.0/0", "10.0.0.0/8"]),
        ("2001:db8::1", ["2001:db8::/32"]),
        ("2001:db9::1", []),
        ("ten", []),
        (None, []),
    ):
        assert found_in(index, ("", text)) == expected


def test_alternatives_that_search_texts_stay_one_atom_however_many_they_are() -> None:
    many = Disjunction(tuple(asks("contains", f"w{number}") for number in range(900)))
    both = normalise(Conjunction((many, Negation(many), asks("ends_with", "x"))))
    ((*denied, ends, either),) = [sorted(clause, key=lambda atom: bool(alternatives_in(atom))) for clause in both]
    assert len(denied) == 900
    assert not any(map(alternatives_in, (*denied, ends)))
    assert len(alternatives_in(either)) == 900


def test_an_or_in_an_or_is_one_or_and_equal_alternatives_are_one() -> None:
    a, b, c = (asks("contains", part) for part in "abc")
    one = normalise(Disjunction((a, Disjunction((b, Conjunction((c, a)))))))
    other = normalise(Disjunction((Disjunction((Conjunction((a, c)), b)), a, b)))
    assert one == other
    assert normalise(Disjunction((a, a))) == normalise(a)


def test_alternatives_that_become_equal_are_one() -> None:
    def bound(term: Term) -> Term:
        return Constant("a", "string") if isinstance(term, Constant) and term.type == "string" else term

    parts = [asks("contains", part) for part in "abc"]
    both = Conjunction((Disjunction((parts[0], Conjunction((parts[1], asks("ends_with", "x"))))), parts[2]))
    for term in (Disjunction(tuple(parts)), both):
        exchanged = tuple([tuple([atom_with(atom, bound) for atom in clause]) for clause in normalise(term)])
        assert reordered(exchanged) == normalise(replace(term, bound))


def atom_with(atom: Comparison, leaf: Callable[[Term], Term]) -> Comparison:
    changed = replace(atom, leaf)
    assert isinstance(changed, Comparison)
    return changed


leaves = st.one_of(
    st.builds(asks, st.sampled_from(["contains", "starts_with", "ends_with"]), st.sampled_from(["", "a", "ab", "b"])),
    st.builds(
        Comparison,
        st.sampled_from(["=", "<", "!="]),
        st.just(Attribute(Side.EVENT, 1, "int", "n")),
        st.builds(Constant, st.integers(0, 2), st.just("int")),
    ),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda each: Conjunction(tuple(each))),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: Disjunction(tuple(each))),
        inner.map(Negation),
    ),
    max_leaves=10,
)
TEXTS = [None, "", "a", "ab", "ba", "bab"]


def truth(term: Term, row: Row) -> bool | None:
    """SQL's three values, in which NOT of unknown is unknown."""
    if isinstance(term, Negation):
        inner = truth(term.operand, row)
        return None if inner is None else not inner
    if isinstance(term, Conjunction | Disjunction):
        parts = [truth(operand, row) for operand in term.operands]
        decided = isinstance(term, Disjunction)
        return decided if decided in parts else None if None in parts else not decided
    if isinstance(term, Function):
        kind = {"contains": CONTAINS, "starts_with": STARTS, "ends_with": ENDS}[term.name]
        text, part = row[0], term.arguments[1]
        assert isinstance(part, Constant)
        return stands(kind, text, str(part.value)) if isinstance(text, str) else None
    assert isinstance(term, Comparison)
    return {"=": row[1] == term.right.value, "<": row[1] < term.right.value, "!=": row[1] != term.right.value}[  # type: ignore[operator, union-attr]
        term.operator
    ]


@given(conditions)
def test_a_tree_means_what_the_condition_means(term: Term) -> None:
    form = normalise(term)
    ready = condition(form)
    index = ArcIndex[Guarded](0)
    index.add(Guarded(form))
    for text in TEXTS:
        for number in range(3):
            row: Row = (text, number)
            expected = truth(term, row) is True
            assert holds(ready, row, (), (), 0, 0) == expected
            assert len(index.satisfied(row, (), (), 0, 0)) == (expected and form != ())


def filed(index: ArcIndex[Guarded], row: Row) -> int:
    assert index._columns is not None
    return len(index._columns.candidates(row, (), ()))


def test_a_witness_that_is_found_in_vain_is_replaced() -> None:
    index = ArcIndex[Guarded](0)
    terms = [Conjunction((asks("starts_with", "C:"), asks("contains", f"tool{number}"))) for number in range(10)]
    forms: list[Form] = [normalise(term) for term in terms]
    for form in forms:
        index.add(Guarded(form))
    common: Row = ("C:\\windows",)
    index.satisfied(common, (), (), 0, 0)
    assert filed(index, common) == 10  # a beginning is thought to be rarer than a part
    for _ in range(max(VAIN, SAMPLED * MEASURED_MIN) + 2):
        assert index.satisfied(common, (), (), 0, 0) == []
    assert filed(index, common) == 0
    assert [arc.form for arc in index.satisfied(("C:\\tool7",), (), (), 0, 0)] == [forms[7]]


def test_alternatives_have_a_witness_if_each_has_one() -> None:
    listed = Disjunction((asks("contains", "abcd"), Conjunction((asks("ends_with", "x"), asks("contains", "y")))))
    (clause,) = normalise(Conjunction((listed, asks("contains", "b"))))
    costs = Selectivities([])
    filings = witness(clause, costs)
    assert sorted((filing.text.kind, filing.text.part) for filing in filings if filing.text is not None) == [
        (CONTAINS, "abcd"),
        (ENDS, "x"),
    ]
    without = Disjunction((asks("contains", "abcd"), Negation(asks("contains", "q"))))
    ((atom,),) = normalise(without)
    assert costs.of(atom, (atom,)) == math.inf
    assert witness((atom,), costs) == []


def test_what_stands_beside_alternatives_is_asked_for_each() -> None:
    listed = Disjunction((asks("contains", "abcd"), Conjunction((asks("ends_with", "x"), asks("contains", "y")))))
    index = ArcIndex[Guarded](0)
    index.add(Guarded(normalise(Conjunction((listed, Negation(asks("contains", "q")))))))
    for text, expected in (("abcd", 1), ("yx", 1), ("x", 0), ("abcdq", 0), ("qyx", 0), ("abcdyx", 1)):
        assert len(index.satisfied((text,), (), (), 0, 0)) == expected


def test_a_text_in_lower_case_is_another_text() -> None:
    index = Texts[int](EventText(0, LOWER), [])
    index.add(CONTAINS, "abc", 1)
    index.add(CONTAINS, "ABC", 2)
    assert found_in(index, ("xABCx",)) == [1]
