"""A subscription that is bound to a template is the one that parsing its text gives: automata, plans, texts, errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from strategies import afa, cayuga_queries, composite_subscriptions, group_queries, sase, typed_queries, windows

from broker.algebra.terms import Constant, walk
from broker.automaton.arc_updates import ArcUpdate
from broker.automaton.automaton import Automaton, Computed
from broker.automaton.rewriting.alternatives import EQUAL_MAX
from broker.engine import Engine, Options
from broker.engine.executors.groups.machine_plan import GroupPlan
from broker.engine.executors.kleene.machine_plan import PatternPlan
from broker.engine.executors.tuple_counts.machine_plan import CountsPlan
from broker.engine.subscribing.subscriber import Subscriber
from broker.events.errors import ForetellError
from broker.events.schema import Schema
from broker.language import cayuga
from broker.language.cayuga.printer import print_query
from broker.language.cayuga.syntax import CelQuery
from broker.language.shapes import PERCENT, Literal, QueryShape, bracketed_shape_of, percentage_of, shape_of
from broker.language.window import print_query as print_windows
from broker.language.window.syntax import WindowQuery

CHANGE = ArcUpdate(("u: a -> a WHEN x > 2",), (), 3, 9)
slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def written(literal: Literal) -> str:
    return "'" + literal.replace("'", "''") + "'" if isinstance(literal, str) else repr(literal)


def exchanged(text: str, shape: QueryShape, literals: Sequence[Literal]) -> str:
    """The text with other literals; a duration is written in the unit that follows it."""
    parts: list[str] = []
    for piece, literal, unit in zip(shape.pieces(), literals, shape.units):
        if unit == PERCENT:
            parts += [piece, percentage_of(float(literal))]
        else:
            parts += [piece, written(literal if unit == 0 else int(literal) // unit)]
    return "".join([*parts, shape.pieces()[-1]])


@st.composite
def with_percentages(draw: st.DrawFn, text: str) -> str:
    """The text with some of its decimal numbers written as percentages."""
    shape = shape_of(text)
    if shape is None:
        return text
    parts: list[str] = []
    for piece, literal, unit in zip(shape.pieces(), shape.literals, shape.units):
        if isinstance(literal, float) and draw(st.booleans()):
            parts += [piece, percentage_of(literal), "%"]
        else:
            parts += [piece, written(literal if unit == 0 else int(literal) // unit)]
    return "".join([*parts, shape.pieces()[-1]])


@st.composite
def others(draw: st.DrawFn, shape: QueryShape) -> list[Literal]:
    """Literals of the same types, some equal, some those of the text."""
    kinds: dict[type, st.SearchStrategy[Literal]] = {
        int: st.integers(0, 5),
        float: st.sampled_from([0.0, 0.5, 1.5, 2.0]),
        str: st.sampled_from(["u", "v", "uv", "it's"]),
    }
    found: list[Literal] = []
    for literal, unit in zip(shape.literals, shape.units):
        if draw(st.integers(0, 3)) == 0:
            found.append(literal)
        elif unit > 0:
            found.append(unit * draw(st.integers(0, 5)))
        else:
            found.append(draw(kinds[type(literal)]))
    return found


def constants(automaton: Automaton) -> Iterator[object]:
    yield automaton.within
    yield from (limit for arc in automaton.arcs for each in arc.elapsed for limits in each.allowed for limit in limits)
    if automaton.machines is not None:
        yield automaton.machines.within
    terms = [atom for state in automaton.states for clause in state.theta for atom in clause]
    for arc in automaton.arcs:
        terms += [atom for form in (arc.guard, arc.rest) for clause in form for atom in clause]
        for term in (*arc.output, *arc.conjuncts, *(s.term for s in arc.update if isinstance(s, Computed))):
            yield from (leaf.value for leaf in walk(term) if isinstance(leaf, Constant))
    yield from (leaf.value for term in terms for leaf in walk(term) if isinstance(leaf, Constant))


def fields(value: object) -> object:
    """What a table says, to the last field of its parts."""
    if isinstance(value, list | tuple):
        return [fields(each) for each in value]
    own = getattr(value, "__dict__", None)
    names = getattr(type(value), "__mypyc_attrs__", ()) if own is None else own  # compiled, an object has no dictionary
    return {name: fields(getattr(value, name)) for name in names} if names else repr(value)


def installed(engine: Engine, language: str, text: str, **options: Any) -> Subscriber | tuple[type, str]:
    try:
        engine.subscribe("q", language, text, **options)
    except ForetellError as error:
        return type(error), str(error)
    return engine.catalog.subscriptions["q"]


def engines(schemas: dict[str, Schema], off: tuple[str, ...]) -> tuple[Engine, Engine]:
    made = Engine(Options(executors_off=off)), Engine(Options(executors_off=off, templates=False))
    for engine in made:
        for name, schema in schemas.items():
            engine.add_stream(name, schema.declared())
    return made


def compare(schemas: dict[str, Schema], language: str, text: str, data: st.DataObject, **options: Any) -> None:
    """The text makes the template; another text of its shape is bound to it, and parsed by an engine without any."""
    if language == "window":
        shape = bracketed_shape_of(text)
    else:
        text = data.draw(with_percentages(text))
        shape = shape_of(text)
    assume(shape is not None)
    assert shape is not None
    off: tuple[str, ...] = data.draw(st.sampled_from([(), ("groups",)]))
    other = exchanged(text, shape, data.draw(others(shape)))
    note(other)
    check(schemas, language, text, other, off, **options)


def check(
    schemas: dict[str, Schema], language: str, text: str, other: str, off: tuple[str, ...] = (), **options: Any
) -> None:
    bound, parsed = engines(schemas, off)
    for engine in (bound, parsed):  # both, because key spaces stay when a subscription leaves
        if isinstance(installed(engine, language, text, **options), Subscriber):
            engine.unsubscribe("q")
    one, two = installed(bound, language, other, **options), installed(parsed, language, other, **options)
    if not isinstance(one, Subscriber) or not isinstance(two, Subscriber):
        assert one == two
        return
    assert one.text() == two.text()
    assert one.definition() == two.definition()
    assert one.definition().query == other
    if any(len(arc.guard) > EQUAL_MAX for automaton in one.form.automata() for arc in automaton.arcs):
        return  # of equal literals fewer alternatives are left, and only where these are few are they made shorter
    compiled = [subscriber.form.compiled(subscriber.literals) for subscriber in (one, two)]
    assert compiled[0].automata == compiled[1].automata
    assert repr(compiled[0]) == repr(compiled[1])
    assert (one.machine is None) == (two.machine is None)
    if one.machine is not None and two.machine is not None:
        assert repr(one.machine.automaton) == repr(two.machine.automaton)
        assert one.machine.passed_over == two.machine.passed_over
        assert one.machine.inputs() == two.machine.inputs()
        assert one.machine.alike(bound.options) == two.machine.alike(bound.options)
        # A rule may have more to do where literals are equal by chance.
        explained = [[line for line in engine.explain() if "rewritten: " not in line] for engine in (bound, parsed)]
        assert explained[0] == explained[1]
        assert bound.snapshot() == parsed.snapshot()
    if one.form.changing is not None:
        arcs, other_arcs = (each.first_arcs().updated(CHANGE).automaton for each in (one, two))
        assert repr(arcs) == repr(other_arcs)
    if isinstance(one.machine, PatternPlan) and isinstance(two.machine, PatternPlan):
        assert repr(one.machine.plan) == repr(two.machine.plan)
    if isinstance(one.machine, CountsPlan) and isinstance(two.machine, CountsPlan):
        assert fields(one.machine.counted) == fields(two.machine.counted)
    if isinstance(one.machine, GroupPlan) and isinstance(two.machine, GroupPlan):
        assert one.machine.point == two.machine.point
    for first, second in zip(one.form.branches, two.form.branches, strict=True):
        branch, other_branch = first.plan(one.literals), second.plan(two.literals)
        assert type(branch) is type(other_branch)
        assert repr(branch.automaton) == repr(other_branch.automaton)
        if isinstance(branch, GroupPlan) and isinstance(other_branch, GroupPlan):
            assert branch.alike(bound.options) == other_branch.alike(bound.options)
            assert branch.point == other_branch.point
    automata = compiled[0].automata if one.machine is None else (one.machine.automaton,)
    plain = (int, float, str, bool, type(None))
    assert all(type(value) in plain for automaton in automata for value in constants(automaton))
    bound.check_invariants()


@settings(max_examples=4 * settings().max_examples, suppress_health_check=slow)
@given(typed_queries.queries(), st.sampled_from([None, None, {"threshold": 0.5, "within": 10}]), st.data())
def test_cel(syntax: CelQuery, forecast: dict[str, Any] | None, data: st.DataObject) -> None:
    compare(dict(typed_queries.SCHEMAS), "cayuga", print_query(syntax), data, forecast=forecast)


@settings(max_examples=4 * settings().max_examples, suppress_health_check=slow)
@given(st.one_of(sase.queries(), sase.lacking()), st.data())
def test_sase(text: str, data: st.DataObject) -> None:
    compare(dict(sase.SCHEMAS), "sase", text, data)


@settings(max_examples=4 * settings().max_examples, suppress_health_check=slow)
@given(
    composite_subscriptions.subscriptions(most=4),
    st.sampled_from([None, "all", "completions"]),
    st.sampled_from([None, None, {"threshold": 0.5, "within": 10}]),
    st.data(),
)
def test_ptopss(text: str, report: str | None, forecast: dict[str, Any] | None, data: st.DataObject) -> None:
    compare(dict(composite_subscriptions.SCHEMAS), "ptopss", text, data, report=report, forecast=forecast)


@settings(suppress_health_check=slow)
@given(st.one_of(afa.query_texts(), afa.waiting_texts()), st.data())
def test_afa(text: str, data: st.DataObject) -> None:
    compare({"S": afa.SCHEMA}, "afa", text, data)


@settings(max_examples=4 * settings().max_examples, suppress_health_check=slow)
@given(st.integers(0, 2**40), st.data())
def test_groups(seed: int, data: st.DataObject) -> None:
    """Texts of which most have a group, whose coordinates are computed without the analysis."""
    joined = [action for action in group_queries.script(seed) if isinstance(action, group_queries.Joins)]
    schemas = {"S": Schema.declare(group_queries.SCHEMA)}
    for action in joined[:2]:
        compare(schemas, action.language, action.text, data)


@settings(max_examples=4 * settings().max_examples, suppress_health_check=slow)
@given(windows.queries(windows.pairs(windows.SEVERAL_OWN)), st.data())
def test_windows(query: WindowQuery, data: st.DataObject) -> None:
    """Also where constants of one attribute are compared, whose order decides which classes of events there are."""
    compare({"S": windows.SCHEMA}, "window", print_windows(query), data)


def test_texts_whose_constants_have_one_order_have_one_form() -> None:
    engine = Engine()
    engine.add_stream("S", windows.SCHEMA.declared())
    text = "FROM S BY ty WINDOW AFTER any* MATCHING [v > {}] any* [v < {}] any* [x = {}]"
    for number, constants in enumerate([(5, 3, 1), (7, 2, 9), (2, 7, 1), (1, 6, 9), (4, 4, 4), (4, 4, 0), (-3, 2, 1)]):
        engine.subscribe(f"q{number}", "window", text.format(*constants))
    forms = [id(engine.catalog.subscriptions[f"q{number}"].form) for number in range(7)]
    assert forms[0] == forms[1]
    assert forms[2] == forms[3]
    assert forms[4] != forms[5]  # equal literals are one
    assert len(set(forms)) == 5


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ptopss", "FROM S a: v > 1 b: v < 3 MATCH (a AND b) @(t(b) - t(a) <= {})"),
        ("ptopss", "FROM S BY ty a: v > 1 b: v < 3 MATCH a; b @(t(b) - t(a) <= {})"),
        ("ptopss", "FROM S a: v > 1 b: v < 3 MATCH a AND b WITHIN {}"),
        ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ a.v > 1 AND b.v < 3 }} WITHIN {}"),
        ("cayuga", "SELECT v FROM FILTER{{DUR <= {}}}(FILTER{{v > 1}}S NEXT{{$2.v < 3}} S)"),
    ],
)
def test_texts_with_other_durations_have_one_form(language: str, text: str) -> None:
    """Compiled, too, where a duration that is read as a plain integer loses its mark."""
    engine = Engine()
    engine.add_stream("S", windows.SCHEMA.declared())
    for duration in range(5, 15):
        engine.subscribe(f"q{duration}", language, text.format(f"{duration} s"))
    assert len({id(subscriber.form) for subscriber in engine.catalog.subscriptions.values()}) == 1


def test_a_prepared_query_takes_literals_in_another_order() -> None:
    text = "FROM S WINDOW AFTER any* MATCHING [v > {}] any* [v < {}]"
    events = [(time, (None, value, None)) for time, value in enumerate([1, 6, 4, 2, 9, 3])]
    times, rows = [time for time, _ in events], [row for _, row in events]
    for constants in ((5, 3), (3, 5), (4, 4), (3, 8)):
        prepared, parsed = Engine(), Engine()
        for engine in (prepared, parsed):
            engine.add_stream("S", windows.SCHEMA.declared())
        first = prepared.prepare(text.format(5, 3), "window")
        prepared.subscribe("q", query=first.with_literals(*constants))
        parsed.subscribe("q", "window", text.format(*constants))
        one, two = [[match.line() for match in engine.publish("S", times, rows)] for engine in (prepared, parsed)]
        assert one == two
        assert one or constants == (5, 3)


@given(cayuga_queries.queries)
def test_a_shape_keeps_what_is_no_literal(syntax: CelQuery) -> None:
    """Blanking and writing back gives the text again, whatever names, durations and percentages look like."""
    text = print_query(syntax)
    shape = shape_of(text)
    assume(shape is not None)
    assert shape is not None
    parsed = cayuga.parse(exchanged(text, shape, shape.literals))
    assert parsed == syntax
    assert len(shape.literals) == len(shape.places) == len(shape.units)


PAIR = "SELECT * FROM FILTER{ty = 'B' AND p > 2}(FILTER{ty = 'B' AND k >= 3}(S) NEXT{$2.ty = 'A'} S)"
EQUAL = "PATTERN SEQ(S a, S b) WHERE strict_contiguity(a, b) { b.u.g LIKE~ ('u', 'v') } WITHIN 0"
LESS = "PATTERN SEQ(S a, S b) WHERE strict_contiguity(a, b) { b.u.g NOT LIKE~ ('u', 'v') } WITHIN 0"
AT_ONCE = "FROM S a: ty = 'A' b: ty = 'A' MATCH a @(t(a) - t(b) >= 0 us) @(t(b) - t(a) <= 0 us), b"
FIRST = """PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) {
    a[1].p > 1 AND a[i].p > 3 AND a[a.LEN].p > 1.5 AND b.p > 2 } WITHIN 20 RETURN a.LEN"""


@pytest.mark.parametrize(
    ("schemas", "language", "text", "other"),
    [
        pytest.param(
            {"S": Schema.declare(group_queries.SCHEMA)},
            "sase",
            FIRST,
            FIRST.replace("> 3", "> 1").replace("1.5", "0.0"),
            id="bounds that meet in a loop",
        ),
        pytest.param({"S": Schema.declare(group_queries.SCHEMA)}, "cayuga", PAIR, PAIR, id="what never holds"),
        pytest.param(dict(sase.SCHEMAS), "sase", EQUAL, EQUAL.replace("'v'", "'u'"), id="equal patterns"),
        pytest.param(dict(sase.SCHEMAS), "sase", LESS, LESS.replace("'v'", "'u'"), id="equal patterns behind NOT"),
        pytest.param(dict(composite_subscriptions.SCHEMAS), "ptopss", AT_ONCE, AT_ONCE, id="limits that meet"),
    ],
)
def test_what_templates_once_said_otherwise(schemas: dict[str, Schema], language: str, text: str, other: str) -> None:
    check(schemas, language, text, other)
