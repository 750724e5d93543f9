"""Random templates aimed at where rewriting an automaton could go wrong, and what happens to their members.

Conditions come from pools of what holds, follows from each other or contradicts, on few values: equalities of events
with constants and earlier events in any place, values that are copied, computed or changed by a loop, times beside
WITHIN and negations, operands that a match may lack, several bounds of one attribute whose constants come in any order
and are often equal. Not here: what must hold.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from strategies.group_queries import (
    KEYS,
    STRATEGIES,
    Action,
    Joins,
    Leaves,
    Publishes,
    Saves,
    Template,
    other_row,
    row,
)

NUMBERS: Final = ("0.5", "1.0", "1.5", "2.0")
INTS: Final = ("0", "0", "1")
SPANS: Final = ("1", "2", "3", "4", "6", "9")
ODD: Final = ("0", "0.0", "1.0", "0.5", "1.5", "9223372036854775807", "9007199254740993.0")


class Pool:
    """Draws conditions; each `{name}` of one becomes a place for a constant of that kind."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.choices: list[Sequence[str]] = []

    def constant(self, grid: Sequence[str]) -> str:
        self.choices.append(grid)
        return f"{{{len(self.choices) - 1}}}"

    def filled(self, condition: str) -> str:
        for mark, grid in (("?t", KEYS), ("?k", INTS), ("?n", NUMBERS), ("?d", SPANS), ("?f", ODD)):
            while mark in condition:
                condition = condition.replace(mark, self.constant(grid), 1)
        return condition

    def some(self, least: int, most: int, *conditions: str) -> list[str]:
        """So many of them, each with constants of its own."""
        number = min(len(conditions), self.chance.randint(least, most))
        return [self.filled(each) for each in self.chance.sample(conditions, number)]

    def every(self, least: int, most: int, *conditions: str) -> str:
        return " AND ".join(self.some(least, most, *conditions))

    def template(self, text: str) -> Template:
        return Template(text, tuple(self.choices))


def filtered(condition: str, source: str) -> str:
    return f"FILTER{{{{{condition}}}}}({source})" if condition else source


def known(suffix: str) -> tuple[str, ...]:
    """What a FILTER asks of a row by names with this suffix."""
    return (
        f"ty{suffix} = ?t",
        f"ty{suffix} = ?t",
        f"p{suffix} > ?n",
        f"p{suffix} > ?n",
        f"p{suffix} <= ?n",
        f"k{suffix} = ?k",
        f"w{suffix} >= ?n",
        f"(p{suffix} > ?n OR w{suffix} < ?n)",
        f"k{suffix} = w{suffix}",
        f"p{suffix} = w{suffix}",
        f"p{suffix} > ?n AND p{suffix} >= ?n",
        f"(p{suffix} < ?n OR p{suffix} < ?n AND w{suffix} < 2)",
        f"p{suffix} > 1 + w{suffix}",
        f"p{suffix} * 2 > ?n",
        f"starts_with(ty{suffix}, ?t)",
        f"k{suffix} IS NULL",
        f"-p{suffix} < -?n",
        f"p{suffix} != ?n",
        f"k{suffix} >= ?k AND k{suffix} <= ?k",
        f"k{suffix} = ?f",
        f"k{suffix} > ?f",
        f"k{suffix} <= ?f",
        f"k{suffix} - ?k < ?f",
        f"?f + w{suffix} > ?k",
        f"?k - w{suffix} <= ?k",
        f"p{suffix} - ?n >= 0",
    )


WAITS: Final = (
    "$2.ty = $1.ty",
    "$2.ty = $1.ty",
    "$2.ty = $1.ty",
    "$2.ty = ?t",
    "$1.ty = ?t",
    "$1.p > ?n",
    "$2.p > ?n",
    "$2.k = $1.k",
    "$1.k = ?k",
    "$2.k = ?k",
    "$1.k = $1.w",
    "$2.k = $1.w",
    "$2.w = $1.k",
    "$2.p >= $1.p",
    "DUR < ?d",
    "$2.p > $1.p + 0.5",
    "($2.p > ?n OR $1.p > ?n)",
    "$2.time - $1.time < ?d",
    "DUR <= ?d",
    "DUR > ?d",
    "$2.start - $1.start < ?d",
    "$2.time < $1.start + ?d",
    "$2.time - ?d <= $1.start",
    "($2.time - $1.start < ?d OR $2.p > ?n)",
    "$2.ty = $1.ty AND $2.ty = ?t",
    "$1.p > ?n AND $1.p > ?n",
)
COPIES: Final = (
    "time AS t3",
    "ty AS t2",
    "k AS k2",
    "k + 0 AS k3",
    "coalesce(k, 0) AS k4",
    "p * 2 AS q",
    "w AS w2",
    "p + w AS s",
)
COPIED: Final = (
    "t2_1 = ?t",
    "k2_1 = ?k",
    "k2_1 = k",
    "k3_1 = ?k",
    "k3_1 = k",
    "k4_1 = ?k",
    "q_1 > ?n",
    "w2_1 = w",
    "w2_1 = k_1",
    "k2_1 = k_1",
    "t2_1 = ty",
    "s_1 > ?n",
    "k_1 = k",
    "q_1 > ?n AND q_1 > ?n",
    "q_1 >= p_1",
)


DIFFERENCES: Final = (
    "time - start < ?d",
    "time - start >= ?d",
    "start + ?d >= time",
    "time - ?d < start",
    "start - time = -?d",
    "time - start - ?d <= 0",
    "start + 9223372036854775807 > time",
)


def chain(chance: random.Random) -> Template:
    """Two or three steps of CEL, with conditions on earlier events anywhere, of one stream or two."""
    pool = Pool(chance)
    right = chance.choice(("S", "S", "S", "T"))
    text = filtered(pool.every(0, 3, *known("")), "S")
    kept = chance.sample(COPIES, 3) if chance.random() < 0.3 else []
    if kept:
        text = f"(SELECT ty, k, w, p, {', '.join(kept)} FROM {text})"
    asked = [*known(""), *known("_1"), *known("_1"), "ty = ty_1", "k = k_1", "DUR < ?d", "p > p_1", *DIFFERENCES]
    if right == "T":
        asked = [each for each in asked if "ty = ty_1" not in each]
    names = [each.split(" AS ")[1] for each in kept]
    copied = [each for each in COPIED if all(name[:-2] in ("k", "p", *names) for name in words(each))]
    theta = pool.every(1, 3, *WAITS)
    last = pool.some(0, 3, *asked)
    if kept:
        last += pool.some(1, 2, *copied)
    text = filtered(" AND ".join(last), f"({text} NEXT{{{{{theta}}}}} {right})")
    if chance.random() < 0.4:
        if chance.random() < 0.3:
            text = f"(SELECT ty, k, w, p, p_1 FROM {text})"
            then = pool.every(1, 3, *WAITS, "$2.p > $1.p_1", "$1.p_1 > ?n")
            last = pool.some(0, 3, *known(""), *known("_1"), "p_1_1 > ?n", "p_1_1 <= p", "DUR <= ?d")
        else:
            then = pool.every(1, 3, *WAITS, "$2.ty = $1.ty_1", "$1.ty_1 = ?t", "$1.p_1 > ?n", "$2.k = $1.k_1")
            last = pool.some(0, 3, *known(""), *known("_1"), *known("_1_1"), *known("_1_1"), "ty = ty_1_1", "DUR <= ?d")
        text = filtered(" AND ".join(last), f"({text} NEXT{{{{{then}}}}} S)")
    return pool.template(f"SELECT * FROM {text}")


BEGUN: Final = ("ty = ?t", "p > ?n", "k = ?k")
WAITS_OF_FOLD: Final = (
    "$2.ty = $.ty",
    "$2.ty = $.ty",
    "$2.ty = $1.ty",
    "$2.ty = ?t",
    "$.ty = ?t",
    "$1.p > ?n",
    "$2.k = $1.k",
    "$.k = $1.k",
    "$.p > ?n",
    "DUR < ?d",
    "$2.time - $.time <= ?d",
    "$2.time - $1.start < ?d",
)


def words(condition: str) -> list[str]:
    return [word for word in condition.replace("(", " ").replace(")", " ").split() if word.endswith("_1")]


def fold(chance: random.Random) -> Template:
    """A FOLD of CEL, whose steps change some values and leave others, and perhaps a step behind it."""
    pool = Pool(chance)
    begun = filtered(pool.every(0, 2, *known(""), *4 * BEGUN), "S")
    wait = pool.every(1, 2, *WAITS_OF_FOLD)
    again = pool.every(
        0,
        2,
        "$2.p > $.p",
        "$2.p >= $1.p",
        "$2.p > ?n",
        "$1.p > ?n",
        "$.p > ?n",
        "$.cnt < 3",
        "$1.k = ?k",
        "$.total > ?n",
        "$.first >= ?n",
        "$2.ty = ?t",
        "$.ty = ?t",
        "$.k = $1.k",
        "$.k = ?k",
    )
    values = ["$.cnt + 1 AS cnt", *chance.sample(("$.total + $2.w AS total", "$2.p AS first", "$.p AS total"), 1)]
    text = (
        f"(SELECT *, 1 AS cnt, w AS total, p AS first FROM {begun}) FOLD{{{{{wait}, {again}, {', '.join(values)}}}}} S"
    )
    told = ("cnt >= ?k", "total > ?n", "first > ?n", "first <= p", "DUR < ?d", "ty_1 = ty", "first = p_1", "cnt = 2")
    text = filtered(pool.every(0, 3, *known(""), *known("_1"), *told), f"({text})")
    if chance.random() < 0.5:
        then = pool.every(
            1,
            2,
            "$2.ty = $1.ty",
            "$2.ty = $1.ty_1",
            "$1.ty = ?t",
            "$2.ty = ?t",
            "$1.cnt > 1",
            "$1.total > ?n",
            "$1.first > ?n",
        )
        later = ("cnt_1 > 1", "cnt_1 = 2", "total_1 > ?n", "first_1 > ?n", "first_1 = p_1", "total_1 >= p")
        last = pool.every(0, 3, *later, *known(""), *known("_1"), *known("_1_1"))
        text = filtered(last, f"({text} NEXT{{{{{then}}}}} S)")
    return pool.template(f"SELECT * FROM {text}")


def pattern(chance: random.Random) -> Template:
    """Events of SASE+ under any strategy, with equalities of each other and of constants, negations and times."""
    pool = Pool(chance)
    names = "abc" if chance.random() < 0.7 else "ab"
    repeats = chance.random() < 0.2
    strategy = chance.choice((*STRATEGIES, STRATEGIES[2], STRATEGIES[2]))
    first = "a[1]" if repeats else "a"
    last = "a[a.LEN]" if repeats else "a"
    asked: list[str] = []
    for at, name in enumerate(names):
        one = first if at == 0 else name
        asked += [
            f"{one}.ty = ?t",
            f"{one}.p > ?n",
            f"{one}.p > ?n",
            f"{one}.k = ?k",
            f"{one}.p <= ?n",
            f"{one}.k = {one}.w",
        ]
        for before in [last, *names[1:at]] if at else []:
            asked += [
                f"{name}.ty = {before}.ty",
                f"{name}.ty = {before}.ty",
                f"{name}.k = {before}.k",
                f"{name}.k = {before}.w",
            ]
            asked += [
                f"{name}.p > {before}.p",
                f"{name}.time - {before}.time < ?d",
                f"{name}.time - {before}.time <= ?d",
                f"{before}.time >= {name}.time - ?d",
                f"{before}.time + ?d > {name}.time",
                f"{before}.time - {name}.time > -?d",
                f"{name}.time - {before}.time BETWEEN ?k AND ?d",
                f"{before}.time + 9223372036854775807 > {name}.time",
            ]
    if repeats:
        asked += [
            "a[i].ty = ?t",
            "a[i].ty = a[1].ty",
            "a[i].ty = a[i-1].ty",
            "a[i].p > a[i-1].p",
            "a[i].k = ?k",
            "a.LEN >= 2",
            *3 * ("a[a.LEN].k = a[1].k",),
            "a[a.LEN].ty = a[1].ty",
        ]
    streams = chance.choice(("S", "S", "S", "ST"))
    parts = [f"{chance.choice(streams)} {name}" for name in names]
    variables = list(names)
    if repeats:
        parts[0], variables[0] = f"{parts[0].split()[0]}+ a[]", "a[]"
    forbidden = strategy in STRATEGIES[2:] and chance.random() < 0.4
    if forbidden:
        parts.insert(chance.randint(0, len(parts)), f"~({chance.choice(streams)} n)")
        asked += [
            f"n.{each}"
            for each in ("ty = ?t", "p > ?n", "k = ?k", *(f"ty = {name}.ty" for name in names if name != "a"))
        ]
        asked += [f"n.ty = {last}.ty", f"n.k = {last}.k", f"n.p < {last}.p"]
    conjuncts = pool.some(2, 7, *asked)
    if strategy == STRATEGIES[1] or chance.random() < 0.3:
        conjuncts.insert(0, chance.choice(("[ty]", "[ty]", "[k]")))
    within = (
        pool.filled(" WITHIN ?d") if forbidden or repeats or strategy == STRATEGIES[3] or chance.random() < 0.5 else ""
    )
    returned = (
        ""
        if repeats
        else chance.choice(("", "", f" RETURN a.p AS x, {names[-1]}.k AS y", " RETURN a.ty AS x, a.p * 2 AS z"))
    )
    output = chance.choice(("", "", "", " OUTPUT nonoverlap"))
    block = f"{{{{ {' AND '.join(conjuncts)} }}}}"
    text = f"PATTERN SEQ({', '.join(parts)}) WHERE {strategy}({', '.join(variables)}) {block}{within}{returned}{output}"
    return pool.template(text)


def composite(chance: random.Random) -> Template:
    """Events of P-ToPSS, some of which a match may lack, with times between any two, variables and constants."""
    pool = Pool(chance)
    names = "abc" if chance.random() < 0.7 else "ab"
    several = (
        "a; b; c",
        "a, b, c",
        "a; b, c",
        *2 * ("(a AND b); c",),
        "(a OR b); c",
        "a; (b AND c)",
        "a; (b OR c)",
        "a AND b AND c",
    )
    match = chance.choice(several if len(names) == 3 else ("a; b", "a, b", "a AND b", "a OR b"))
    by = chance.choice(("", "", " BY ty", " BY k"))
    streams = chance.choice(("S", "S", "S", "S, T"))
    defined: list[str] = []
    for name in names:
        asked = pool.some(
            1, 2, "ty = ?t", "ty = ?t", "p > ?n", "p > ?n", "p <= ?n", "k = ?k", "w >= ?n", "(p > ?n OR w < ?n)"
        )
        asked += pool.some(0, 1, "ty = $x", "k = $y", "k = $y") if chance.random() < 0.5 else []
        on = f" ON {chance.choice('ST')}" if "T" in streams else ""
        defined.append(f"{name}{on}: {' AND '.join(asked)}")
    timed = ""
    if chance.random() < 0.3:  # any two of them
        bound, pairs = pool.filled("?d"), [(one, other) for one in names for other in names if one < other]
        for pair in pairs[: chance.choice((1, 2, 3, 3, 3))]:
            one, other = pair if chance.random() < 0.5 else pair[::-1]
            timed += f" @(t({other}) - t({one}) <= {bound if chance.random() < 0.8 else pool.filled('?d')})"
    for _ in range(chance.choice((0, 1, 1, 2)) if "OR" not in match or len(names) == 3 else 0):
        one, other = sorted(chance.sample(names, 2)) if chance.random() < 0.6 else (names[0], names[-1])
        timed += pool.filled(f" @(t({other}) - t({one}) {chance.choice(('<', '<=', '<=', '>', '!='))} ?d)")
    if timed and len(names) > 1:
        match = f"({match}){timed}"
    within = pool.filled(" WITHIN ?d") if chance.random() < 0.4 else ""
    return pool.template(f"FROM {streams}{by} {' '.join(defined)} MATCH {match}{within}")


def copied(chance: random.Random) -> Template:
    """Events of SASE+ that repeat, with a value of the first and the last one that may be null in both."""
    pool = Pool(chance)
    one = chance.choice("kw")
    asked = [f"a[i].{one} = a[i-1].{one}", f"a[a.LEN].{one} = a[1].{one}"]
    asked += pool.some(0, 2, "a[1].ty = ?t", "b.ty = a[1].ty", "b.p > ?n", "a[i].p > a[i-1].p", f"b.{one} = a[1].{one}")
    return pool.template(
        "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) {{ "
        + " AND ".join(asked)
        + pool.filled(" }} WITHIN ?d")
    )


def measured(chance: random.Random) -> Template:
    """Events of P-ToPSS with a bound on the time from one that is not the first in each match."""
    pool = Pool(chance)
    match, last = chance.choice((("(a AND b); c", "c"), ("(a OR b); c", "c"), ("a; (b OR c)", "b"), ("a AND b", "b")))
    names = [name for name in "abc" if name in match.replace("AND", "")]
    defined = [f"{name}: {pool.every(1, 1, 'ty = ?t', 'ty = ?t', 'p > ?n', 'p <= ?n')}" for name in names]
    return pool.template(pool.filled(f"FROM S {' '.join(defined)} MATCH ({match}) @(t({last}) - t(a) <= ?d)"))


MAKERS: Final = (
    *2 * (("cayuga", chain),),
    ("cayuga", fold),
    *2 * (("sase", pattern),),
    ("sase", copied),
    ("ptopss", composite),
    ("ptopss", measured),
)


def aimed(seed: int, actions: int = 14, languages: Sequence[str] = ("cayuga", "sase", "ptopss")) -> list[Action]:
    """Some members of a template, then events, saves, and members that come and go."""
    chance = random.Random(seed)
    language, make = chance.choice([each for each in MAKERS if each[0] in languages])
    template = make(chance)
    lasting = language == "cayuga" and chance.random() < 0.3
    elsewhere = any(part in template.text for part in ("T)", "T ", "T,"))
    found: list[Action] = [
        Joins(f"s{number}", template.filled(chance), language) for number in range(chance.choice((1, 2, 3)))
    ]
    time = 0
    for number in range(actions):
        kind = chance.random()
        if kind < 0.06:
            found.append(Joins(f"later{number}", template.filled(chance), language))
        elif kind < 0.1:
            found.append(Leaves(chance.randrange(100)))
        elif kind < 0.2:
            found.append(Saves())
        else:
            times, rows, other = [], [], elsewhere and chance.random() < 0.4
            for _ in range(chance.randrange(1, 6)):
                time += chance.choice((0, 1, 1, 1, 2))
                times.append(time)
                ty, k, *more = other_row(chance) if other else row(chance)
                extreme = not other and chance.random() < 0.05
                rows.append((ty, chance.choice((-(2**63), 2**63 - 1)) if extreme else k, *more))
            starts = [time - chance.choice((0, 0, 1, 3)) for time in times] if lasting else None
            found.append(Publishes(times, rows, starts, "T" if other else "S"))
    return found
