"""One meaning in many spellings: families of texts in CEL, SASE+ and P-ToPSS that ask the same.

A family has ways, by name: whole texts that say where a condition stands, whether an event is compared with the first
one or with its constant, and what bounds the time. A writer says how each condition is written: here plainly; in any
other way in the tests (tests/strategies/spellings.py), which hold all ways of a family to equal results. The constants
are those of `shapes`.

All ways of a family have the same matches where events are points in time and no two have one time. Where they have,
only ways of one time model agree: those of CEL, and those of SASE+ and P-ToPSS. Not here: what is measured (trial).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from .groups.shapes import Constants
from .ticks import STREAM

OTHER: Final = "Other"  # has the same ticks, in turn with the first one


class Asked(NamedTuple):
    """A comparison. `right` is a number of the subscription, or the text of a literal or a term."""

    left: str
    operator: str
    right: float | str

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


Condition: TypeAlias = "Asked | str"


class Writer:
    """Writes conditions as they come."""

    def every(self, *conditions: Condition) -> str:
        return " AND ".join(map(str, conditions))

    def some(self, *conditions: Condition) -> str:
        return f"({' OR '.join(map(str, conditions))})"


@dataclass(frozen=True, slots=True)
class Way:
    """`write` makes the text of one subscription."""

    language: str
    write: Callable[[Writer, Constants], str]


Ways: TypeAlias = Mapping[str, Way]
Asking: TypeAlias = Callable[[Constants], list[Condition]]


def gt(left: str, right: float | str) -> Asked:
    return Asked(left, ">", right)


def lt(left: str, right: float | str) -> Asked:
    return Asked(left, "<", right)


def eq(left: str, right: float | str) -> Asked:
    return Asked(left, "=", right)


def own(s: Constants, left: str = "name") -> Asked:
    return Asked(left, "=", f"'{s.symbol}'")


def window(s: Constants) -> int:
    return s.duration // 4


# --- CEL ---

KEY: Final = eq("$2.name", "$1.name")
PAIR: Final = "name_1 AS first, price_1 AS one, price AS two"
ALIASED: Final = "n AS first, p AS one, price AS two"


def filtered(condition: str, source: str) -> str:
    return f"FILTER{{{condition}}}({source})" if condition else source


def cel(write: Callable[[Writer, Constants], str]) -> Way:
    return Way("cayuga", write)


def pair(inner: str, theta: str, outer: str, selected: str = PAIR, right: str = STREAM) -> str:
    """Two steps: what the first event, the wait and the match are asked."""
    return f"SELECT {selected} FROM {filtered(outer, f'{filtered(inner, STREAM)} NEXT{{{theta}}} {right}')}"


def aliased(inner: str, theta: str, outer: str, right: str = STREAM, more: str = "price * 2 AS q") -> str:
    """The same with other names for what the first event brings, and `more` that nobody asks for."""
    left = f"(SELECT name AS n, price AS p, {more} FROM {filtered(inner, STREAM)})"
    return f"SELECT {ALIASED} FROM {filtered(outer, f'{left} NEXT{{{theta}}} {right}')}"


def chained(second: Callable[[Constants, str], list[Condition]], right: str = STREAM) -> dict[str, Way]:
    """Two steps of a key, the first above a price. `second`: what the second event is asked, given the first's price
    by name."""

    def way(inner: str, theta: str, outer: str) -> Way:
        """Each a list of: k the key by join, K by constant, n and p name and price of the first event."""

        def write(w: Writer, s: Constants) -> str:
            first = {"n": own(s), "p": gt("price", s.a)}
            between = {"k": KEY, "K": own(s, "$2.name"), "n": own(s, "$1.name"), "p": gt("$1.price", s.a)}
            after = {"K": own(s), "n": own(s, "name_1"), "p": gt("price_1", s.a)}
            return pair(
                w.every(*(first[each] for each in inner)),
                w.every(*(between[each] for each in theta)),
                w.every(*second(s, "price_1"), *(after[each] for each in outer)),
                right=right,
            )

        return cel(write)

    return {
        "join": way("np", "k", ""),
        "constant": way("np", "K", ""),
        "join and constant": way("np", "kK", "K"),
        "price outside": way("n", "k", "p"),
        "outside": way("", "k", "np"),
        "in NEXT": way("", "knp", ""),
        "twice": way("np", "knp", "np"),
        "alias": cel(
            lambda w, s: aliased(
                w.every(own(s), gt("price", s.a)), w.every(eq("$2.name", "$1.n")), w.every(*second(s, "p")), right
            )
        ),
        "alias, a time": cel(
            lambda w, s: aliased(
                w.every(own(s), gt("price", s.a)),
                w.every(eq("$2.name", "$1.n")),
                w.every(*second(s, "p")),
                right,
                "time AS t",
            ),
        ),
        "alias outside": cel(
            lambda w, s: aliased(
                "", w.every(eq("$2.name", "$1.n")), w.every(*second(s, "p"), own(s, "n"), gt("p", s.a)), right
            )
        ),
    }


def lasting() -> dict[str, Way]:
    """Two steps of a key within a time."""

    def way(inner: str, theta: Asking, outer: Asking) -> Way:
        def write(w: Writer, s: Constants) -> str:
            known: list[Condition] = [gt("price", s.a), *([own(s)] if inner else [])]
            after: list[Condition] = [lt("price", s.b), *outer(s), *([] if inner else [own(s, "name_1")])]
            return pair(w.every(*known), w.every(*theta(s)), w.every(*after))

        return cel(write)

    within: Asking = lambda s: [lt("DUR", s.duration)]  # noqa: E731
    return {
        "DUR in NEXT": way("n", lambda s: [KEY, lt("DUR", s.duration)], lambda s: []),
        "DUR outside": way("n", lambda s: [KEY], within),
        "constant, in NEXT": way("n", lambda s: [own(s, "$2.name"), lt("DUR", s.duration)], lambda s: []),
        "constant, outside": way("n", lambda s: [own(s, "$2.name")], within),
        "name outside, too": way("", lambda s: [KEY], within),
        "DUR twice": way("n", lambda s: [KEY, lt("DUR", s.duration)], within),
        "one less": way("n", lambda s: [KEY, Asked("DUR", "<=", s.duration - 1)], lambda s: []),
        "time - start": way("n", lambda s: [KEY], lambda s: [lt("time - start", s.duration - 1)]),
        "time - start, constant": way(
            "n", lambda s: [own(s, "$2.name")], lambda s: [lt("time - start", s.duration - 1)]
        ),
        "time in NEXT": way("n", lambda s: [KEY, lt("$2.time - $1.start", s.duration - 1)], lambda s: []),
        "a sum": way("n", lambda s: [KEY], lambda s: [lt("time", f"start + {s.duration - 1}")]),
        "less a bound": way("n", lambda s: [KEY], lambda s: [lt(f"time - {s.duration - 1}", "start")]),
        "at most": way("n", lambda s: [KEY], lambda s: [Asked("time - start", "<=", s.duration - 2)]),
    }


def waiting(behind: Callable[[Constants, str], list[Condition]]) -> dict[str, Way]:
    """Two steps of a key, the second the next event that satisfies a condition, given the first's price by name."""

    def skip(s: Constants) -> list[Condition]:
        return behind(s, "$1.price")

    def of_event(condition: Condition) -> Condition:
        """Without `$2.`, for a FILTER around the right input."""
        assert isinstance(condition, Asked)
        return Asked(condition.left.replace("$2.", ""), condition.operator, condition.right)

    found = {
        "join": cel(lambda w, s: pair(w.every(own(s), gt("price", s.a)), w.every(KEY, *skip(s)), "")),
        "constant": cel(lambda w, s: pair(w.every(own(s), gt("price", s.a)), w.every(own(s, "$2.name"), *skip(s)), "")),
        "join and constant": cel(
            lambda w, s: pair(w.every(own(s), gt("price", s.a)), w.every(KEY, own(s, "$2.name"), *skip(s)), "")
        ),
        "name outside": cel(
            lambda w, s: pair(w.every(gt("price", s.a)), w.every(KEY, *skip(s)), w.every(own(s, "name_1")))
        ),
        "price outside": cel(lambda w, s: pair(w.every(own(s)), w.every(KEY, *skip(s)), w.every(gt("price_1", s.a)))),
        "outside": cel(lambda w, s: pair("", w.every(KEY, *skip(s)), w.every(own(s, "name_1"), gt("price_1", s.a)))),
        "in NEXT": cel(lambda w, s: pair("", w.every(KEY, own(s, "$1.name"), gt("$1.price", s.a), *skip(s)), "")),
        "alias": cel(
            lambda w, s: aliased(
                w.every(own(s), gt("price", s.a)), w.every(eq("$2.name", "$1.n"), *behind(s, "$1.p")), ""
            )
        ),
    }
    if not any("$1" in str(each) for each in behind(CHOSEN, "$1.price")):
        found["FILTER of the right"] = cel(
            lambda w, s: pair(
                w.every(own(s), gt("price", s.a)),
                w.every(KEY),
                "",
                right=filtered(w.every(*map(of_event, skip(s))), STREAM),
            )
        )
    return found


def three() -> dict[str, Way]:
    """Three steps of a key."""
    chosen = "name_1_1 AS first, price_1_1 AS one, price_1 AS two, price AS three"

    def way(inner: str, theta: str, middle: str, last: str, outer: str) -> Way:
        """Each a list of: n the name, p the price of the newest event, others by their step; k, K as in `chained`, t
        the name of the first event behind two steps."""

        def write(w: Writer, s: Constants) -> str:
            first = {"n": own(s), "p": gt("price", s.a)}
            then: dict[str, Asked] = {"k": KEY, "K": own(s, "$2.name"), "t": eq("$2.name", "$1.name_1")}
            between = {"p": lt("price", s.b), "1": gt("price_1", s.a), "n": own(s, "name_1"), "N": own(s)}
            after: dict[str, Asked] = {"p": gt("price", s.c), "2": lt("price_1", s.b), "1": gt("price_1_1", s.a)}
            after |= {"n": own(s, "name_1_1"), "m": own(s, "name_1"), "N": own(s)}
            two = filtered(w.every(*(first[each] for each in inner)), STREAM)
            two = f"{two} NEXT{{{w.every(*(then[each] for each in theta))}}} {STREAM}"
            two = filtered(w.every(*(between[each] for each in middle)), two) if middle else f"({two})"
            whole = f"{two} NEXT{{{w.every(*(then[each] for each in last))}}} {STREAM}"
            return f"SELECT {chosen} FROM {filtered(w.every(*(after[each] for each in outer)), whole)}"

        return cel(write)

    return {
        "join": way("np", "k", "p", "k", "p"),
        "constant": way("np", "K", "p", "K", "p"),
        "constant, then join": way("np", "K", "p", "k", "p"),
        "join to the first": way("np", "k", "p", "t", "p"),
        "all joins": way("np", "k", "p", "tk", "p"),
        "first outside": way("p", "k", "np", "k", "p"),
        "outside": way("", "k", "", "k", "12np"),
        "redundant": way("np", "kK", "1Np", "ktK", "N21p"),
        "name of the second": way("p", "k", "pN", "t", "p"),
        "name of the last": way("p", "k", "p", "k", "Np"),
    }


def folded() -> dict[str, Way]:
    """Ever higher prices of a key, at least so many."""

    def way(inner: str, theta: str, outer: str, cnt: str = "cnt") -> Way:
        def write(w: Writer, s: Constants) -> str:
            first = {"n": own(s), "p": gt("price", s.a)}
            waits: dict[str, Asked] = {"k": eq("$2.name", "$.name"), "1": KEY, "K": own(s, "$2.name")}
            waits |= {"n": own(s, "$.name")}
            told: dict[str, Asked] = {"n": own(s), "m": own(s, "name_1"), "p": gt("price_1", s.a)}
            begun = filtered(w.every(*(first[each] for each in inner)), STREAM)
            wait = w.every(*(waits[each] for each in theta))
            step = w.every(gt("$2.price", "$.price"))
            reported = w.every(Asked(cnt, ">=", s.count), *(told[each] for each in outer))
            fold = f"(SELECT name, price, 1 AS {cnt} FROM {begun}) FOLD{{{wait}, {step}, $.{cnt} + 1 AS {cnt}}}"
            right = f"(SELECT name, price FROM {STREAM})"
            chosen = f"name AS first, price_1 AS one, price AS two, {cnt} AS n"
            return f"SELECT {chosen} FROM {filtered(reported, f'{fold} {right}')}"

        return cel(write)

    return {
        "join": way("np", "k", ""),
        "join to the first": way("np", "1", ""),
        "constant": way("np", "K", ""),
        "all joins": way("np", "k1K", "nm"),
        "price outside": way("n", "k", "p"),
        "name outside": way("p", "k", "n"),
        "outside": way("", "k", "mp"),
        "in FOLD": way("p", "kn", ""),
        "alias": way("np", "k", "", "number"),
    }


# --- SASE+ and P-ToPSS ---


def sase(
    components: str,
    strategy: str,
    asked: Asking,
    within: Callable[[Constants], int] | None = window,
) -> Way:
    names = ", ".join(part.split()[-1] for part in components.split(", ") if "~" not in part)

    def write(w: Writer, s: Constants) -> str:
        text = f"PATTERN SEQ({components}) WHERE {strategy}({names}) {{ {w.every(*asked(s))} }}"
        return text if within is None else f"{text} WITHIN {within(s)}"

    return Way("sase", write)


def ptopss(match: Callable[[Constants], str], by: str, asked: Callable[[Constants], list[list[Condition]]]) -> Way:
    def write(w: Writer, s: Constants) -> str:
        defined = " ".join(f"{name}: {w.every(*conditions)}" for name, conditions in zip("abc", asked(s)))
        return f"FROM {STREAM}{by} {defined} MATCH {match(s)}"

    return Way("ptopss", write)


TWO: Final = f"{STREAM} a, {STREAM} b"
BY: Final = " BY name"


def bounds(s: Constants) -> list[Condition]:
    return [gt("a.price", s.a), lt("b.price", s.b)]


def adjacent(
    within: Callable[[Constants], int] | None, timed: Callable[[Constants, str, str], Asked]
) -> dict[str, Way]:
    """Neighbours of a key; `within` at most that time, `timed` says the same of the times of two."""
    contiguous = "partition_contiguity"
    spelled: Callable[[Constants], str] = lambda s: "a, b" if within is None else f"a, b WITHIN {within(s)}"  # noqa: E731
    found = {
        "sase []": sase(TWO, contiguous, lambda s: ["[name]", own(s, "a.name"), *bounds(s)], within),
        "sase [] of both": sase(TWO, contiguous, lambda s: ["[a.name = b.name]", own(s, "a.name"), *bounds(s)], within),
        "sase constants": sase(
            TWO, contiguous, lambda s: ["[name]", own(s, "a.name"), own(s, "b.name"), *bounds(s)], within
        ),
        "sase last": sase(TWO, contiguous, lambda s: ["[name]", own(s, "b.name"), *bounds(s)], within),
        "sase join": sase(
            TWO, contiguous, lambda s: ["[name]", own(s, "b.name"), eq("a.name", "b.name"), *bounds(s)], within
        ),
        "ptopss first": ptopss(spelled, BY, lambda s: [[own(s), gt("price", s.a)], [lt("price", s.b)]]),
        "ptopss constants": ptopss(spelled, BY, lambda s: [[own(s), gt("price", s.a)], [own(s), lt("price", s.b)]]),
        "ptopss last": ptopss(spelled, BY, lambda s: [[gt("price", s.a)], [own(s), lt("price", s.b)]]),
    }
    if within is not None:
        for name, said in {
            "sase times": lambda s: timed(s, "a.time", "b.time"),
            "sase sum": lambda s: Asked(f"a.time + {within(s) + 1}", ">", "b.time"),
            "sase less a bound": lambda s: Asked("a.time", ">=", f"b.time - {within(s)}"),
            "sase negative": lambda s: Asked("a.time - b.time", ">=", f"-{within(s)}"),
        }.items():
            found[name] = sase(
                TWO, contiguous, lambda s, said=said: ["[name]", own(s, "a.name"), said(s), *bounds(s)], None  # type: ignore[misc]
            )
        found["sase times, too"] = sase(
            TWO, contiguous, lambda s: ["[name]", own(s, "a.name"), timed(s, "a.time", "b.time"), *bounds(s)], within
        )
        found["ptopss @"] = ptopss(
            lambda s: f"a, b @({timed(s, 't(a)', 't(b)')})",
            BY,
            lambda s: [[own(s), gt("price", s.a)], [lt("price", s.b)]],
        )
    return found


def joined(strategy: str, behind: Asking, within: Callable[[Constants], int] | None) -> dict[str, Way]:
    """Two events of a key under a strategy that skips."""
    asks: dict[str, Asking] = {
        "sase []": lambda s: ["[name]", own(s, "a.name")],
        "sase constants": lambda s: [own(s, "a.name"), own(s, "b.name")],
        "sase =": lambda s: [own(s, "a.name"), eq("b.name", "a.name")],
        "sase = and last": lambda s: [eq("b.name", "a.name"), own(s, "b.name")],
        "sase [] and last": lambda s: ["[name]", own(s, "b.name")],
        "sase all": lambda s: ["[name]", own(s, "a.name"), own(s, "b.name"), eq("a.name", "b.name")],
    }

    def way(asked: Asking) -> Way:
        return sase(TWO, strategy, lambda s: [*asked(s), gt("a.price", s.a), *behind(s)], within)

    return {name: way(asked) for name, asked in asks.items()}


def later(match: str, timed: str) -> dict[str, Way]:
    """P-ToPSS's events of a key in a window: `match` them within it, `timed` says it by @."""

    def asked(a: str, b: str) -> Callable[[Constants], list[list[Condition]]]:
        """k is a variable, n the name."""

        def conditions(s: Constants) -> list[list[Condition]]:
            key: dict[str, Condition] = {"k": "name = $x", "n": own(s)}
            return [[*(key[each] for each in a), gt("price", s.a)], [*(key[each] for each in b), lt("price", s.b)]]

        return conditions

    within: Callable[[Constants], str] = lambda s: f"{match} WITHIN {window(s)}"  # noqa: E731
    at: Callable[[Constants], str] = lambda s: timed.format(window(s))  # noqa: E731
    return {
        "ptopss constants": ptopss(within, "", asked("n", "n")),
        "ptopss BY": ptopss(within, BY, asked("n", "")),
        "ptopss BY last": ptopss(within, BY, asked("", "n")),
        "ptopss BY constants": ptopss(within, BY, asked("n", "n")),
        "ptopss variable": ptopss(within, "", asked("kn", "k")),
        "ptopss variable, last": ptopss(within, "", asked("k", "nk")),
        "ptopss @": ptopss(at, "", asked("n", "n")),
        "ptopss BY @": ptopss(at, BY, asked("n", "")),
        "ptopss @ within": ptopss(lambda s: f"{at(s)} WITHIN {window(s)}", "", asked("n", "n")),
    }


def together() -> dict[str, Way]:
    """Three events of P-ToPSS in any order within a window, said of any two of them."""
    asked: Callable[[Constants], list[list[Condition]]] = lambda s: [  # noqa: E731
        [own(s), gt("price", s.a)],
        [own(s), lt("price", s.b)],
        [own(s), gt("price", s.c)],
    ]

    def apart(*pairs: str) -> Callable[[Constants], str]:
        return lambda s: "(a AND b AND c)" + "".join(f" @(t({p[1]}) - t({p[0]}) <= {window(s)})" for p in pairs)

    return {
        "ptopss": ptopss(lambda s: f"a AND b AND c WITHIN {window(s)}", "", asked),
        "ptopss BY": ptopss(
            lambda s: f"a AND b AND c WITHIN {window(s)}", BY, lambda s: [asked(s)[0], asked(s)[1][1:], asked(s)[2][1:]]
        ),
        "ptopss @": ptopss(apart("ab", "ac", "bc"), "", asked),
        "ptopss @ turned": ptopss(apart("ba", "ca", "cb"), "", asked),
        "ptopss BY @": ptopss(apart("ab", "ca", "bc"), BY, asked),
    }


def forbidden() -> dict[str, Way]:
    """Two events of a key without one of a kind between."""
    components = f"{STREAM} a, ~({STREAM} n), {STREAM} c"
    asks: dict[str, Asking] = {
        "sase []": lambda s: ["[name]", own(s, "a.name")],
        "sase constants": lambda s: [own(s, "a.name"), own(s, "n.name"), own(s, "c.name")],
        "sase = first": lambda s: [own(s, "a.name"), eq("n.name", "a.name"), eq("c.name", "a.name")],
        "sase = last": lambda s: [own(s, "a.name"), own(s, "c.name"), eq("n.name", "c.name")],
        "sase mixed": lambda s: [own(s, "a.name"), eq("c.name", "a.name"), own(s, "n.name")],
    }

    def way(asked: Asking) -> Way:
        numbers: Asking = lambda s: [  # noqa: E731
            gt("a.price", s.a),
            lt("n.price", s.b),
            gt("c.price", s.c),
        ]
        return sase(components, "skip_till_next_match", lambda s: [*asked(s), *numbers(s)])

    return {name: way(asked) for name, asked in asks.items()}


def repeated() -> dict[str, Way]:
    """Ever higher prices of a key and a lower one."""
    components = f"{STREAM}+ a[], {STREAM} b"
    asks: dict[str, Asking] = {
        "sase []": lambda s: ["[name]", own(s, "a[1].name")],
        "sase constants": lambda s: [own(s, "a[1].name"), own(s, "a[i].name"), own(s, "b.name")],
        "sase =": lambda s: [own(s, "a[1].name"), eq("a[i].name", "a[1].name"), eq("b.name", "a[1].name")],
        "sase = newest": lambda s: [own(s, "a[1].name"), eq("a[i].name", "a[i-1].name"), eq("b.name", "a[a.LEN].name")],
        "sase [] and all": lambda s: ["[name]", own(s, "a[1].name"), own(s, "a[i].name"), own(s, "b.name")],
    }

    def way(asked: Asking) -> Way:
        numbers: Asking = lambda s: [  # noqa: E731
            gt("a[1].price", s.a),
            gt("a[i].price", "a[i-1].price"),
            lt("b.price", s.b),
        ]
        return sase(components, "skip_till_next_match", lambda s: [*asked(s), *numbers(s)])

    return {name: way(asked) for name, asked in asks.items()}


def streamed() -> dict[str, Way]:
    """An event of one stream and a later one of another, of a key."""
    components = f"{STREAM} a, {OTHER} b"
    return {
        name: Way("sase", lambda w, s, way=way: way.write(w, s).replace(TWO, components))  # type: ignore[misc]
        for name, way in joined("skip_till_next_match", lambda s: [lt("b.price", s.b)], window).items()
    }


# --- one event ---


def single(asked: Callable[[Writer, Constants], list[Condition]]) -> dict[str, Way]:
    """One event, in a language each."""
    return {
        "cel": cel(lambda w, s: f"SELECT name, price FROM {filtered(w.every(own(s), *asked(w, s)), STREAM)}"),
        "cel in two": cel(
            lambda w, s: f"SELECT name, price FROM {filtered(w.every(*asked(w, s)), filtered(w.every(own(s)), STREAM))}"
        ),
        "ptopss": ptopss(lambda s: "a", "", lambda s: [[own(s), *asked(Writer(), s)]]),
        "ptopss BY": ptopss(lambda s: "a", BY, lambda s: [[own(s), *asked(Writer(), s)]]),
    }


def ranged(w: Writer, s: Constants) -> list[Condition]:
    return [Asked("price", ">=", s.b), Asked("price", "<=", s.a)]


def one_of(w: Writer, s: Constants) -> list[Condition]:
    return [w.some(gt("price", s.a), gt("volume", s.volume))]


def distributed(w: Writer, s: Constants) -> str:
    return w.some(w.every(own(s), gt("price", s.a)), w.every(own(s), gt("volume", s.volume)))


CHOSEN: Final = Constants("S00", "S01", 3.0, 2.0, 3.0, 4.0, 400, 1.01, 4)  # to look at what a family asks


def below(s: Constants, first: str) -> list[Condition]:
    return [lt("price", s.b)]


def times(s: Constants, first: str) -> list[Condition]:
    return [gt("price", f"{s.factor} * {first}")]


def gap(s: Constants, first: str, second: str) -> Asked:
    return lt(f"{second} - {first}", s.duration - 1)


def awaited(s: Constants, first: str) -> list[Condition]:
    return [lt("$2.price", s.b)]


def awaited_times(s: Constants, first: str) -> list[Condition]:
    return [gt("$2.price", f"{s.factor} * {first}")]


FAMILIES: Final[Mapping[str, Ways]] = {
    "next": chained(below) | adjacent(None, gap),
    "next, DUR": lasting() | adjacent(lambda s: s.duration - 2, gap),
    "next, factor": chained(times),
    "skip till": waiting(awaited) | joined("skip_till_next_match", lambda s: [lt("b.price", s.b)], None),
    "skip till, factor": waiting(awaited_times)
    | joined("skip_till_next_match", lambda s: [gt("b.price", f"{s.factor} * a.price")], None),
    "three": three(),
    "any, within": joined("skip_till_any_match", lambda s: [lt("b.price", s.b)], window)
    | later("a; b", "a; b @(t(b) - t(a) <= {})"),
    "AND, within": later("a AND b", "(a AND b) @(t(b) - t(a) <= {})"),
    "AND of three, within": together(),
    "filter": single(lambda w, s: [gt("price", s.a), gt("volume", s.volume)]),
    "filter, range": single(ranged),
    "filter, OR": single(one_of)
    | {"cel distributed": cel(lambda w, s: f"SELECT name, price FROM {filtered(distributed(w, s), STREAM)}")},
    "filter, int": single(lambda w, s: [eq("volume", int(s.volume))])
    | {
        f"{name}, float": way
        for name, way in single(lambda w, s: [eq("volume", f"{int(s.volume)}.0")]).items()
        if name != "cel in two"
    },
    "fold": folded(),
    "negation": forbidden(),
    "kleene": repeated(),
    "two streams": chained(below, OTHER),
    "two streams, skip till": streamed(),
}
