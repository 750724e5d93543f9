"""Random templates of every language for groups, with members that differ in constants, and what happens to them.

A template is a text with places for constants; grids are coarse, so that members and events often meet exactly. Not
here: what must hold.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from broker.events.schema import Row

SCHEMA: Final = {"ty": "string", "k": "int?", "w": "float?", "p": "float"}
OTHER_SCHEMA: Final = {"p": "float?", "own": "bool", "w": "int", "ty": "string?", "k": "int?"}  # of the stream T
GRID: Final = ("0", "0.5", "1", "1.5", "2", "3")
FACTORS: Final = ("0.5", "0.9", "1.0", "1.1", "2.5")
WINDOWS: Final = ("1", "2", "4", "6", "20")
LISTS: Final = ("(0, 2, 10, 11, 12, 13, 14, 15, 16)", "(0, 1, 10, 11, 12, 13, 14, 15, 16, 17)")  # too many alternatives
TEXTS: Final = "ty IN ('A', 'B')"
KEYS: Final = ("'A'", "'A'", "'B'")  # a template has a group for each
BEGINNINGS: Final = ("'A'", "'A'", "'AB'", "''")
STREAMS: Final = ("S", "S", "ST")  # of the events of a pattern of SASE+ or P-ToPSS
STRATEGIES: Final = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")


class Joins(NamedTuple):
    name: str
    text: str
    language: str = "sase"
    report: str | None = None


class Leaves(NamedTuple):
    which: int


class Publishes(NamedTuple):
    times: list[int]
    rows: list[Row]
    starts: list[int] | None = None
    stream: str = "S"


class Saves(NamedTuple):
    pass


Action = Joins | Leaves | Publishes | Saves


class Template(NamedTuple):
    """`text` has `{n}` where constants are, `choices` what they may be."""

    text: str
    choices: tuple[Sequence[str], ...]

    def filled(self, chance: random.Random) -> str:
        return self.text.format(*(chance.choice(each) for each in self.choices))


def chain(chance: random.Random) -> Template:
    """A filter of CEL, or one chained by NEXT to others, with alternatives, factors and durations."""
    choices: list[Sequence[str]] = []

    def constant(grid: Sequence[str] = GRID) -> str:
        choices.append(grid)
        return f"{{{len(choices) - 1}}}"

    length = chance.choice((1, 1, 2, 2, 3, 3, 4))
    named = "" if chance.random() < 0.7 else f"starts_with(ty, {constant(BEGINNINGS)})"
    joined = chance.choice(("$2.ty = $1.ty", "$2.ty = $1.ty", "$2.ty = $1.ty AND $2.k = $1.k", "TRUE"))
    apart = length > 1 and chance.random() < 0.2  # each step has a text of its own
    passing = not apart and chance.random() < 0.3  # runs let events pass
    others = (
        joined, "$2.ty = 'B'", "$2.ty = 'A' AND $2.p > $1.p", "$2.ty = $1.ty AND $2.p > 1", "$2.ty = 'B' AND $2.w < 2",
        "$2.ty = 'B' AND $2.k = $1.k", "$2.ty = $1.ty AND $2.w >= $1.w",
    )  # fmt: skip
    repeated = chance.choice((0.0, 0.0, 1.0))  # how often a later step asks for the key, too
    text = ""
    for at in range(length):
        kinds = chance.choices(
            ("up", "down", "or", "other", "join", "factor", "offset", "dur", "gap", "among", "term", "change"),
            k=chance.choice((1, 1, 2)),
        )
        equal = f"ty = {constant(KEYS)}" if apart or not named else named
        asked = [equal] if (apart and not at) or chance.random() < (0.7 if at == 0 else repeated) else []
        for kind in kinds:
            if kind == "up":
                asked.append(f"p > {constant()}")
            elif kind == "down":
                asked.append(f"p <= {constant()}")
            elif kind == "or":
                asked.append(f"(p > {constant()} OR w < {constant()})")
            elif kind == "other":
                asked.append(f"k >= {constant()}")
            elif kind == "among":
                asked.append(chance.choice((f"k IN {chance.choice(LISTS)}", TEXTS)))
            elif kind == "join" and at:
                asked.append("p > p_1")
            elif kind == "factor" and at:
                asked.append(f"p > {constant()} * p_1")
            elif kind == "offset" and at:
                asked.append(f"p <= p_1 + {constant()}")
            elif kind == "term":
                asked.append(f"{computed(chance)} {constant()}")
            elif kind == "change" and at:
                asked.append(f"{changed(chance, '', '', '_1')} {constant()}")
            elif kind == "dur" and at:
                asked.append(f"DUR < {constant(WINDOWS)}")
            elif kind == "gap" and at:
                asked.append(f"time - start {chance.choice(('<=', '>'))} {constant(WINDOWS)}")
        theta = f"$2.ty = {constant(KEYS)}" if apart and at else chance.choice(others) if passing else joined
        if passing and at and chance.random() < 0.5:  # until numbers are reached
            theta = f"$2.ty = $1.ty AND $2.p {chance.choice(('>', '<=', '='))} {constant()}"
            theta += chance.choice(("", "", f" AND $2.w < {constant()}"))
            if chance.random() < 0.4:
                theta = chance.choice(("$2.ty = $1.ty AND $2.p > {} * $1.p", "$2.ty = $1.ty AND $2.w <= {} + $1.w"))
                theta = theta.format(constant(FACTORS))
            asked = asked if chance.random() < 0.3 else []
        text = "S" if not text else f"({text} NEXT{{{{{theta}}}}} S)"
        if asked:
            text = (
                f"FILTER{{{{{' AND '.join(asked)}}}}}({text})"
                if at == 0
                else f"FILTER{{{{{' AND '.join(asked)}}}}}{text}"
            )
        if at == 0 and length > 1 and chance.random() < 0.2:
            text = f"(SELECT *, p * {constant()} AS q FROM {text})"
    selected = chance.choice(("*", "*", "p, w AS u")) if length == 1 else "*"
    published = chance.choice(("", "", "", " PUBLISH P"))
    return Template(f"SELECT {selected} FROM {text}{published}", tuple(choices))


def fold(chance: random.Random) -> Template:
    """A FOLD of CEL with counts and sums, with constants where it begins, goes on and reports."""
    choices: list[Sequence[str]] = []

    def constant(grid: Sequence[str] = GRID) -> str:
        choices.append(grid)
        return f"{{{len(choices) - 1}}}"

    def some(most: int, *kinds: Callable[[], str]) -> list[str]:
        return [kind() for kind in chance.choices(kinds, k=chance.randint(0, most))]

    begun = some(
        2, lambda: f"p > {constant()}", lambda: f"p <= {constant()}", lambda: f"(p > {constant()} OR w < {constant()})",
        lambda: f"{computed(chance)} {constant()}", lambda: f"DUR < {constant(WINDOWS)}",
    )  # fmt: skip
    if chance.random() < 0.9:
        begins = chance.random() < 0.3
        begun.append(f"starts_with(ty, {constant(BEGINNINGS)})" if begins else f"ty = {constant(KEYS)}")
    again = some(
        2, lambda: "$2.p > $.p", lambda: f"$2.p > {constant()} * $.p", lambda: f"$2.p <= $.p + {constant()}",
        lambda: f"$2.w >= {constant()}", lambda: "$2.p >= $1.p", lambda: f"$2.p < {constant()} * $1.p",
    )  # fmt: skip
    if chance.random() < 0.7:  # runs that go on for ever have a match with each event
        again.append(chance.choice(("$2.p > $.p", f"$2.p > {constant()} * $.p")))
    if chance.random() < 0.1:
        again = [chance.choice(("$2.p > $.p OR $2.w > $1.w", f"$2.p > $.p OR $2.w > {constant()}"))]
    told = some(
        2, lambda: f"cnt >= {constant(('2', '3', '4'))}", lambda: f"cnt = {constant(('2', '3'))}",
        lambda: f"total > {constant()}", lambda: f"DUR < {constant(WINDOWS)}", lambda: f"p > {constant()}",
        lambda: f"p > {constant()} * p_1", lambda: f"p - p_1 < {constant()}",
        lambda: f"(cnt > {constant(('2', '3'))} OR w < {constant()})",
    )  # fmt: skip
    theta = chance.choice(("$2.ty = $.ty", "$2.ty = $.ty", "$2.ty = $.ty AND $2.k = $.k"))
    theta += chance.choice(("", "", "", " AND $2.p > 0.5", " AND $2.w >= $.w"))
    filtered = f"FILTER{{{{{' AND '.join(begun)}}}}}(S)" if begun else "S"
    joined = chance.choice(("$2.ty = $1.ty", "$2.ty = $1.ty", "$2.ty = $1.ty AND $2.p < 3"))
    if chance.random() < 0.25:  # behind a step
        filtered = f"FILTER{{{{{changed(chance, '', '', '_1')} {constant()}}}}}({filtered} NEXT{{{{{joined}}}}} S)"
        filtered = f"(SELECT ty, k, w, p FROM {filtered})"
    folded = "$.cnt + 1 AS cnt, $.total + $2.w AS total"
    text = f"(SELECT *, 1 AS cnt, w AS total FROM {filtered}) FOLD{{{{{theta}, {' AND '.join(again)}, {folded}}}}} S"
    if told:
        text = f"FILTER{{{{{' AND '.join(told)}}}}}({text})"
    if chance.random() < 0.3:  # before a step, or before what repeats again
        if chance.random() < 0.5:
            text = f"({text} NEXT{{{{{joined}}}}} S)"
        else:
            text = f"({text} FOLD{{{{{joined}, $2.p {chance.choice(('>', '<'))} $.p, $.cnt + 1 AS cnt}}}} S)"
        last = (f"p > {constant()}", f"p <= {constant()}", f"(p > {constant()} OR w < {constant()})", "p < p_1")
        text = f"FILTER{{{{{chance.choice(last)}}}}}{text}"
    return Template(f"SELECT * FROM {text}{chance.choice(('', '', ' PUBLISH P'))}", tuple(choices))


def template(chance: random.Random) -> Template:
    """A pattern of up to four single events, now and then with something forbidden."""
    choices: list[Sequence[str]] = []

    def constant(grid: Sequence[str] = GRID) -> str:
        choices.append(grid)
        return f"{{{len(choices) - 1}}}"

    strategy = chance.choice(STRATEGIES)
    names = list("abcd"[: chance.choice((1, 2, 2, 2, 3, 3, 3, 4))])
    forbidden = chance.choice((None, None, None, None, *range(1, len(names) + 1)))
    partitioned = strategy == "partition_contiguity" or chance.random() < 0.6
    key = chance.choice(("[ty]", "[k]", "[ty]")) if partitioned else ""
    conjuncts = [key] if key else []
    keyed = chance.random() < 0.6 if key != "[k]" or chance.random() < 0.3 else False
    types = chance.choice((KEYS[:1], KEYS[:1], KEYS))
    begins = chance.random() < 0.3  # a text begins so, instead of being equal
    plain = chance.random() < 0.6
    named = 1 if key == "[ty]" or chance.random() < 0.4 else len(names)  # so many events have a text
    without = set[int]()  # of these, those that have none
    if named == len(names) > 1 and chance.random() < 0.25:
        without = {0, chance.randrange(len(names))}
    for at, name in enumerate(names):
        if keyed and at < named and at not in without:
            conjuncts.append(
                f"starts_with({name}.ty, {constant(BEGINNINGS)})"
                if begins
                else f"{name}.ty = {constant(KEYS) if at == 0 else chance.choice(types)}"
            )
        sign = ">" if at % 2 == 0 else "<"
        several = ("up", "other", "or", "join", "factor", "offset", "none", "gap", "among", "term", "change")
        kinds = ["up"] if plain else chance.choices(several, k=2)
        if plain and chance.random() < 0.2:
            kinds = ["term"]
        if at == len(names) - 1 and chance.random() < 0.2:
            kinds = ["up", "other"]
        for kind in kinds:
            other = names[chance.randrange(at)] if at else name
            if kind == "up":
                conjuncts.append(f"{name}.p {sign} {constant()}")
            elif kind == "other":
                conjuncts.append(f"{name}.{chance.choice('kw')} {chance.choice(('<=', '>='))} {constant()}")
            elif kind == "or":
                conjuncts.append(f"({name}.p {sign} {constant()} OR {name}.w >= {constant()})")
            elif kind == "among":
                conjuncts.append(f"{name}.{chance.choice((f'k IN {chance.choice(LISTS)}', TEXTS))}")
            elif kind == "join" and at:
                conjuncts.append(f"{name}.p {chance.choice(('>', '<', '!='))} {other}.p")
            elif kind == "factor" and at:
                conjuncts.append(f"{name}.p {chance.choice(('>', '<='))} {constant()} * {other}.p")
            elif kind == "offset" and at:
                conjuncts.append(f"{name}.w {chance.choice(('>', '<='))} {other}.w + {constant()}")
            elif kind == "term":
                conjuncts.append(f"{computed(chance, f'{name}.')} {constant()}")
            elif kind == "change" and at:
                conjuncts.append(f"{changed(chance, f'{name}.', f'{other}.')} {constant()}")
            elif kind == "gap" and at:
                conjuncts.append(f"{name}.time - {other}.time {chance.choice(('>', '<='))} {constant(WINDOWS)}")
    streams = chance.choice(STREAMS)
    parts = [f"{chance.choice(streams)} {name}" for name in names]
    if forbidden is not None:
        parts.insert(forbidden, f"~({chance.choice(streams)} n)")
        conjuncts.append(f"n.{chance.choice('pw')} {chance.choice(('<', '>='))} {constant()}")
        if keyed and key != "[ty]" and chance.random() < 0.8:
            conjuncts.append(f"n.ty = {constant(types)}")
    within = f" WITHIN {constant(WINDOWS)}"
    if strategy != "skip_till_any_match" and forbidden != len(names) and chance.random() < 0.3:
        choices.pop()
        within = ""
    block = f" {{{{ {' AND '.join(conjuncts)} }}}}" if conjuncts else ""
    returned = chance.choice(("", f" RETURN {names[-1]}.p, {names[0]}.w AS first"))
    text = f"PATTERN SEQ({', '.join(parts)}) WHERE {strategy}({', '.join(names)}){block}{within}{returned}"
    return Template(text, tuple(choices))


def repeating(chance: random.Random) -> Template:
    """A pattern of SASE+ in which one operand or two repeat, with constants where runs begin, go on and end."""
    choices: list[Sequence[str]] = []

    def constant(grid: Sequence[str] = GRID) -> str:
        choices.append(grid)
        return f"{{{len(choices) - 1}}}"

    strategy = chance.choice(("skip_till_next_match", "skip_till_next_match", *STRATEGIES[:3]))
    parts = chance.choice(("a", "a", "ab", "ab", "ab", "aB", "abc", "AB", "Ab", "ABc"))
    parts = parts if "B" in parts else "A" + parts[1:]  # an upper-case one repeats
    key = chance.choice(("[ty]", "[k]")) if strategy == "partition_contiguity" or chance.random() < 0.7 else ""
    conjuncts = [key] if key else []
    if key != "[ty]" and chance.random() < 0.4:
        conjuncts += texts_of(parts, constant(KEYS), chance.choice(("", constant(KEYS))))
    elif key != "[k]" and chance.random() < 0.6:
        conjuncts.append(f"{'a[1]' if parts[0] == 'A' else 'a'}.ty = {constant(KEYS)}")
    earlier: list[str] = []
    for part in parts:
        name = part.lower()
        repeats = part == "A" or part == "B"
        one = f"{name}[1]" if repeats else name
        own: list[str] = []
        own += chance.choices(
            (
                f"{one}.p > {constant()}", f"{one}.{chance.choice('kw')} <= {constant()}", "",
                f"({one}.p < {constant()} OR {one}.w >= {constant()})",
            ),
            (4, 2, 2, 1),
            k=chance.choice((1, 1, 2)),
        )  # fmt: skip
        if earlier:
            before = chance.choice(earlier)
            own.append(
                chance.choice(
                    (
                        "", "", f"{one}.p {chance.choice(('<', '>='))} {constant(FACTORS)} * {before}",
                        f"{one}.k {chance.choice(('<', '>='))} {constant(FACTORS)} * {before}",
                        f"{one}.p > {before} + {constant()}", f"{one}.p - {before} > {constant()}",
                        f"{one}.p > {before}",
                    )
                )
            )  # fmt: skip
        if repeats:
            taken = chance.choice(("", "p", "p", "p", "w", "k", "avg", "max", "constant", "constant", "constants"))
            if len(taken) == 1:
                own.append(f"{name}[i].{taken} {chance.choice(('>', '>', '<', '>='))} {name}[i-1].{taken}")
            elif taken in ("avg", "max"):
                own.append(f"{name}[i].p {chance.choice(('>', '<'))} {taken}({name}[..i-1].p)")
            elif taken:
                own.append(f"{name}[i].p > {constant()}")
                if taken == "constants":
                    own.append(f"{name}[i].{chance.choice('kw')} {chance.choice(('<', '>='))} {constant()}")
            ends = (
                "", "", f"{name}.LEN >= {constant(('1', '2', '3'))}", f"{name}.LEN = {constant(('1', '2'))}",
                f"sum({name}[].w) > {constant()}", f"avg({name}[].p) <= {constant()}",
                f"max({name}[].k) >= {constant()}",
                f"{name}[{name}.LEN].p > {constant()}",
            )  # fmt: skip
            own += chance.choices(ends, k=chance.choice((1, 1, 2)))
            earlier += [f"{name}[{name}.LEN].p", f"{name}[1].p", f"avg({name}[].w)", f"{name}[{name}.LEN].k"]
        else:
            earlier.append(f"{name}.p")
        conjuncts += filter(None, own)
    elements = ", ".join(f"S+ {part.lower()}[]" if part.isupper() else f"S {part}" for part in parts)
    names = ", ".join(f"{part.lower()}[]" if part.isupper() else part for part in parts)
    within = f" WITHIN {chance.choice(WINDOWS)}"  # without it some of these are refused, as they hold events for ever
    block = f" {{{{ {' AND '.join(conjuncts)} }}}}" if conjuncts else ""
    values = [f"{name[:-2]}.LEN, avg({name}.w), {name[:-2]}[1].p AS first" for name in names.split(", ") if "[" in name]
    returned = chance.choice(
        ("", f" RETURN count({parts[-1].lower()}[].p)" if parts[-1].isupper() else "", f" RETURN {values[0]}")
    )
    return Template(f"PATTERN SEQ({elements}) WHERE {strategy}({names}){block}{within}{returned}", tuple(choices))


def texts_of(parts: str, run: str, end: str) -> list[str]:
    """One text of all operands but the last, and that of the last one, "" for none. Upper-case ones repeat."""
    found: list[str] = []
    for part in parts:
        name, text = part.lower(), end if part == parts[-1] and len(parts) > 1 else run
        if text:
            found += [f"{name}[1].ty = {text}", f"{name}[i].ty = {text}"] if part.isupper() else [f"{name}.ty = {text}"]
    return found


def composite(chance: random.Random) -> Template:
    """Up to four events of P-ToPSS, anywhere after each other or adjacent, in any order, or one of them."""
    choices: list[Sequence[str]] = []

    def constant(grid: Sequence[str] = GRID) -> str:
        choices.append(grid)
        return f"{{{len(choices) - 1}}}"

    names = "abcd"[: chance.choice((1, 2, 2, 2, 3, 3, 4))]
    streams = chance.choice(STREAMS)
    keyed = chance.random() < 0.6
    types = chance.choice((KEYS[:1], KEYS))
    begins = chance.random() < 0.3 and types is not KEYS
    defined: list[str] = []
    structured = len(names) > 1 and chance.random() < 0.5
    several: Sequence[str] = ("up", "up", "other", "or", "join", "none", "among", "term")
    if structured and chance.random() < 0.8:
        several = ("up", "up", "other", "none", "term")
    for at, name in enumerate(names):
        equal = f"starts_with(ty, {constant(BEGINNINGS)})" if begins else f"ty = {constant(types)}"
        asked = [equal] if keyed and (at == 0 or chance.random() < 0.8) else []
        kinds = chance.choices(several, k=chance.choice((1, 1, 2)))
        for kind in kinds:
            if kind == "up":
                asked.append(f"p {chance.choice(('>', '<=', '='))} {constant()}")
            elif kind == "other":
                asked.append(f"{chance.choice('kw')} {chance.choice(('<=', '>='))} {constant()}")
            elif kind == "or":
                asked.append(f"(p < {constant()} OR w >= {constant()})")
            elif kind == "among":
                asked.append(chance.choice((f"k IN {chance.choice(LISTS)}", TEXTS)))
            elif kind == "term":
                asked.append(f"{computed(chance)} {constant()}")
            elif kind == "join" and len(names) > 1 and "$x" not in " ".join(asked):
                asked.append("k = $x")
        on = f" ON {chance.choice(streams)}" if len(streams) > 1 else ""
        defined.append(f"{name}{on}: {' AND '.join(asked) or 'TRUE'}")
    by = chance.choice(("", " BY ty", " BY k"))
    if structured:
        joining = (("AND",), ("OR",), ("AND", "OR"), ("AND", ";"), ("OR", ";"), ("AND", "OR", ";", ","))
        operators = chance.choice(joining)
        matched = structure(chance, names, operators)
    else:
        matched = names[0]
        for name in names[1:]:
            matched += f"{chance.choice((';', ';', ','))} {name}"
    waits = ";" in matched or "AND" in matched
    windows = WINDOWS if len(names) < 4 else WINDOWS[:3]  # four events in any order are in millions of tuples within 20
    within = f" WITHIN {constant(windows)}" if waits or chance.random() < 0.5 else ""
    published = chance.choice(("", "", "", " PUBLISH P"))
    text = f"FROM {', '.join(streams)}{by} {' '.join(defined)} MATCH {matched}{within}{published}"
    return Template(text, tuple(choices))


def unlike(chance: random.Random) -> Template:
    """Events of SASE+ with a text each, most of them, or all with one, or with that of any partition, and what may be
    forbidden between two or behind them."""
    choices: list[Sequence[str]] = []

    def constant(grid: Sequence[str] = GRID) -> str:
        choices.append(grid)
        return f"{{{len(choices) - 1}}}"

    names = "abc"[: chance.choice((2, 2, 3, 3))]
    strategy = chance.choice((STRATEGIES[0], STRATEGIES[2], STRATEGIES[2], STRATEGIES[2], STRATEGIES[3]))
    shared = strategy != STRATEGIES[0] and chance.random() < 0.4
    without = chance.choice((names, names[1:], names[1:])) if shared else ""
    if not shared:
        without = chance.choice(("", "", names[0], names[-1], chance.choice(names)))
    key, keys = ("k", ("0", "0", "1")) if shared and chance.random() < 0.3 else ("ty", KEYS)
    asked: list[str] = [f"[{key}]"] if shared else []
    for at, name in enumerate(names):
        if name not in without:
            asked.append(f"{name}.{key} = {constant(keys)}")
        sign = ">" if at % 2 == 0 else "<"
        once = f"{name}.p {sign}" if chance.random() < 0.8 else computed(chance, f"{name}.")
        asked.append(f"{once} {constant()}")
        if chance.random() < 0.2:
            asked.append(f"{name}.{chance.choice('kw')} {chance.choice(('<=', '>='))} {constant()}")
    streams = chance.choice(STREAMS)
    elements = [f"{chance.choice(streams)} {name}" for name in names]
    last = len(names)
    places = sorted(chance.choices(range(1, last + 1), (2, *(1 for _ in names[1:])), k=chance.choice((0, 1, 1, 1, 2))))
    if strategy == STRATEGIES[3]:
        places = [last - 1 if chance.random() < 0.8 else place for place in places]
    for name, place in zip("nm", [] if strategy == STRATEGIES[0] else sorted(places, reverse=True)):
        elements.insert(place, f"~({chance.choice(streams)} {name})")
        asked.append(f"{name}.{chance.choice('pw')} {chance.choice(('<', '>='))} {constant()}")
        if chance.random() < 0.2:
            asked.append(f"{name}.{chance.choice('kw')} {chance.choice(('<=', '>='))} {constant()}")
        if not shared and chance.random() < 0.8:
            asked.append(f"{name}.ty = {constant(KEYS)}")
    text = f"PATTERN SEQ({', '.join(elements)}) WHERE {strategy}({', '.join(names)})"
    text += f" {{{{ {' AND '.join(asked)} }}}} WITHIN {constant(WINDOWS)}"
    return Template(text, tuple(choices))


def computed(chance: random.Random, e: str = "") -> str:
    """A value of one event, with an operator; `e` stands before its attributes."""
    term = chance.choice((f"{e}p * {e}w", f"{e}p + {e}k", f"abs({e}p - {e}w)", f"{e}k - 1", f"{e}p / {e}w"))
    return f"{term} {chance.choice(('>', '<', '<=', '>=', '='))}"


def changed(chance: random.Random, e: str, r: str, behind: str = "") -> str:
    """A value of an event and an earlier one, with an operator; `e` and `r` stand before their attributes."""
    p, w, k = f"{r}p{behind}", f"{r}w{behind}", f"{r}k{behind}"
    linear = (f"{e}p - {p}", f"{p} - {e}p", f"{e}k - {k}", f"{e}k + {w} * 2", f"{e}k - {p}")
    term = chance.choice((*linear, f"{e}p / {p}", f"abs({e}w - {w})", w))
    return f"{term} {chance.choice(('>', '<', '<=', '>=', '='))}"


def structure(chance: random.Random, names: str, operators: Sequence[str]) -> str:
    """The names in their order, joined by these operators, with parentheses everywhere."""
    if len(names) == 1:
        return names
    cut = chance.randrange(1, len(names))
    parts = (structure(chance, part, operators) for part in (names[:cut], names[cut:]))
    return f"({f' {chance.choice(operators)} '.join(parts)})"


MAKERS: Final = {"sase": template, "cayuga": chain, "ptopss": composite}
OTHERS: Final = {"sase": (repeating, 0.4), "cayuga": (fold, 0.3)}


def script(seed: int, actions: int = 30) -> list[Action]:
    """What happens to some templates."""
    chance = random.Random(seed)
    language = chance.choice(("sase", "sase", "cayuga", "cayuga", "ptopss"))
    other, often = OTHERS.get(language, (template, 0.0))
    makers = [other if chance.random() < often else MAKERS[language] for _ in range(2)]
    if language == "sase" and chance.random() < 0.3:
        makers[0] = unlike
    templates = [make(chance) for make in makers[: chance.choice((1, 1, 2))]]
    if any("PUBLISH" in each.text for each in templates):
        templates = templates[:1]  # all that publish one stream have one schema
    several = any(part in each.text for each in templates for part in ("(T ", ", T ", "S, T"))
    long = language == "cayuga" and chance.random() < 0.3
    time = 0
    found: list[Action] = []
    many = chance.random() < 0.1 and fold not in makers
    if fold in makers:
        actions = 20
    for number in range(actions * (5 if many else 1)):
        kind = chance.random() if number > 2 else 0.0
        if kind < 0.2:
            report = "completions" if language == "ptopss" and chance.random() < 0.5 else None
            found.append(Joins(f"s{number}", chance.choice(templates).filled(chance), language, report))
        elif kind < 0.27:
            found.append(Leaves(chance.randrange(100)))
        elif kind < 0.32:
            found.append(Saves())
        else:
            times: list[int] = []
            rows: list[Row] = []
            elsewhere = several and chance.random() < 0.5
            for _ in range(chance.randrange(1, 4 if several else 8)):
                time += chance.choice((0, 1, 1, 1, 2))
                times.append(time)
                rows.append(other_row(chance) if elsewhere else row(chance))
            starts = [time - chance.choice((0, 0, 1, 3)) for time in times] if long else None
            found.append(Publishes(times, rows, starts, "T" if elsewhere else "S"))
    return found


def row(chance: random.Random) -> Row:
    values: tuple[Any, ...] = (
        chance.choice(("A", "A", "A", "B", "AB")),
        chance.choice((0, 0, 0, 1, 2, None)),
        chance.choice((0.0, 0.5, 1.0, 1.5, 2.0, 3.0, None)),
        chance.choice((0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0)),
    )
    return values


def other_row(chance: random.Random) -> Row:
    """Of the stream T."""
    ty, k, _, p = row(chance)
    own, w = chance.choice((False, True)), chance.choice((0, 1, 2, 3))
    return (chance.choice((p, p, None)), own, w, chance.choice((ty, ty, ty, ty, None)), k)
