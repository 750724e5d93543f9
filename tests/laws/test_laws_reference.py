"""The reference executor against the executable meaning of each language, on random programs and streams.

Its interpreter runs the automata that the languages lower to, so that this holds the lowerings too.
"""

from __future__ import annotations

from contextlib import suppress

from doubles.timed_events import as_read
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from laws.test_laws_engine import exact, feed, feed_in_batches, found, fresh, meaning, subscribe
from strategies import composite_subscriptions, sase
from strategies.typed_queries import Happening, histories, programs

from broker.algebra.ptopss import semantics as composites
from broker.algebra.sase import semantics as patterns
from broker.automaton.constructions.composite import automaton_of, decompose
from broker.automaton.constructions.variants import automaton_of_variants
from broker.engine import Engine, Match, Options
from broker.engine.executors.reference.interpreter import Interpreter
from broker.engine.executors.reference.run import CompletedRun
from broker.events.errors import DefinitionError
from broker.language.cayuga.syntax import CelQuery as Syntax

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
heavy = settings(max_examples=6 * settings().max_examples, suppress_health_check=slow)
light = settings(max_examples=2 * settings().max_examples, suppress_health_check=slow)


def reference() -> Options:
    return Options(executors_off=("keyed_runs",))


@heavy
@given(programs(), histories())
def test_queries_are_their_automata(program: dict[str, Syntax], history: list[Happening]) -> None:
    engine = fresh(reference())
    subscribe(engine, program)
    matches = feed_in_batches(engine, history)
    engine.check_invariants()
    assert found(matches) == meaning(program, history)


@light
@given(programs(most=6), histories(most=16), st.integers(0, 16), st.integers(0, 6), st.booleans())
def test_queries_have_the_same_results_on_the_reference(
    program: dict[str, Syntax], history: list[Happening], cut: int, before: int, anew: bool
) -> None:
    """The same ids, values and lineage at each event, on more than the meaning has time for. Some come later, and a
    snapshot is taken and restored in between."""
    first = dict(list(program.items())[:before])
    then = {name: syntax for name, syntax in program.items() if name not in first}
    told: list[list[list[dict[str, object]]]] = []
    for options in (Options(), reference()):
        engine = fresh(options)
        subscribe(engine, first)
        batches = [feed(engine, [happening]) for happening in history[:cut]]
        subscribe(engine, then)
        if anew:
            engine = Engine.restore(engine.snapshot(), options)
        batches += [feed(engine, [happening]) for happening in history[cut:]]
        engine.check_invariants()
        told.append([sorted((match.line() for match in batch), key=str) for batch in batches])
        for name in reversed(program):
            engine.unsubscribe(name)
        engine.check_invariants()
        assert not engine.program.machines.registrations
    assert told[0] == told[1]


@light
@given(programs(most=1), histories(most=16))
def test_one_automaton_has_its_results_in_the_same_order_on_the_reference(
    program: dict[str, Syntax], history: list[Happening]
) -> None:
    """Where no index parts the runs of its states, and no other automaton has matches at the same event."""
    told: list[list[dict[str, object]]] = []
    for options in (Options(indexes=False), reference()):
        engine = fresh(options)
        subscribe(engine, program)
        assume(len(engine.catalog.ends()) + len(engine.program.machines.registrations) == 1)
        told.append([match.line() for match in feed_in_batches(engine, history)])
    assert told[0] == told[1]


@heavy
@given(st.one_of(sase.queries(), sase.lacking()), sase.histories())
def test_patterns_are_their_automata(text: str, history: list[patterns.Event]) -> None:
    """Each match at its event or, where time completes it, with the first event after that."""
    note(text)
    variants = sase.variants(text)
    interpreter = Interpreter(automaton_of_variants(variants))
    known: list[tuple[int, patterns.Assignment, tuple[object, ...]]] = []

    def tell(moment: int, matches: list[CompletedRun]) -> None:
        for match in matches:
            parts: list[list[int]] = [[] for _ in variants[0].names]
            for arc, event in match.taken:
                parts[arc.operand].append(event.item)
            known.append((moment, tuple(map(tuple, parts)), exact(match.values)))

    streams = interpreter.automaton.streams()
    for number, (stream, time, row) in enumerate(history):
        read, seen = as_read(streams, stream, time, row)
        if read in streams:
            tell(number, interpreter.feed(read, time, time, seen, number))
        else:
            tell(number, interpreter.advance(time))
    tell(len(history), interpreter.advance(1 << 40))
    expected = []
    for pattern, assignment in patterns.matches_of_variants(variants, history):
        moment = assignment[-1][-1]
        if pattern.trailing:
            after = patterns.known_after(pattern, history, assignment)
            moment = next((at for at, (_, time, _) in enumerate(history) if time > after), len(history))
        values = exact(patterns.returned(pattern, history, assignment))
        expected.append((moment, patterns.spread(pattern, assignment), values))
    assert known == expected


@heavy
@given(composite_subscriptions.subscriptions(), composite_subscriptions.histories())
def test_composite_subscriptions_are_their_automata(text: str, history: list[composites.Event]) -> None:
    """Each tuple once, at its last event."""
    note(text)
    composite = composite_subscriptions.lowered(text)
    expected = composites.tuples(composite, history)
    try:
        interpreter = Interpreter(automaton_of(decompose(composite)))
    except DefinitionError as error:
        note(str(error))
        assert not expected
        return
    made: list[composites.Assignment] = []
    streams = interpreter.automaton.streams()
    for number, event in enumerate(history):
        stream, row = as_read(streams, *event)
        for match in interpreter.feed(stream, event[1], event[1], row, number) if stream in streams else ():
            taken: dict[int, int] = {arc.operand: event.item for arc, event in match.taken}
            made.append(tuple(map(taken.get, range(len(composite.names)))))
            assert max(taken.values()) == number
            assert exact(match.values) == exact(composites.binding(composite, made[-1], history))
    assert len(made) == len(expected)
    assert set(made) == expected


@light
@given(st.lists(st.one_of(sase.queries(), sase.lacking()), min_size=1, max_size=3), sase.histories(12))
def test_patterns_have_the_same_results_on_the_reference(texts: list[str], history: list[patterns.Event]) -> None:
    """The same matches with the same ids and lineage, whatever an executor makes of them."""
    note(texts)
    found: list[list[Match]] = []
    for options in (Options(), Options(executors_off=("kleene",))):
        engine = Engine(options)
        for stream, schema in sase.SCHEMAS.items():
            engine.add_stream(stream, schema.declared())
        for number, text in enumerate(texts):
            engine.subscribe(f"q{number}", language="sase", query=text)
        batches = [engine.publish(stream, [time], [row], [at]) for at, (stream, time, row) in enumerate(history, 1)]
        found.append(sorted(match for batch in [*batches, engine.finish()] for match in batch.expanded()))
        engine.check_invariants()
    assert found[0] == found[1]


@light
@given(
    st.lists(st.tuples(composite_subscriptions.subscriptions(4), st.booleans()), min_size=1, max_size=3),
    composite_subscriptions.histories(14),
)
def test_composite_subscriptions_have_the_same_results_on_the_reference(
    wanted: list[tuple[str, bool]], history: list[composites.Event]
) -> None:
    """The same ids; of completions also the same counts, whichever tuple each one shows."""
    note(wanted)
    found: list[list[Match]] = []
    for options in (Options(), Options(executors_off=("sequence_trie", "tuple_counts"))):
        engine = Engine(options)
        for stream, attributes in composite_subscriptions.STREAMS.items():
            engine.add_stream(stream, attributes)
        for number, (text, each) in enumerate(wanted):
            with suppress(DefinitionError):
                report = "all" if each else "completions"
                engine.subscribe(f"q{number}", language="ptopss", query=text, report=report)
        batches = [engine.publish(stream, [time], [row], [at]) for at, (stream, time, row) in enumerate(history, 1)]
        matches = [match for batch in batches for match in batch]
        engine.check_invariants()
        found.append(sorted(map(without_witness, matches)))
    assert found[0] == found[1]


def without_witness(match: Match) -> Match:
    """A completion without the tuple that it shows, any other match as it is."""
    return match if match.tuples is None else match._replace(start=0, lineage=None, bindings=None)
