"""The reference on automata made by hand: one rule of their definition a test, with letters as events."""

from __future__ import annotations

from broker.algebra.guard import Join
from broker.algebra.normal_form import ALWAYS, Form, normalise
from broker.algebra.partitioned_stream import PartitionedStream
from broker.algebra.terms import Attribute, Comparison, Constant, Duration, Register, Side
from broker.automaton.automaton import (
    Accumulated,
    Arc,
    Automaton,
    Carry,
    Computed,
    Elapsed,
    EventRow,
    EventTime,
    Kind,
    Report,
    State,
    Stay,
    TimeModel,
)
from broker.engine.executors.reference.interpreter import Interpreter
from broker.events.schema import Schema

SCHEMA = Schema.declare({"letter": "string", "g": "int?"})
LETTER = Attribute(Side.EVENT, 0, "string")
GROUP = Attribute(Side.EVENT, 1, "int")


def letter(wanted: str) -> Form:
    return normalise(Comparison("=", LETTER, Constant(wanted, "string")))


def arrivals(
    states: list[Stay],
    arcs: list[Arc],
    within: int | None = None,
    report: Report = Report.EACH,
    distinct: bool = False,
    key: tuple[int, ...] = (),
) -> Automaton:
    waiting = (State("", stay=Stay.ALL), *(State("", stay=stay) for stay in states))
    sources = (PartitionedStream("S", SCHEMA, key),)
    return Automaton(waiting, tuple(arcs), SCHEMA, sources, (), within, TimeModel.ARRIVAL, report, distinct)


def found(automaton: Automaton, letters: str, groups: str = "", times: str = "") -> list[str]:
    """The matches as places of their events; those that only time completes at the end."""
    interpreter = Interpreter(automaton)
    matches = []
    for number, each in enumerate(letters):
        group = int(groups[number]) if groups and groups[number] != "-" else None
        time = int(times[number]) if times else number
        matches += interpreter.feed("S", time, time, (each, group if groups else 0), number)
    matches += interpreter.advance(99)
    return ["".join(str(event.item) for _, event in match.taken) for match in matches]


def pair(stay: Stay, *more: Arc, within: int | None = None, key: tuple[int, ...] = ()) -> Automaton:
    """A, then B, in a state that stays so."""
    arcs = [Arc(0, 1, letter("A"), operand=0), Arc(1, 2, letter("B"), operand=1), *more]
    return arrivals([stay], arcs, within, key=key)


def test_a_run_stays_as_its_state_says() -> None:
    assert found(pair(Stay.NONE), "ACABB") == ["23"]
    assert found(pair(Stay.UNTAKEN), "ACABB") == ["03", "23"]
    assert found(pair(Stay.ALL), "ACABB") == ["03", "23", "04", "24"]
    assert found(pair(Stay.FOREIGN, key=(1,)), "ACABB", "12112") == ["23"]
    assert found(pair(Stay.FOREIGN, key=(1,)), "ACCB", "12-1") == ["03"], "other partitions pass, and what is in none"


def test_a_run_has_events_of_one_partition() -> None:
    assert found(pair(Stay.UNTAKEN, key=(1,)), "AABB", "1221") == ["12", "03"]
    assert found(pair(Stay.UNTAKEN, key=(1,)), "AB", "--") == []


def test_the_last_event_may_come_at_the_end_of_the_window() -> None:
    assert found(pair(Stay.ALL, within=3), "ABB", times="035") == ["01"]


def test_an_epoch_ends_a_run_and_its_other_events_are_still_seen() -> None:
    theta = normalise(Comparison("!=", LETTER, Constant("C", "string")))
    waiting = (State("S"), State("S", theta))
    automaton = Automaton(waiting, (Arc(0, 1, letter("A")), Arc(1, 2, letter("B"))), SCHEMA)
    interpreter = Interpreter(automaton)
    events = [("A", 1, 1), ("C", 2, 2), ("B", 1, 3), ("X", 3, 3), ("B", 3, 3), ("B", 2, 3), ("B", 4, 4)]
    matches = [m for e, start, end in events for m in interpreter.feed("S", start, end, (e, 0), (e, start, end))]
    assert [[event.item for _, event in match.taken] for match in matches] == [
        [("A", 1, 1), ("B", 3, 3)],
        [("A", 1, 1), ("B", 2, 3)],
    ], "what fails theta passes, what overlaps is not there"


def test_where_theta_holds_and_the_loop_fails_no_arc_is_taken() -> None:
    rises = normalise(Comparison(">", GROUP, Register(-1, 1, "int")))
    arcs = (Arc(0, 1, letter("A")), Arc(1, 1, rises, kind=Kind.LOOP), Arc(1, 2, ALWAYS, output=(Duration(True),)))
    interpreter = Interpreter(Automaton((State("S"), State("S")), arcs, SCHEMA))
    matches = [m for t, g in enumerate([1, 2, 2, 3], 1) for m in interpreter.feed("S", t, t, ("AZZZ"[t - 1], g), t)]
    assert [(match.taken[-1].event.item, match.values) for match in matches] == [(2, (2,))]
    assert not [run for run in interpreter.runs if run.ended > 4]


def proceeding(source: Stay, target: Stay) -> Automaton:
    """A, more A's while it is there, then B: the source peeks."""
    arcs = [
        Arc(0, 1, letter("A"), operand=0),
        Arc(1, 1, letter("A"), kind=Kind.LOOP, operand=0),
        Arc(1, 2, ALWAYS, kind=Kind.EPSILON, peeks=True),
        Arc(2, 3, normalise(Comparison("!=", LETTER, Constant("C", "string"))), operand=1),
    ]
    return arrivals([source, target], arcs)


def test_an_arc_that_peeks_is_followed_with_the_event_that_decides() -> None:
    assert found(proceeding(Stay.NONE, Stay.NONE), "AAB") == ["01", "012", "12"]
    assert found(proceeding(Stay.NONE, Stay.ALL), "AAB") == ["01", "012", "12"], "the source takes it: no copy stays"
    assert found(proceeding(Stay.NONE, Stay.ALL), "ACB") == ["02"], "neither taken nor passed by: the target decides"
    assert found(proceeding(Stay.NONE, Stay.NONE), "ACB") == []
    assert found(proceeding(Stay.UNTAKEN, Stay.NONE), "ACAB") == ["02", "023", "23"], "the source lets it pass"


def test_an_arc_without_an_event_is_followed_at_once_and_the_run_stays() -> None:
    arcs = [
        Arc(0, 1, letter("A"), operand=0),
        Arc(1, 1, letter("B"), kind=Kind.LOOP, operand=0),
        Arc(1, 2, ALWAYS, kind=Kind.EPSILON),
        Arc(2, 3, ALWAYS, kind=Kind.EPSILON),
    ]
    assert found(arrivals([Stay.UNTAKEN, Stay.NONE], arcs), "ABCB") == ["0", "01", "013"]


def kill(source: int, wanted: str = "X") -> Arc:
    return Arc(source, source, letter(wanted), kind=Kind.KILL)


def test_what_is_forbidden_between_two_events_counts_by_place() -> None:
    automaton = pair(Stay.ALL, kill(1))
    assert found(automaton, "ABXB", times="0000") == ["01"]
    assert found(pair(Stay.ALL, kill(1, "B")), "ABB") == ["01"], "strictly between"


def test_what_is_forbidden_at_the_ends_counts_by_time() -> None:
    leading = pair(Stay.ALL, kill(0), within=3)
    assert found(leading, "XAB", times="012") == []
    assert found(leading, "XAB", times="114") == ["12"], (
        "neither at the first event's time nor a window before the last"
    )
    arcs = [Arc(0, 1, letter("A"), operand=0), Arc(1, 2, ALWAYS, kind=Kind.TIMEOUT), kill(1)]
    trailing = arrivals([Stay.ALL], arcs, within=3)
    assert found(trailing, "AX", times="03") == []
    assert found(trailing, "AX", times="00") == found(trailing, "AX", times="04") == ["0"]


def test_a_forbidding_guard_reads_the_whole_match() -> None:
    arcs = [
        Arc(0, 1, letter("A"), operand=0),
        Arc(1, 2, letter("B"), (EventRow(),), operand=1),
        Arc(2, 3, ALWAYS, kind=Kind.EPSILON),
        Arc(1, 1, letter("X"), kind=Kind.KILL, joins=(Join(1, Register(0, 1, "int")),)),
    ]
    automaton = arrivals([Stay.ALL, Stay.NONE], arcs)
    assert found(automaton, "AXB", "121") == ["02"]
    assert found(automaton, "AXB", "122") == []


def test_matches_without_overlap_follow_each_other_in_each_partition() -> None:
    arcs = [Arc(0, 1, letter("A"), operand=0), Arc(1, 2, letter("B"), operand=1)]
    automaton = arrivals([Stay.ALL], arcs, None, Report.NONOVERLAP, key=(1,))
    assert found(automaton, "AABBABB", "1111112") == ["02", "45"]
    assert found(automaton, "AABB", "1212") == ["02", "13"]


def test_two_runs_with_the_same_events_are_one_match_where_that_is_asked() -> None:
    arcs = [Arc(0, 1, letter("A"), operand=0), Arc(0, 1, ALWAYS, operand=0), Arc(1, 2, letter("B"), operand=1)]
    assert found(arrivals([Stay.NONE], arcs), "AB") == ["01", "01"]
    assert found(arrivals([Stay.NONE], arcs, distinct=True), "AB") == ["01"]


def test_distances_are_from_a_slot_or_from_an_event_some_places_before() -> None:
    near = (Elapsed(0, ((1, 2), (5, 5))),)
    arcs = [Arc(0, 1, letter("A"), (EventTime(),), operand=0), Arc(1, 2, letter("B"), operand=1, elapsed=near)]
    assert found(arrivals([Stay.ALL], arcs), "ABBBBB", times="012356") == ["01", "02", "04"]
    back = (Elapsed(-2, ((4, 4),)),)
    arcs = [
        Arc(0, 1, letter("A"), operand=0),
        Arc(1, 2, letter("B"), operand=1),
        Arc(2, 3, letter("C"), operand=2, elapsed=back),
    ]
    assert found(arrivals([Stay.FOREIGN, Stay.FOREIGN], arcs, key=(1,)), "AXBC", "1211", "0234") == ["023"]
    assert found(arrivals([Stay.FOREIGN, Stay.FOREIGN], arcs, key=(1,)), "AXBC", "1211", "0045") == []


def test_slots_are_filled_as_the_arc_says() -> None:
    last = Register(-1, 1, "int")
    sums = (EventRow(), Accumulated("sum", 1, "int", first=True), Computed(GROUP))
    more = (Carry(0), Accumulated("sum", 1, "int"), Computed(Register(2, -1, "int")))
    values = (Register(0, 1, "int"), Register(1, -1, "int"), Register(2, -1, "int"), last, GROUP)
    arcs = [
        Arc(0, 1, letter("A"), sums, operand=0),
        Arc(1, 1, letter("A"), more, kind=Kind.LOOP, operand=0),
        Arc(1, 2, letter("B"), output=values, operand=1),
    ]
    interpreter = Interpreter(arrivals([Stay.UNTAKEN], arcs))
    events = [("A", 1), ("A", None), ("A", 3), ("B", 7)]
    matches = [m for time, row in enumerate(events) for m in interpreter.feed("S", time, time, row, time)]
    assert [match.values for match in matches] == [(1, 4, 1, 3, 7), (None, 3, None, 3, 7), (3, 3, 3, 3, 7)]
