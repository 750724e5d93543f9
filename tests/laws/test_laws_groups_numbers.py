"""Groups give what each subscription gives alone, with numbers that floats do not hold and conditions between events.

Drawn are patterns of CEL and SASE+ whose conditions compare events with constants, with earlier events, and with both;
whole numbers beyond 2**53, the greatest and least floats, nulls, ties, newcomers and a snapshot. Ids are compared in
their order, which for any match is of no event. Not here: common numbers, all languages (test_laws_groups).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from hypothesis import example, given
from hypothesis import strategies as st

from broker.engine import Engine, Options

EDGE = 2**53
WHOLE = (EDGE - 1, EDGE, EDGE + 1, -EDGE - 1, 2**62, 2**62 + 1, -(2**62), 2**63 - 1, -(2**63))
FLOATS = (-0.0, 1e308, -1e308, 5e-324, 1e300, 1e-300, float(EDGE), 2.0**62)
CONSTANTS = (
    "0", "1", "2", "3", "0.5", "1.5", "2.0", "-1", "-0.5", "1e300", "0.0", "5e-324", str(EDGE), str(EDGE + 1),
    str(float(EDGE)), "4611686018427387904.0", "9.223372036854775807e18",
)  # fmt: skip
EVENTS, BATCH = 40, 5

CEL = {
    "filter": "SELECT * FROM FILTER{{{{{key}{own} AND {more}}}}}(S)",
    "next": "SELECT * FROM FILTER{{{{{more}}}}}(FILTER{{{{{key}{own}}}}}(S) NEXT{{{{$2.ty = $1.ty}}}} S)",
    "passing": (
        "SELECT * FROM FILTER{{{{TRUE}}}}(FILTER{{{{{key}{own}}}}}(S) NEXT{{{{$2.ty = $1.ty AND {between}}}}} S)"
    ),
    "three": (
        "SELECT * FROM FILTER{{{{{more}}}}}((FILTER{{{{{key}{own}}}}}(S) NEXT{{{{$2.ty = $1.ty AND {between}}}}} S)"
        " NEXT{{{{$2.ty = $1.ty}}}} S)"
    ),
    "fold": (
        "SELECT * FROM FILTER{{{{c >= 2 AND {more}}}}}((SELECT *, 1 AS c FROM FILTER{{{{{key}{own}}}}}(S))"
        " FOLD{{{{$2.ty = $.ty, {folded}, $.c + 1 AS c}}}} S)"
    ),
}
SASE = {
    "next match": "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b)",
    "partition": "PATTERN SEQ(S a, S b) WHERE partition_contiguity(a, b)",
    "any match": "PATTERN SEQ(S a, S b) WHERE skip_till_any_match(a, b)",
    "three": "PATTERN SEQ(S a, S b, S c) WHERE skip_till_next_match(a, b, c)",
    "negation": "PATTERN SEQ(S a, ~(S n), S b) WHERE skip_till_next_match(a, b)",
    "negation at the end": "PATTERN SEQ(S a, S b, ~(S n)) WHERE skip_till_next_match(a, b)",
}
ORDERLESS = "any match"


@dataclass(frozen=True)
class Script:
    """A pattern with places for constants, those of each subscription and when it comes, and events by time."""

    language: str
    form: str
    types: dict[str, str]
    pattern: str
    members: list[tuple[tuple[str, ...], int]]
    rows: Sequence[tuple[int, tuple[str, int | None, float | None]]]
    restored: bool


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    operators = st.sampled_from([">", ">=", "<", "<="])
    attributes = st.sampled_from(["k", "p"])

    def own(of: str, place: int) -> str:
        return f"{of}{draw(attributes)} {draw(operators)} {{{place}}}"

    def between(of: str, earlier: str, place: int) -> str:
        x, y, operator = f"{of}{draw(attributes)}", f"{earlier}{draw(attributes)}", draw(operators)
        forms = [
            f"{x} {operator} {{{place}}} * {y}",
            f"{x} {operator} {y} + {{{place}}}",
            f"{x} - {y} {operator} {{{place}}}",
            f"{x} * {y} {operator} {{{place}}}",
            f"{x} {operator} {y}",
            f"{x} {operator} {{{place}}}",
        ]
        return draw(st.sampled_from(forms))

    language = draw(st.sampled_from(["cayuga", "sase"]))
    form = draw(st.sampled_from(sorted(CEL if language == "cayuga" else SASE)))
    if language == "cayuga":
        parts = {"own": own("", 0), "more": own("", 2)}
        parts |= {"between": between("$2.", "$1.", 1), "folded": between("$2.", "$.", 1)}
        pattern = CEL[form].format(key=draw(st.sampled_from(["", "ty = 'A' AND "])), **parts)
    else:
        asked = ["[ty]", *draw(st.sampled_from([[], ["a.ty = 'A'"]])), own("a.", 0), between("b.", "a.", 1)]
        asked += [between("c.", draw(st.sampled_from(["a.", "b."])), 2)] if form == "three" else []
        asked += [own("n.", 2)] if "negation" in form else []
        within = draw(st.integers(3, 15))
        pattern = f"{SASE[form]} {{{{ {' AND '.join(asked)} }}}} WITHIN {within}"
    constants = st.tuples(*[st.sampled_from(CONSTANTS)] * 3)
    members = draw(st.lists(st.tuples(constants, st.sampled_from([0, 0, 0, 15])), min_size=2, max_size=5))
    nulls = draw(st.booleans())
    whole = st.one_of(st.integers(-3, 5), st.sampled_from(WHOLE), *([st.none()] if nulls else []))
    real = st.one_of(
        st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]), st.sampled_from(FLOATS), *([st.none()] if nulls else [])
    )
    event = st.tuples(st.sampled_from([0, 1, 1, 3]), st.sampled_from("AAB"), whole, real)
    drawn = draw(st.lists(event, min_size=EVENTS, max_size=EVENTS))
    times = accumulate([1, *[later for later, *_ in drawn[1:]]])
    rows = [(time, (ty, k, p)) for time, (_, ty, k, p) in zip(times, drawn)]
    types = {"ty": "string", "k": "int?" if nulls else "int", "p": "float?" if nulls else "float"}
    return Script(language, form, types, pattern, members, rows, draw(st.booleans()))


def found(script: Script, off: tuple[str, ...]) -> dict[str, list[str]]:
    """The ids of each subscription's matches."""
    engine = Engine(Options(executors_off=off))
    engine.add_stream("S", script.types, key="ty")
    ids: dict[str, list[str]] = {}
    for at in range(0, EVENTS, BATCH):
        for number, (constants, when) in enumerate(script.members):
            if when == at:
                engine.subscribe(f"s{number}", language=script.language, query=script.pattern.format(*constants))
        if script.restored and at == EVENTS // 2:
            engine = Engine.restore(engine.snapshot())
        rows = script.rows[at : at + BATCH]
        for match in engine.publish("S", [time for time, _ in rows], [row for _, row in rows]):
            ids.setdefault(match.subscription, []).append(match.id)
    return {name: sorted(own) if script.form == ORDERLESS else own for name, own in ids.items()}


RISE = [(time, ("A", price, 0.0)) for time, price in enumerate([3, 6, 5, -3, 6, 1, 4, 7, 2, 5] * 4, 1)]
INTEGERS = {"ty": "string", "k": "int", "p": "float"}
TWICE = CEL["passing"].format(key="", own="k > {0}", between="$2.k < -1 + $1.k")


@given(scripts())
@example(Script("cayuga", "passing", INTEGERS, TWICE, [(("2",), 0), (("3",), 0)], RISE, False))
def test_groups_change_nothing_where_floats_and_integers_part(script: Script) -> None:
    assert found(script, ()) == found(script, ("groups",))
