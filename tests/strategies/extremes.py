"""Subscriptions of all languages whose literals are extreme, and streams whose times, ids and values are: for laws.

Numbers lie around every size at which some representation ends: 32 and 53 bits, the greatest instant, the greatest
distance of two, 64 bits and beyond. All is over one stream. Here: strategies. Not here: what must hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from broker.events.instant import FOREVER, LARGEST
from broker.events.schema import Row, Schema

STREAM: Final = "S"
ATTRIBUTES: Final = {"ty": "string", "k": "int?", "x": "float?"}
SCHEMA: Final = Schema.declare(ATTRIBUTES)

INTEGER_MAX: Final = 2**63 - 1
_SIZES: Final = (1, 2**31, 2**32, 2**53, 10**15, LARGEST // 2, LARGEST, 2 * LARGEST, FOREVER, INTEGER_MAX - 1000)
NUMBERS: Final = sorted({n for size in (0, *_SIZES, INTEGER_MAX) for n in range(size - 2, size + 3)})
LITERALS: Final = [n for n in NUMBERS if 0 <= n <= INTEGER_MAX]
FLOATS: Final = (
    "0.5", "1e15", "9007199254740992.0", "9007199254740994.0", "1.7e18", "4611686018427387905.5",
    "9.223372036854775807e18", "1e19", "1e300",
)  # fmt: skip
INTEGERS: Final = [n for n in {*NUMBERS, *(-n for n in NUMBERS)} if -INTEGER_MAX - 1 <= n <= INTEGER_MAX]
TIMES: Final = sorted(n for n in INTEGERS if -LARGEST <= n <= LARGEST)
DURATIONS: Final = [n for n in LITERALS if n <= LARGEST]
VALUES: Final[dict[str, list[str | int | float | None]]] = {
    "ty": ["A", "A", "A", "B"],
    "k": [None, 0, 0, 0, 1, *sorted(INTEGERS)],
    "x": [None, 0.0, 0.5, 1.0, 2.0**53, -(2.0**63), 2.0**63, 1e300],
}


@dataclass(frozen=True)
class Happened:
    """One event."""

    time: int
    start: int
    id: int
    row: Row


@st.composite
def histories(draw: st.DrawFn, most: int = 6) -> list[Happened]:
    """Events in order, often at equal times; many last no time, some for ever. Ids are all different, in any order."""
    times = sorted(draw(st.lists(st.sampled_from(TIMES), min_size=1, max_size=3)))
    ends = sorted(draw(st.lists(st.sampled_from(times), min_size=1, max_size=most)))
    ids = draw(st.lists(st.sampled_from(sorted(INTEGERS)), min_size=len(ends), max_size=len(ends), unique=True))
    found = []
    for end, number in zip(ends, ids):
        start = draw(st.sampled_from([end, end, end, max(end - 1, -LARGEST), -LARGEST]))
        row = tuple(draw(st.sampled_from(VALUES[name])) for name in ATTRIBUTES)
        found.append(Happened(end, start, number, row))
    return found


_WHOLE: Final = st.sampled_from(LITERALS).map(str)
_UNSIGNED: Final = st.one_of(_WHOLE, _WHOLE, st.sampled_from(FLOATS))
numbers = st.one_of(_UNSIGNED, _UNSIGNED.map("-{}".format))
bounds = st.one_of(_WHOLE, numbers)
relations = st.sampled_from(["<", "<=", "<", "<=", "=", "!=", ">", ">="])
_CAYUGA: Final = (
    "FILTER{{DUR {r0} {d0}}}(S)",
    "FILTER{{k {r0} {n0} AND k {r1} {n1}}}(S)",
    "FILTER{{x {r0} {d0} OR k {r1} {n1}}}(S)",
    "S NEXT{{$2.ty = $1.ty AND DUR {r0} {d0}}} S",
    "S NEXT{{$2.ty = $1.ty AND DUR {r0} {d0}}} S NEXT{{$2.ty = $1.ty AND DUR {r1} {d1}}} S",
    "FILTER{{DUR {r0} {d0}}}(S NEXT{{$2.ty = $1.ty}} S)",
    "FILTER{{DUR {r0} {d0}}}(S NEXT{{$2.ty = $1.ty AND (DUR {r1} {d1} OR $2.k = {n0})}} S)",
    "FILTER{{k_1 {r0} {n0}}}(FILTER{{k {r1} {n1}}}(S) NEXT{{$2.ty = $1.ty}} S)",
    "S NEXT{{$2.k {r0} $1.k + {n0}}} S",
    "S NEXT{{$2.ty = $1.ty AND $2.k {r0} $1.x}} S",
    "S NEXT{{$2.ty = $1.ty AND $2.x {r0} $1.k}} S",
    "FILTER{{k {r0} x}}(S)",
    "S NEXT{{$2.x {r0} {n0} * $1.x}} S",
    "SELECT k + {n0} AS a, {n1} * k AS b, k - {n0} AS c, DUR + {n0} AS d, k / {n1} AS e, k % {n0} AS f FROM S",
    "SELECT DUR * {n0} AS a, {n1} - k_1 AS b, max(k, k_1) AS c, abs(k) AS d FROM S NEXT{{$2.ty = $1.ty}} S",
    "FILTER{{n {r0} {n0}}}((SELECT *, {n1} AS n FROM S) FOLD{{$2.ty = $.ty, , $.n + 1 AS n}} S)",
    "(SELECT *, k AS n FROM S) FOLD{{$2.ty = $.ty, DUR {r0} {d0}, $.n + $2.k AS n}} S",
)


@st.composite
def cayuga(draw: st.DrawFn) -> str:
    chosen = draw(st.sampled_from(_CAYUGA))
    given = {f"r{n}": draw(relations) for n in (0, 1)}
    given |= {f"n{n}": draw(numbers) for n in (0, 1)} | {f"d{n}": draw(bounds) for n in (0, 1)}
    text = chosen.format(**given)
    return text if text.startswith("SELECT") else f"SELECT * FROM {text}"


_SASE: Final = (
    "PATTERN SEQ(S a, S b) WHERE {s}(a, b) {{ {c} a.ty = 'A' }} WITHIN {w}",
    "PATTERN SEQ(S a, S b) WHERE {s}(a, b) {{ {c} b.k {r} a.k + {n} }} WITHIN {w} RETURN a.k + {n} AS n, b.k AS k",
    "PATTERN SEQ(S+ a[], S b) WHERE {s}(a[], b) {{ {c} sum(a[].k) {r} {n} }} WITHIN {w} RETURN sum(a[].k) AS n",
    "PATTERN SEQ(S+ a[], S b) WHERE {s}(a[], b) {{ {c} a[i].k > a[i-1].k AND b.x {r} a[1].x }} WITHIN {w}",
    "PATTERN SEQ(S+ a[], S b) WHERE {s}(a[], b) {{ {c} a[i].x > avg(a[..i-1].x) }} WITHIN {w} RETURN avg(a[].k) AS n",
    "PATTERN SEQ(S+ a[], S b) WHERE {s}(a[], b) {{ {c} a[i].k > max(a[..i-1].k) }} WITHIN {w} RETURN a.LEN AS n",
    "PATTERN SEQ(S+ a[], ~(S m), S b) WHERE {s}(a[], b) {{ {c} m.ty = 'B' AND a[1].k {r} {n} }} WITHIN {w}",
    "PATTERN SEQ(~(S m), S a, S b) WHERE {s}(a, b) {{ {c} m.ty = 'B' AND b.ty = 'A' }} WITHIN {w}",
    "PATTERN SEQ(S a, S b) WHERE {s}(a, b) {{ {c} b.k {r} a.x AND a.k {r} {n} }} WITHIN {w}",
    "PATTERN SEQ(S+ a[], S b) WHERE {s}(a[], b) {{ {c} b.x {r} max(a[].k) }} WITHIN {w}",
    "PATTERN SEQ(~(S m), S a) WHERE {s}(a) {{ {c} m.k {r} a.k }} WITHIN {w}",
    "PATTERN SEQ(S a, S b, ~(S m)) WHERE {s}(a, b) {{ {c} m.ty = 'B' }} WITHIN {w}",
    "PATTERN SEQ(S+ a[], ~(S m)) WHERE {s}(a[]) {{ {c} m.k {r} a[1].k }} WITHIN {w}",
)
_STRATEGIES: Final = ("strict_contiguity", "skip_till_next_match", "skip_till_any_match", "skip_till_any_match")


@st.composite
def sase(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(_SASE)).format(
        s=draw(st.sampled_from(_STRATEGIES)),
        c=draw(st.sampled_from(["", "[ty] AND"])),
        r=draw(relations),
        n=draw(numbers),
        w=draw(st.sampled_from(DURATIONS)),
    )


_PATTERNS: Final = (
    "a ; b",
    "a , b",
    "a ; b @(t(b) - t(a) {r0} {d0})",
    "(a AND b) @(t(b) - t(a) {r0} {d0})",
    "(a AND b @(t(a) - t(b) {r0} {d0})) ; c",
    "a ; b ; c @(t(c) - t(a) {r0} {d0}) @(t(c) - t(b) {r1} {d1})",
    "a , b @(t(b) - t(a) {r0} {d0}) ; c @(t(c) - t(a) {r1} {d1})",
    "(a OR b ; c @(t(c) - t(b) {r0} {d0}))",
)


@st.composite
def ptopss(draw: st.DrawFn) -> str:
    guards = [draw(st.sampled_from(["ty = 'A'", "TRUE", f"k {draw(relations)} {draw(numbers)}"])) for _ in range(3)]
    join = draw(st.sampled_from(["", "", " AND ty = $t", " AND k = $t"]))
    pattern = draw(st.sampled_from(_PATTERNS)).format(
        r0=draw(relations),
        r1=draw(relations),
        d0=draw(st.sampled_from(DURATIONS)),
        d1=draw(st.sampled_from(DURATIONS)),
    )
    used = [name for name in "abc" if name in pattern.replace("AND", "").replace("OR", "").replace("t(", "(")]
    defined = "\n".join(f"{name}: {guard}{join}" for name, guard in zip(used, guards))
    within = draw(st.sampled_from(["", "", f" WITHIN {draw(st.sampled_from(DURATIONS))}"]))
    by = draw(st.sampled_from(["", "", " BY ty"]))
    return f"FROM S{by}\n{defined}\nMATCH {pattern}{within}"


def one_of(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


_STEPS: Final = (1, 2, 5, 2**31, 2**53, LARGEST, INTEGER_MAX, INTEGER_MAX + 1)
_LENGTHS: Final = st.sampled_from(DURATIONS).map("{}us".format)
_BEYOND: Final = tuple(sign * 2**bits for bits in (63, 64, 70) for sign in (1, -1))
ODD: Final = (None, True, "", "A", "x" * 300, "\ud800", 0.5, -0.0, 2**53 + 1, 1e308, *_BEYOND)


@st.composite
def forecasts(draw: st.DrawFn) -> dict[str, Any]:
    """A table `forecast`, often one that is refused."""
    found = {"within": draw(st.one_of(one_of(*_STEPS), _LENGTHS)), "threshold": draw(one_of(0, 0.3, 1e-300, 1, 1.5))}
    more = {
        "effective": one_of(0, 0.5, 1e300, INTEGER_MAX),
        "half_life": _LENGTHS,
        "context": one_of(["key"], ["k"], ["hour"], ["x"], [{"last": 2}]),
        "cautious": one_of(True),
        "per": one_of("stream"),
    }
    return found | {name: draw(values) for name, values in more.items() if draw(st.integers(0, 2)) == 0}


@st.composite
def subscriptions(draw: st.DrawFn) -> tuple[str, str, str | None, dict[str, Any] | None]:
    """Language, text, report and forecast."""
    language, texts = draw(one_of(("cayuga", cayuga()), ("cayuga", cayuga()), ("sase", sase()), ("ptopss", ptopss())))
    report = draw(one_of(None, "all", "completions")) if language == "ptopss" else None
    told = draw(forecasts()) if language != "sase" and draw(st.integers(0, 3)) == 0 else None
    return language, draw(texts), report, told


@st.composite
def programs(draw: st.DrawFn, most: int = 4) -> list[tuple[str, str, str | None, dict[str, Any] | None]]:
    """Some subscriptions to one engine; of two, one may read what the other publishes."""
    found = draw(st.lists(subscriptions(), min_size=1, max_size=most))
    language, text, report, told = found[0]
    if language == "cayuga" and told is None and draw(st.integers(0, 2)) == 0:
        found[0] = language, f"{text} PUBLISH P", report, told
        window = f"{draw(relations)} {draw(bounds)}"
        reading = draw(one_of("SELECT * FROM P", f"SELECT * FROM FILTER{{DUR {window}}}(P NEXT{{}} S)"))
        found.append(("cayuga", reading, None, None))
    return found


@st.composite
def batches(draw: st.DrawFn) -> list[list[tuple[Any, Any, Any, list[Any]]]]:
    """A history in batches: time, start, id and row of each event; now and then one of these is what cannot be."""
    found: list[list[tuple[Any, Any, Any, list[Any]]]] = [[]]
    for each in draw(histories(most=8)):
        event: list[Any] = [each.time, each.start, each.id, list(each.row)]
        if draw(st.integers(0, 19)) == 0:
            values = event if draw(st.booleans()) else event[3]
            values[draw(st.integers(0, 2))] = draw(st.sampled_from(ODD))
        found[-1].append((event[0], event[1], event[2], event[3]))
        if draw(st.booleans()):
            found.append([])
    return [batch for batch in found if batch]
