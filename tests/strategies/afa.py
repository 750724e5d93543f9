"""Random AFA subscriptions, and what happens to one: events in any order, withdrawals, punctuations, changed arcs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from broker.algebra.afa.semantics import LivingEvent
from broker.events.schema import Schema

SCHEMA = Schema.declare({"k": "string?", "ty": "string", "x": "int?"})
STATES = ("a", "b", "c", "d")
CONDITIONS = (
    "ty = 'A'", "ty = 'B'", "ty != 'B'", "x > 1", "x > r", "r < 2", "ty = 'A' AND x >= r OR x = 0", "TRUE", "NOT x = r",
    "ty IN ('A', 'B')", "x BETWEEN r AND 3", "x NOT IN (r, 1)", "f IS NULL", "x IS NOT NULL AND ty NOT IN ('A')",
    "CASE WHEN ty = 'A' THEN x WHEN r > 1 THEN f END > 1", "ty LIKE ('A*', '?B')", "ty NOT MATCHES~ 'a|c' OR x > r",
)  # fmt: skip
TIMED = ("time > 4", "time > r", "x > 1 OR time < 7", "CASE WHEN ty = 'A' THEN time END > 3")
"""Conditions on the time of an event, which an update may add only to a text that has some."""
UPDATES = (
    "r = r + 1", "r = x", "r = x, f = f + x", "f = f / 2", "r = 0", "r = r - 2", "f = 2 + f", "f = x",
    "f = CASE WHEN x > r THEN f / 0 WHEN ty = 'A' THEN x ELSE 1 END",
)  # fmt: skip


@st.composite
def arc_texts(draw: st.DrawFn, name: str, without_event: bool = True, timed: bool = False) -> str:
    source = draw(st.sampled_from(STATES))
    target = draw(st.sampled_from(STATES))
    if without_event and draw(st.integers(0, 7)) == 0 and STATES.index(source) < STATES.index(target):
        return f"{name}: {source} ~> {target} WHEN {draw(st.sampled_from(('r < 2', 'TRUE', 'f > 1')))}"
    updates = (*UPDATES, "r = time") if timed else UPDATES
    update = f" SET {draw(st.sampled_from(updates))}" if draw(st.booleans()) else ""
    condition = draw(st.sampled_from((*CONDITIONS, *TIMED) if timed else CONDITIONS))
    return f"{name}: {source} -> {target} WHEN {condition}{update}"


@st.composite
def query_texts(draw: st.DrawFn) -> str:
    timed = draw(st.integers(0, 2)) == 0
    arcs = [draw(arc_texts(f"n{number}", timed=timed)) for number in range(draw(st.integers(1, 6)))]
    by = draw(st.sampled_from(("", " BY k")))
    within = draw(st.sampled_from(("", " WITHIN 3", " WITHIN 10")))
    finals = draw(st.sampled_from(("d", "c, d", "b")))
    # An arc for each state that the text names, so that it parses whatever was drawn.
    ends = [f"{state} -> {state} WHEN FALSE" for state in STATES]
    links = [f"{one} -> {other} WHEN FALSE" for one, other in pairwise(STATES)]
    body = "\n".join([*arcs, *ends, *links])
    return f"FROM S{by}\nREGISTER r INT = 0, f FLOAT = 1\nSTART a\nFINAL {finals}\n{body}{within}"


@st.composite
def waiting_texts(draw: st.DrawFn) -> str:
    """A state that ignores events and completes, behind a line of states."""
    begins = ("TRUE", "ty = 'A'", "x > 0", "ty != 'B' OR x = 0")
    loops = ("TRUE", "TRUE", "TRUE", "ty != 'B'", "x <= r OR ty = 'A'", "x > r", "f < 3", "x + r > 1")
    ends = ("x >= f", "x > r", "ty = 'A'", "x = r OR ty = 'C'", "TRUE", "f > x", "x + 0 = r * 2")
    update = draw(st.sampled_from(("", " SET r = x", " SET r = x, f = x + 1", " SET f = x + f")))
    arcs = [f"a0: a -> b WHEN {draw(st.sampled_from(begins))}{update}"]
    source = "b"
    if draw(st.booleans()):
        arcs.append(f"a1: b -> c WHEN {draw(st.sampled_from(CONDITIONS))} SET {draw(st.sampled_from(UPDATES))}")
        source = "c"
    for at in range(draw(st.integers(1, 2))):
        arcs.append(f"l{at}: {source} -> {source} WHEN {draw(st.sampled_from(loops))}")
    arcs.append(f"e0: {source} -> d WHEN {draw(st.sampled_from(ends))}{draw(st.sampled_from(('', ' SET r = r + x')))}")
    if draw(st.booleans()):
        arcs.append(f"e1: {source} -> e WHEN {draw(st.sampled_from(ends))}")
    finals = "d, e" if len(arcs) > 3 and " -> e" in arcs[-1] else "d"
    by = draw(st.sampled_from(("", " BY k")))
    within = draw(st.sampled_from(("", " WITHIN 3", " WITHIN 10")))
    known = [f"{state} -> {state} WHEN FALSE" for state in STATES[:-1]]  # d is a result and nothing more
    body = "\n".join([*draw(st.permutations(arcs)), *known])
    return f"FROM S{by}\nREGISTER r INT = 0, f FLOAT = 1\nSTART a\nFINAL {finals}\n{body}{within}"


NUMBERS = Schema.declare({"k": "string?", "ty": "string", "x": "float?"})


@st.composite
def number_texts(draw: st.DrawFn) -> str:
    """Arcs whose conditions on the event alone compare its number, and whose registers add up such numbers."""
    alone = ("x < 1", "x >= 1", "x > 0.5", "x = 1", "x != 1", "x <= 0 OR x > 1.25", "x < 5", "x BETWEEN 0 AND 1")
    rests = ("", "", " AND f + x < 2", " AND x + f >= 1", " AND x > f", " AND f < 3", " AND r + 1 < 3", " AND x <= f")
    sets = ("", " SET f = f + x", " SET f = x, r = r + 1", " SET r = r + 1", " SET f = x + f, r = r - 1")
    arcs = []
    for number in range(draw(st.integers(2, 6))):
        source, target = draw(st.sampled_from(STATES[:3])), draw(st.sampled_from(STATES[1:]))
        condition = draw(st.sampled_from(alone)) + draw(st.sampled_from(rests))
        arcs.append(f"n{number}: {source} -> {target} WHEN {condition}{draw(st.sampled_from(sets))}")
    links = [f"{one} -> {other} WHEN FALSE" for one, other in pairwise(STATES)]
    body = "\n".join([*arcs, *links])
    by, within = draw(st.sampled_from(("", " BY k"))), draw(st.sampled_from(("", " WITHIN 3", " WITHIN 10")))
    return f"FROM S{by}\nREGISTER r INT = 0, f FLOAT = 0\nSTART a\nFINAL d\n{body}{within}"


@st.composite
def related_texts(draw: st.DrawFn) -> list[str]:
    """Texts that begin alike, perhaps with the same key: they differ in constants of the first arc, of the last one or
    of those between, also texts, in WITHIN, or in later arcs."""
    firsts = ("x > {c}", "x <= {c}", "{c} > x AND ty != 'C'", "x >= {c} AND ty = 'A'", "ty = 'A'", "ty = '{t}'")
    first = draw(st.sampled_from(("", "", "k = 'K' AND ", "k = '{k}' AND "))) + draw(st.sampled_from(firsts))
    last = draw(st.sampled_from(("x < {e}", "x >= {e} AND ty != 'B'", "x > f", "r >= 1", "ty = '{u}' AND x < {e}")))
    middle = (
        "b -> b WHEN x >= 0 SET r = r + 1", "b -> c WHEN ty = 'B'", "b -> c SET f = f + x", "c -> c WHEN ty != 'A'",
    )  # fmt: skip
    shared = [f"m{at}: {arc}" for at, arc in enumerate(draw(st.lists(st.sampled_from(middle), max_size=3)))]
    update = draw(st.sampled_from(("", " SET f = x", " SET r = 1")))
    head = f"FROM S{draw(st.sampled_from(('', ' BY k')))}\nREGISTER r INT = 0, f FLOAT = 0\nSTART a\nFINAL d\n"
    within = draw(st.sampled_from(("", " WITHIN 3", " WITHIN 10", " WITHIN {w}")))
    straight = draw(st.booleans())  # states one behind the other, with constants of their own
    second = draw(st.sampled_from(("x < {g}", "x >= {g} AND ty != 'B'", "ty != 'A'", "k = '{l}' AND x >= {g}")))
    third = draw(st.sampled_from(("x >= {g}", "x > {e}", "TRUE")))
    further = ("t: c -> c WHEN ty != 'A'", "t: b1 -> b WHEN x = 0", "t: b -> d")
    turns = draw(st.lists(st.sampled_from(further), max_size=1))
    texts = []
    for _ in range(draw(st.integers(2, 5))):
        constants = {name: draw(st.sampled_from(("0", "0.5", "1", "1.5"))) for name in "ceg"}
        constants |= {name: draw(st.sampled_from("KL")) for name in "kl"}
        constants |= {name: draw(st.sampled_from("AB")) for name in "tu"}
        constants["w"] = draw(st.sampled_from(("1", "2", "3", "10")))
        own = f"o: b -> c WHEN x = {draw(st.sampled_from('01'))}"
        arcs = [f"a0: a -> b WHEN {first}{update}", *shared, f"e0: c -> d WHEN {last}"]
        if straight:
            arcs[1:-1] = [f"m0: b -> b1 WHEN {second}", f"m1: b1 -> c WHEN {third}", *turns]
        if draw(st.integers(0, 3)) == 0:
            arcs.append(own)
        body = "\n".join([*arcs, "b -> c WHEN FALSE"]).format_map(constants)
        texts.append(head + body + within.format_map(constants))
    return texts


@st.composite
def line_texts(draw: st.DrawFn) -> list[str]:
    """Texts whose arcs follow each other in one line, perhaps with a loop: they differ in texts and numbers of each,
    and in WITHIN."""
    asked = (
        "ty = '{t}'", "ty = '{t}' AND x >= {c}", "ty = '{t}' AND x < {c}", "k = '{k}' AND x < {c}", "x > {c}",
        "x > {c} AND x <= {d}", "ty = '{t}' AND x BETWEEN {c} AND {d}",
    )  # fmt: skip
    conditions = draw(st.lists(st.sampled_from(asked), min_size=2, max_size=3))
    head = f"FROM S{draw(st.sampled_from(('', '', ' BY k', ' BY ty')))}\nREGISTER r INT = 0\nSTART a\nFINAL d\n"
    within = draw(st.sampled_from(("", " WITHIN 3", " WITHIN {w}")))
    turns = draw(st.sampled_from(("", *asked, *asked, "TRUE", "ty != 'C'", "x >= {c} AND r < 2")))
    turning = STATES[draw(st.integers(1, len(conditions) - 1))]
    if draw(st.integers(0, 3)) == 0:  # a run turns up to a number, and ends beyond it
        conditions[-1] = draw(st.sampled_from(("x < {p}", "ty = '{t}' AND x <= {p}")))
        turns = draw(st.sampled_from(("x >= {p}", "x > {p}", "ty = '{t}' AND x >= {p}")))
    counted = draw(st.sampled_from(("", "", " SET r = r + 1")))
    own = {"t": "AB", "k": "KL", "c": ("0", "0.5", "1", "1.5"), "d": ("0.75", "1", "1.5", "2")}
    texts = []
    for _ in range(draw(st.integers(2, 5))):
        arcs = []
        part = draw(st.sampled_from(("0.5", "1", "1.5")))
        for at, condition in enumerate(conditions):
            target = "d" if at == len(conditions) - 1 else STATES[at + 1]
            constants = {"p": part} | {name: draw(st.sampled_from(values)) for name, values in own.items()}
            arcs.append(f"a{at}: {STATES[at]} -> {target} WHEN {condition.format_map(constants)}")
        if turns:
            constants = {"p": part} | {name: draw(st.sampled_from(values)) for name, values in own.items()}
            turn = f"l0: {turning} -> {turning} WHEN {turns.format_map(constants)}{counted}"
            arcs.insert(draw(st.integers(0, 1)), turn)
        texts.append(head + "\n".join(arcs) + within.format(w=draw(st.sampled_from("1235"))))
    return texts


def with_numbers(batches: list[list[Any]]) -> list[list[Any]]:
    """The same batches with events of NUMBERS."""
    return [
        [
            Insertion(replace(step.event, row=(*step.event.row[:2], _halved(step.event.row[2]))))
            if isinstance(step, Insertion)
            else step
            for step in batch
        ]
        for batch in batches
    ]


def _halved(number: Any) -> float | None:
    return None if number is None else number / 2


@st.composite
def alike_texts(draw: st.DrawFn) -> list[str]:
    """Two to four queries that begin alike."""
    head = draw(st.sampled_from(("FROM S", "FROM S BY k"))) + "\nREGISTER r INT = 0, f FLOAT = 1\nSTART a\nFINAL d\n"
    within = draw(st.sampled_from(("", " WITHIN 3", " WITHIN 10")))
    shared = [draw(arc_texts(f"n{number}")) for number in range(draw(st.integers(1, 4)))]
    known = [f"{one} -> {other} WHEN FALSE" for one, other in pairwise(STATES)]
    texts = []
    for _ in range(draw(st.integers(2, 4))):
        own = [draw(arc_texts(f"o{number}")) for number in range(draw(st.integers(0, 3)))]
        texts.append(head + "\n".join([*known, *shared, *own]) + within)
    return texts


@dataclass(frozen=True)
class Insertion:
    event: LivingEvent


@dataclass(frozen=True)
class Withdrawal:
    id: int


@dataclass(frozen=True)
class Punctuation:
    time: int


@dataclass(frozen=True)
class Update:
    """The text of an arc to insert, or, without ':', the name of those to delete; for the events of [begin, end), from
    now on where these are None."""

    arc: str
    begin: int | None
    end: int | None


def without_ends(batches: list[list[Any]]) -> list[list[Any]]:
    """The same without arcs out of d, which is only a result in `waiting_texts`."""
    return [[step for step in batch if not (isinstance(step, Update) and ": d " in step.arc)] for batch in batches]


@st.composite
def scripts(draw: st.DrawFn, updates: bool = True) -> list[list[Any]]:
    """Batches of what happens. Ids are in the order of the times, so that ties are events of one time."""
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 2), st.sampled_from(("K", "K", "L", None)), st.sampled_from("ABC"),
                st.sampled_from((0, 1, 2, 3, None)), st.integers(0, 6),
            ),
            min_size=1,
            max_size=14,
        )
    )  # fmt: skip
    time, planned = 0, []
    for number, (gap, key, kind, x, late) in enumerate(rows, 1):
        time += gap
        planned.append((number + late * draw(st.integers(0, 1)), LivingEvent(number, time, 0, (key, kind, x))))
    planned.sort(key=lambda each: each[0])
    steps: list[Any] = []
    alive: list[LivingEvent] = []
    coming = [event for _, event in planned]
    promised = -1
    while coming:
        event = coming.pop(0)
        steps.append(Insertion(event))
        alive.append(event)
        move = draw(st.integers(0, 11))
        withdrawable = [each for each in alive if each.time >= promised]
        if move <= 1 and withdrawable:
            gone = draw(st.sampled_from(withdrawable))
            steps.append(Withdrawal(gone.id))
            alive.remove(gone)
            if draw(st.booleans()):
                coming.insert(draw(st.integers(0, len(coming))), gone)
        elif move == 2:
            upto = min((each.time for each in coming), default=alive[-1].time if alive else 0)
            promised = max(promised, draw(st.integers(min(promised, upto), upto)))
            steps.append(Punctuation(promised))
        elif move == 3 and updates:
            arc = draw(st.sampled_from(("n0", "n1")) | arc_texts(f"u{len(steps)}", False))
            begin = draw(st.none() | st.integers(max(promised, 0), max(promised, 0) + 10))
            end = None if begin is None else draw(st.none() | st.integers(begin + 1, begin + 8))
            steps.append(Update(arc, begin, end))
    batches: list[list[Any]] = []
    while steps:
        size = draw(st.integers(1, 4))
        batches.append(steps[:size])
        steps = steps[size:]
    return batches
