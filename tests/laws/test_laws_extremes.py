"""Numbers at the ends of what machine words hold change nothing: every language against its executable meaning.

What is compiled computes times, windows and counts in 64 bits and must neither fail nor wrap; what is interpreted has
integers of any size. Both are held against the meaning, each when the tests run on it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from doubles.read_columns import in_columns
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from strategies.extremes import ATTRIBUTES, SCHEMA, STREAM, Happened, cayuga, histories, ptopss, sase

from broker.algebra.cayuga import lowering as lowering_cayuga
from broker.algebra.cayuga.semantics import evaluate
from broker.algebra.ptopss import lowering as lowering_ptopss
from broker.algebra.ptopss import semantics as semantics_ptopss
from broker.algebra.sase import lowering as lowering_sase
from broker.algebra.sase import semantics as semantics_sase
from broker.algebra.semantics import Occurrence
from broker.engine import Engine, Match, Options
from broker.events.errors import DefinitionError, ForetellError, QueryError
from broker.events.instant import FOREVER, LARGEST
from broker.forecast.inter_arrival import InterArrivals
from broker.forecast.keyed_stream import KeyedStream, StreamKey
from broker.language import cayuga as cayuga_language
from broker.language import ptopss as ptopss_language
from broker.language import sase as sase_language

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
many = settings(max_examples=8 * settings().max_examples, suppress_health_check=slow, deadline=None)


def fed(language: str, text: str, history: list[Happened], options: Options, cut: int, **more: Any) -> list[Match]:
    """The results in batches of any length: a snapshot is taken at the cut; at the end there are no more events."""
    engine = Engine(options)
    engine.add_stream(STREAM, ATTRIBUTES)
    engine.subscribe("q", language, text, True, **more)
    found: list[Match] = []
    for part in (history[:cut], history[cut:]):
        columns = [h.time for h in part], [h.row for h in part], [h.id for h in part], [h.start for h in part]
        found += in_columns(engine.publish(STREAM, *columns))
        engine.check_invariants()
        engine = Engine.restore(engine.snapshot(), options)
    found += engine.finish()
    engine.check_invariants()
    return found


def exact(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((type(value).__name__, value) for value in row)


@many
@given(cayuga(), histories(), st.integers(0, 6), st.booleans())
def test_cayuga_is_the_meaning(text: str, history: list[Happened], cut: int, plain: bool) -> None:
    note(text)
    try:
        query = lowering_cayuga.lower(cayuga_language.parse(text), text, {STREAM: SCHEMA}.get, lambda: [STREAM])
    except QueryError as error:
        note(str(error))
        return
    options = Options(indexes=False) if plain else Options()
    found = fed("cayuga", text, history, options, cut)
    bag = [Occurrence(h.row, h.start, h.time, (h.id,)) for h in history]
    expected = Counter((exact(e.row), e.start, e.end, e.lineage) for e in evaluate(query.expression, {STREAM: bag}))
    assert Counter((exact(tuple(m.data.values())), m.start, m.end, tuple(m.lineage or ())) for m in found) == expected


@many
@given(sase(), histories(), st.integers(0, 6), st.booleans())
def test_sase_is_the_meaning(text: str, history: list[Happened], cut: int, plain: bool) -> None:
    note(text)
    try:
        pattern = lowering_sase.lower(sase_language.parse(text), text, {STREAM: SCHEMA}.get, lambda: [STREAM])[0]
    except ForetellError as error:
        note(str(error))
        return
    options = Options(columns=False) if plain else Options()
    found = fed("sase", text, history, options, cut)
    events = [(STREAM, h.time, h.row) for h in history]
    expected: Counter[Any] = Counter()
    for assignment in semantics_sase.matches(pattern, events):
        ids = tuple(history[index].id for indices in assignment for index in indices)
        expected[exact(semantics_sase.returned(pattern, events, assignment)), ids] += 1
    assert Counter((exact(tuple(m.data.values())), tuple(m.lineage or ())) for m in found) == expected


@many
@given(ptopss(), histories(), st.integers(0, 6), st.sampled_from(["all", "completions"]))
def test_ptopss_is_the_meaning(text: str, history: list[Happened], cut: int, report: str) -> None:
    note(text)
    try:
        composite = lowering_ptopss.lower(ptopss_language.parse(text), text, {STREAM: SCHEMA}.get, lambda: [STREAM])
        found = fed("ptopss", text, history, Options(), cut, report=report)
    except (DefinitionError, QueryError) as error:
        note(str(error))
        return
    events = [(STREAM, h.time, h.row) for h in history]
    expected: dict[Any, set[tuple[int, ...]]] = {}
    for assignment in semantics_ptopss.tuples(composite, events):
        taken = [index for index in assignment if index is not None]
        binding = exact(semantics_ptopss.binding(composite, assignment, events))
        expected.setdefault((history[max(taken)].id, binding), set()).add(tuple(history[n].id for n in taken))
    seen: dict[Any, set[tuple[int, ...]]] = {}
    numbers = {h.id: at for at, h in enumerate(history)}
    for match in found:
        ids = tuple(match.lineage or ())
        end = max(ids, key=numbers.__getitem__)
        key = end, exact(tuple(match.data.values()))
        seen.setdefault(key, set()).add(ids)
        if report == "completions":
            assert match.tuples == len(expected[key])
    if report == "all":
        assert seen == expected
    else:
        assert seen.keys() == expected.keys()
        assert all(ids <= expected[key] for key, ids in seen.items())


def numbered(query: str, language: str, times: list[int], rows: list[Any], attributes: dict[str, str]) -> list[Match]:
    engine = Engine()
    engine.add_stream(STREAM, attributes)
    engine.subscribe("q", language, query)
    return [*engine.publish(STREAM, times, rows), *engine.finish()]


@pytest.mark.parametrize("bound", [f"< {2**63 - 1}", f"< {2**63 - 1000}", "< 1e300", f"<= {FOREVER}", f"< {FOREVER}"])
def test_a_bound_that_all_durations_keep_to_is_none(bound: str) -> None:
    query = f"SELECT * FROM S NEXT{{$2.ty = $1.ty AND DUR {bound}}} S"
    for times in ([10**15, 10**15 + 1], [-1, 2**60], [1 - LARGEST, LARGEST - 1], [-LARGEST, LARGEST]):
        found = numbered(query, "cayuga", times, [("A", 1, 1.0)] * 2, ATTRIBUTES)
        assert len(found) == (bound != f"< {FOREVER}" or times[0] > -LARGEST)


def test_a_window_that_ends_after_the_last_instant_is_told_at_the_end() -> None:
    query = f"PATTERN SEQ(S a, ~(S m)) WHERE skip_till_next_match(a) {{ m.k = 2 }} WITHIN {LARGEST}"
    for time in (LARGEST // 2, LARGEST - 1, LARGEST):
        assert len(numbered(query, "sase", [time], [("A", 1, 1.0)], ATTRIBUTES)) == 1


def test_each_of_many_inputs_has_its_bit() -> None:
    """Of keys in different attributes, so that an event may have another key as another input."""
    for number in (2, 31, 32, 33, 40):
        names = [f"a{n}" for n in range(number)]
        alike = [f"a{n}.i = {n}" for n in range(number)]
        alike += [f"a{n}.{'xy'[n % 2]} = a{n - 1}.{'yx'[n % 2]}" for n in range(1, number)]
        pattern = f"SEQ({', '.join('S ' + name for name in names)})"
        strategy = f"skip_till_next_match({', '.join(names)})"
        query = f"PATTERN {pattern} WHERE {strategy} {{ {' AND '.join(alike)} }} WITHIN 1000"
        rows = [(n, 5, 5) for n in range(number)]
        found = numbered(query, "sase", list(range(number)), rows, {"i": "int", "x": "int", "y": "int"})
        assert len(found) == 1


def test_a_part_of_the_longest_window_is_a_part() -> None:
    arrivals, key = InterArrivals(LARGEST), StreamKey("key")
    for parts in (1, 31, 32):
        arrivals.fits(key, KeyedStream({}), LARGEST // 32 * parts)
    assert list(arrivals.known[key.run].fits) == [1, 31, 32]
