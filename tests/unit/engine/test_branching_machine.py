"""Subscriptions whose elements may be absent, in an engine: which executor runs them, what users see, limits."""

from __future__ import annotations

import pytest

from broker.automaton.diagram import draw
from broker.engine import Engine, Options
from broker.events.errors import LimitExceeded

QUERY = (
    "PATTERN SEQ(S a, S? b, S c) WHERE skip_till_next_match(a, b, c) "
    "{{ [k] AND a.ty = '{}' AND b.ty = 'B' AND c.ty = 'C' }} WITHIN 100"
)
EVENTS = [("A", 0), ("B", 0), ("A", 1), ("C", 0), ("X", 1), ("C", 1)]


def engine(options: Options | None = None, **queries: str) -> Engine:
    made = Engine(options or Options())
    made.add_stream("S", {"ty": "string", "k": "int"})
    for name, query in queries.items():
        made.subscribe(name, language="sase", query=query)
    return made


def fed(made: Engine) -> list[dict[str, list[int]] | None]:
    found = []
    for number, row in enumerate(EVENTS, 1):
        found += [match.bindings for match in made.publish("S", [number], [row], [number]).expanded()]
        made.check_invariants()
    return found


def test_a_set_of_runs_for_each_variant() -> None:
    made = engine(q=QUERY.format("A"))
    assert fed(made) == [{"a": [1], "b": [2], "c": [4]}, {"a": [3], "c": [6]}]
    lines = made.explain()
    assert any(line.startswith("q: executor kleene") for line in lines)
    assert "q: 2 variants, a set of runs for each" in lines
    assert "q: variant a, c: no b between a and c: by the index: b.ty = 'B'; only the newest is kept by k" in lines
    assert made.statistics()["patterns"] == 1
    drawn = draw(made.diagram(), "text")
    assert "q: a, b, c" in drawn
    assert "q: a, c" in drawn


def test_matches_have_the_same_ids_whichever_executor_finds_them() -> None:
    ids = []
    for options in (Options(), Options(executors_off=("kleene",))):
        made = engine(options, q=QUERY.format("A"))
        found = [match.id for n, row in enumerate(EVENTS, 1) for match in made.publish("S", [n], [row], [n])]
        assert len(set(found)) == 2
        ids.append(found)
    assert ids[0] == ids[1]


def test_nonoverlapping_matches_of_variants_are_chosen_by_the_reference() -> None:
    made = engine(q=QUERY.format("A") + " OUTPUT nonoverlap")
    line = next(line for line in made.explain() if "executor" in line)
    assert line.startswith("q: executor reference")
    assert line.endswith("not kleene: matches of several lines of operands must not overlap")
    assert fed(made) == [{"a": [1], "b": [2], "c": [4]}, {"a": [3], "c": [6]}]


def test_one_compressed_result_stands_for_the_matches_of_all_variants() -> None:
    text = QUERY.format("A").replace("next", "any") + " OUTPUT compressed"
    made = engine(q=text)
    results = [match for n, row in enumerate(EVENTS, 1) for match in made.publish("S", [n], [row], [n])]
    assert [match.tuples for match in results] == [2, 1, 2][: len(results)]
    assert len(fed(engine(q=text))) == sum(match.tuples or 0 for match in results)


def test_texts_that_differ_in_constants_share_a_form() -> None:
    made = engine(one=QUERY.format("A"), two=QUERY.format("X"))
    one, two = (made.catalog.subscriptions[name] for name in ("one", "two"))
    assert one.form is two.form
    assert fed(made) == [{"a": [1], "b": [2], "c": [4]}, {"a": [3], "c": [6]}, {"a": [5], "c": [6]}]


def test_partial_matches_have_the_names_of_all_variants() -> None:
    made = engine(q=QUERY.format("A"))
    made.publish("S", [1, 2], EVENTS[:2], [1, 2])
    held = list(made.partial_matches("q"))
    assert sorted(map(str, held)) == sorted(["{'a': [1], 'b': [2]}", "{'a': [1]}"])


def test_a_snapshot_keeps_the_runs_of_all_variants() -> None:
    made = engine(q=QUERY.format("A"))
    made.publish("S", [1, 2, 3], EVENTS[:3], [1, 2, 3])
    again = Engine.restore(made.snapshot())
    found = [match.bindings for n in (4, 5, 6) for match in again.publish("S", [n], [EVENTS[n - 1]], [n])]
    assert found == [{"a": [1], "b": [2], "c": [4]}, {"a": [3], "c": [6]}]


def test_too_many_conditions_in_all_variants_are_refused() -> None:
    names = [f"v{number}" for number in range(5)]
    kleene = ", ".join(f"S+ {name}[]" for name in names)
    conditions = " AND ".join(f"{name}[{at}].ty != '{name}{at}'" for name in names for at in ("1", "i"))
    several = " AND ".join(f"o{number}.ty = '{number}'" for number in range(5))
    optional = ", ".join(f"S? o{number}" for number in range(5))
    covered = ", ".join([*names, *(f"o{number}" for number in range(5))])
    text = f"PATTERN SEQ({kleene}, {optional}) WHERE skip_till_any_match({covered}) {{ {conditions} AND {several} }}"
    engine(q=f"{text} WITHIN 9")
    more = ", ".join(f"S m{number}" for number in range(50))
    tests = " AND ".join(f"m{number}.ty = 'm{number}'" for number in range(50))
    long = text.replace("SEQ(", f"SEQ({more}, ").replace("match(", f"match({', '.join(f'm{n}' for n in range(50))}, ")
    with pytest.raises(LimitExceeded, match="different conditions on single events, at most 62"):
        engine(q=long.replace("{ ", f"{{ {tests} AND ") + " WITHIN 9")
