"""Disorder: what an engine tells of events in any order, less what it withdraws, is the meaning of those that stand.

Here: whole engines, with several subscriptions, keys, ties, withdrawals, updates, punctuations, snapshots, and streams
made of results. Runs alone are compared in test_laws_afa.
"""

from __future__ import annotations

import re
from typing import Any

from doubles.read_columns import in_columns
from hypothesis import assume, example, given
from hypothesis import strategies as st
from strategies.afa import Insertion, Punctuation, Update, Withdrawal, query_texts, scripts
from strategies.disorder import ATTRIBUTES, Play, Told, meant, typed

from broker.algebra.afa.semantics import LivingEvent
from broker.engine import Engine, Match, Options
from broker.engine.disorder.joined import RevisedResults, salt_of
from broker.engine.executors.trace import mixed
from broker.engine.matches.sources import contributed
from broker.events.schema import Schema

DERIVED = Schema.declare({"r": "int?", "f": "float?"})
UPPER = (
    "FROM D REGISTER n INT = 0, m INT = 0 START a FINAL c a -> b WHEN r > 0 SET n = r b -> b WHEN TRUE SET m = m + 1 "
    "b -> c WHEN r >= n WITHIN 12",
    "FROM D REGISTER n INT = 0 START a FINAL b a -> b WHEN f > 0 SET n = r b -> b WHEN r != n WITHIN 5",
    "FROM D REGISTER n INT = 0 START a FINAL b a -> b WHEN TRUE SET n = n + 1",
)
STATES = "a -> a WHEN FALSE b -> b WHEN FALSE c -> c WHEN FALSE d -> d WHEN FALSE"
_LASTING = (  # with results of most scripts, of runs that last
    "FROM S REGISTER r INT = 0, f FLOAT = 1 START a FINAL c n0: a -> b WHEN x > 0 SET r = x n1: b -> b n2: b -> c "
    f"WHEN x >= r SET r = x, f = f + x {STATES} WITHIN 10",
    "FROM S BY k REGISTER r INT = 0, f FLOAT = 1 START a FINAL d n0: a -> b SET r = x n1: b -> b SET r = r + 1 "
    f"n2: b -> d WHEN x > 1 SET f = x {STATES}",
    "FROM S REGISTER r INT = 0, f FLOAT = 1 START a FINAL d n0: a -> b WHEN ty = 'A' SET r = x n1: b -> b WHEN "
    f"ty != 'C' n2: b -> d WHEN x IS NOT NULL SET r = r + x {STATES}",
)
LASTING = (*_LASTING, *[_LASTING[0].replace("x > 0", f"x > {least}") for least in (1, 2)])  # these run as one
IN_ORDER = (  # of a stream D with a number v
    ("cayuga", "FILTER{v > 0}(D)"),
    ("cayuga", "FILTER{v_1 < v}(D NEXT{} D)"),
    ("sase", "PATTERN SEQ(D a, D b) WHERE skip_till_any_match(a, b) { a.v <= b.v } WITHIN 12 us"),
    ("ptopss", "FROM D\na: v > 0\nb: v < 3\nMATCH a; b WITHIN 12 us"),
    ("window", "FROM D WINDOW AFTER [v > 0] MATCHING any{2}"),
    ("afa", "FROM D REGISTER w INT = 0 START a FINAL c a -> b WHEN v > 0 SET w = v b -> b b -> c WHEN v >= w"),
)
RISEN = [Insertion(LivingEvent(at + 1, at, 0, ("K", "A", x))) for at, x in enumerate((1, 0))]  # a run is under way


@given(
    st.lists(query_texts(), min_size=1, max_size=3), scripts(), st.integers(0, 20),
    st.sampled_from((None, None, 0, 3)),
)  # fmt: skip
def test_told_less_withdrawn_is_the_meaning(
    texts: list[str], batches: list[list[Any]], cut: int, speculation: int | None
) -> None:
    play = Play(texts, [], "each", speculation=speculation)
    play.all(batches, cut)
    for name, registers in play.typed.items():
        assert play.told.of(name) == meant(registers, list(play.events.values()), {}), name


@given(query_texts(), scripts(), st.integers(0, 20), st.sampled_from(("speculate", "buffer", "arrival")))
def test_streams_are_read_merged(text: str, batches: list[list[Any]], cut: int, other: str) -> None:
    plays = [Play([text], [], told, "speculate", other) for told in ("each", "final")]
    for play in plays:
        play.all(batches, cut)
        assert play.told.of("q0") == meant(play.typed["q0"], list(play.events.values()), {})


@given(st.lists(query_texts(), min_size=1, max_size=2), scripts(), st.integers(0, 20))
def test_final_results_are_what_stands_at_the_end(texts: list[str], batches: list[list[Any]], cut: int) -> None:
    each, final = Play(texts, [], "each"), Play(texts, [], "final")
    buffered = Play(texts, [], "each", "buffer")
    for play in (each, final, buffered):
        play.all(batches, cut)
    assert all(line["kind"] == "match" for own in final.told.log.values() for line in own)
    for name in each.typed:
        assert final.told.standing.get(name, {}) == each.told.standing.get(name, {})
        assert buffered.told.standing.get(name, {}) == each.told.standing.get(name, {})


@given(query_texts(), query_texts(), st.sampled_from(UPPER), scripts(), st.integers(0, 20))
def test_streams_of_results_carry_what_comes_and_what_goes(
    one: str, other: str, upper: str, batches: list[list[Any]], cut: int
) -> None:
    play = Play([one, other], [upper], "each")
    given_: dict[int, LivingEvent] = {}
    behind: dict[int, tuple[int, ...]] = {}

    add = play.told.add

    def listening(found: Any) -> None:
        """Keep the events of the stream that stand."""
        add(found)
        for part in found.parts:
            for subscriber, entry in part.entries if isinstance(part, RevisedResults) else ():
                if isinstance(entry, Match) or subscriber.form.publish is None:
                    continue
                inserted, source = entry
                each = source.one()
                assert each.trace is not None
                number = int(mixed(each.trace, salt_of(subscriber), 0))
                if inserted:
                    assert number not in given_
                    given_[number] = LivingEvent(number, each.end, 0, each.values)
                    behind[number] = tuple(contributed(each))
                else:
                    del given_[number]

    play.told.add = listening  # type: ignore[method-assign]
    play.all(batches, cut)
    lower_results = [
        (end, lineage, values) for name in ("q0", "q1") for _, end, lineage, _, values in play.told.of(name)
    ]
    kept = [(event.time, behind[event.id], event.row) for event in given_.values()]
    assert sorted(lower_results, key=repr) == sorted(kept, key=repr)
    wanted = meant(typed(upper, DERIVED, "D"), list(given_.values()), behind)
    assert play.told.of("u0") == wanted


@given(query_texts(), st.sampled_from(UPPER), scripts(), st.integers(0, 20))
def test_readers_in_order_get_what_stands_at_the_end(one: str, upper: str, batches: list[list[Any]], cut: int) -> None:
    each, final = Play([one], [upper], "each"), Play([one], [upper], "final")
    for play in (each, final):
        play.all(batches, cut)
    times = [event.time for event in each.events.values()]
    assume(len(set(times)) == len(times))  # what simultaneous events make comes in another order one after another
    assert final.told.standing.get("q0", {}) == each.told.standing.get("q0", {})
    assert final.told.standing.get("u0", {}) == each.told.standing.get("u0", {})
    assert all(line["kind"] == "match" for line in final.told.log.get("u0", []))


@given(
    st.lists(st.sampled_from(LASTING) | query_texts(), min_size=1, max_size=2), st.sampled_from(IN_ORDER),
    st.sampled_from((None, *UPPER[1:])), scripts(), st.integers(0, 20), st.integers(0, 14),
    st.sampled_from((None, None, 0, 3)),
)  # fmt: skip
@example(
    texts=[LASTING[0], LASTING[0]], reader=IN_ORDER[0], between=None, batches=[RISEN], cut=0, join=2, speculation=None
)
def test_readers_in_order_get_the_same_whether_or_not_their_publishers_revise(
    texts: list[str], reader: tuple[str, str], between: str | None, batches: list[list[Any]], cut: int, join: int,
    speculation: int | None,
) -> None:  # fmt: skip
    """Also of publishers of publishers, and of those whose runs are under way when the reader comes."""
    language, text = reader
    plays = []
    for disorder in ("speculate", "buffer"):
        ahead = speculation if disorder == "speculate" else None
        play = Play([f"{each} PUBLISH D" for each in texts], [], "each", disorder, speculation=ahead)
        if between is not None:
            play.engine.subscribe("between", "afa", f"{between} PUBLISH E")
        plays.append(play)
    source, value = ("D", "r") if between is None else ("E", "n")
    in_order = re.sub(r"\bD\b", source, re.sub(r"\bv(?=\b|_)", value, text))
    steps = [step for batch in batches for step in batch]
    times = {step.event.id: step.event.time for step in steps if isinstance(step, Insertion)}
    if between is not None:  # it reads what simultaneous events make all at once, or one after another
        assume(len(set(times.values())) == len(times))
    for at, step in enumerate([*steps, None]):
        for play in plays:
            if at == min(join, len(steps)):
                play.engine.subscribe("reader", language, in_order, results="final")
            play.step(Punctuation(_promise(steps[at:], times)))
            play.step(step)
            play.engine.check_invariants()
            if at == cut:
                play.restart()
    for play in plays:
        play.told.add(play.engine.finish())
    assert plays[0].told.standing.get("reader", {}) == plays[1].told.standing.get("reader", {})
    assert all(line["kind"] == "match" for line in plays[0].told.log.get("reader", []))


def _promise(coming: list[Any], times: dict[int, int]) -> int:
    """A time before which none of these steps changes anything. `times`: those of all events."""
    later: list[int] = []
    for step in coming:
        match step:
            case Insertion(event):
                later.append(event.time)
            case Withdrawal(id):
                later.append(times[id])
            case Update(_, int(begin), _):
                later.append(begin)
    return min(later, default=-1)


@given(query_texts(), scripts(updates=False), st.sampled_from((None, 0, 3)), st.integers(1, 6), st.integers(0, 8))
def test_a_batch_tells_what_its_events_change_together(
    text: str, batches: list[list[Any]], speculation: int | None, size: int, lateness: int
) -> None:
    """Told in batches: each result that stands at the end of a batch, none that came and went; and what single events
    tell stands, too."""
    coming = [step.event for batch in batches for step in batch if isinstance(step, Insertion)]
    events = list({event.id: event for event in coming}.values())
    engines = [Engine(Options(cancelling=cancelling)) for cancelling in (True, False)]
    tolds = [Told(), Told()]
    for engine in engines:
        engine.add_stream("S", ATTRIBUTES, disorder="speculate", speculation=speculation, lateness=100 + lateness)
        engine.subscribe("q0", "afa", text)
    for at in range(0, len(events), size):
        part = events[at : at + size]
        before = set(tolds[0].standing.get("q0", {}))
        found = []
        for engine, told in zip(engines, tolds):
            columns = [each.time for each in part], [each.row for each in part], [each.id for each in part]
            found.append(in_columns(engine.publish("S", *columns)))
            told.add(found[-1])
        assert tolds[0].standing == tolds[1].standing
        after = set(tolds[0].standing.get("q0", {}))
        changed = [each.id for each in found[0] if each.kind != "punctuation"]
        assert sorted(changed) == sorted(before ^ after)
        engines[0].check_invariants()
