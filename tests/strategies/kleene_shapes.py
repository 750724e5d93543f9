"""Random SASE+ queries of the shapes that packed representations of runs can do, as texts: for the laws of these.

Here: strategies; streams and the reading of texts are those of `sase`. Not here: what must hold.
"""

from __future__ import annotations

from hypothesis import strategies as st

BEGINNING = ("", "a[1].p > 0.5", "a[1].ty = 'A'", "a[1].k <= 1", "a[1].ty != 'C'")
TAKING = (
    *("a[i].p > avg(a[..i-1].p)", "a[i].p >= avg(a[..i-1].p)", "a[i].p < avg(a[..i-1].p)", "a[i].w > avg(a[..i-1].w)"),
    *("a[i].k >= avg(a[..i-1].k)", "a[i].p <= 120% * avg(a[..i-1].p)", "a[i].p > a[i-1].p", "a[i].p <= a[i-1].p"),
    *("a[i].p > max(a[..i-1].p)", "a[i].p >= max(a[..i-1].p)", "a[i].p < min(a[..i-1].p)", "a[i].w > max(a[..i-1].w)"),
    *("a[i].p > a[1].p", "a[i].p * 2 > a[1].p + 1", "sum(a[..i-1].p) < 3", "sum(a[..i-1].k) < 2", "a[i].p > 0.5"),
    *("a[i].p >= 80% * a[i-1].p", "count(a[..i-1].p) < 3", "a[i].k > 2 * sum(a[..i-1].k)", "", "a[i].ty != 'C'"),
    *("a[i].w < a[i-1].w", "a[i].k > a[i-1].k", "a[i].k <= min(a[..i-1].k)", "a[i].w < 2 * min(a[..i-1].w)"),
)
ENDING = (
    "",
    "",
    "",
    "a.LEN >= 2",
    "a.LEN < 3",
    "avg(a[].p) >= 1",
    "a[a.LEN].p > 0.5",
    "max(a[].p) > 1",
    "a[a.LEN].k < 2",
    *("a.LEN <= 2", "max(a[].p) < 2", "min(a[].p) >= 0.5", "max(a[].w) <= 1", "count(a[].p) < 4", "0.5 >= min(a[].p)"),
)
LEAVING = (
    *("", "b.p < a[a.LEN].p", "b.p < 80% * a[a.LEN].p", "b.w > a[1].w", "b.p >= avg(a[].p)", "b.p > max(a[].p)"),
    *("b.k < a.LEN", "b.ty = 'B'", "b.p * 2 <= sum(a[].p)", "b.w < a[a.LEN].w", "b.p < 80% * max(a[].p)"),
)
KEYS = ("", "[k]", "[k]", "[ty]", "b.k = a[1].k AND a[i].k = a[1].k", "b.k = a[a.LEN].k AND a[i].k = a[i-1].k")


@st.composite
def columnar(draw: st.DrawFn, strategy: str = "skip_till_next_match") -> str:
    """A leading Kleene component, alone or with one more behind it."""
    alone = draw(st.integers(0, 3)) == 0
    parts = [draw(st.sampled_from(KEYS[:4] if alone else KEYS)), draw(st.sampled_from(BEGINNING))]
    parts += draw(st.lists(st.sampled_from(TAKING), min_size=1, max_size=2))
    parts += draw(st.lists(st.sampled_from(ENDING), min_size=1, max_size=2))
    if not alone:
        parts += draw(st.lists(st.sampled_from(LEAVING), min_size=1, max_size=2))
    return query(draw, parts, alone, strategy)


@st.composite
def monotone(draw: st.DrawFn, strategy: str = "skip_till_next_match") -> str:
    """The same where runs that take one event are equal from then on."""
    alone = draw(st.integers(0, 3)) == 0
    taking = ("a[i].p > max(a[..i-1].p)", "a[i].p >= max(a[..i-1].p)", "a[i].p > a[i-1].p", "a[i].p >= a[i-1].p")
    falling = ("a[i].p < min(a[..i-1].p)", "a[i].p <= a[i-1].p", "a[i].k < a[i-1].k", "a[i].w > max(a[..i-1].w)")
    parts = [draw(st.sampled_from(KEYS[:4] if alone else KEYS)), draw(st.sampled_from(BEGINNING))]
    parts.append(draw(st.sampled_from(taking + falling)))
    ending = ("", "", "a[a.LEN].p > 0.5", "a[a.LEN].k < 2", "max(a[].p) < 2", "min(a[].p) > 0.5", "max(a[].w) <= 1")
    parts.append(draw(st.sampled_from(ending)))
    if not alone:
        parts.append(draw(st.sampled_from(["", "b.p < a[a.LEN].p", "b.p < 80% * a[a.LEN].p", "b.w > a[a.LEN].w"])))
        parts.append(draw(st.sampled_from(["", "b.ty = 'B'", "b.ty != 'C'"])))
    return query(draw, parts, alone, strategy)


def query(draw: st.DrawFn, parts: list[str], alone: bool, strategy: str) -> str:
    other = draw(st.sampled_from(["S", "S", "T"]))
    pattern, names = ("S+ a[]", "a[]") if alone else (f"S+ a[], {other} b", "a[], b")
    block = " AND ".join(part for part in parts if part)
    window = draw(st.sampled_from([0, 1, 2, 3, 5, 8, 20]))
    items = draw(st.sampled_from(["", "", " RETURN a.LEN AS n", " RETURN avg(a[].w) AS w, a[1].k AS k"]))
    output = draw(st.sampled_from(["", "", "", " OUTPUT nonoverlap", " OUTPUT compressed"]))
    where = f" WHERE {strategy}({names}) {{ {block} }}" if block else f" WHERE {strategy}({names})"
    return f"PATTERN SEQ({pattern}){where} WITHIN {window}{items}{output}"


SHARED_TAKING = (
    *("{v}[i].p > {v}[i-1].p", "{v}[i].w != {v}[i-1].w", "{v}[i].k = {v}[1].k", "{v}[i].p > max({v}[..i-1].p)"),
    *("{v}[i].p >= {v}[1].p", "{v}[i].ty != 'C'", "count({v}[..i-1].w) < 2", "{v}[i].p <= min({v}[..i-1].p)", "", ""),
)
SHARED_ENDING = ("{v}.LEN >= 2", "{v}.LEN < 3", "{v}[{v}.LEN].p > {v}[1].p", "max({v}[].w) > min({v}[].w)", "", "", "")
SHARED_BOUNDS = (
    *("{v}.LEN = 2", "{v}.LEN <= 1", "max({v}[].p) < 2", "min({v}[].w) > 0.5", "count({v}[].w) < 2", "", "", ""),
)


@st.composite
def sharing(draw: st.DrawFn) -> str:
    """Patterns that may skip relevant events: at most two Kleene components, negations in the middle."""
    number = draw(st.integers(1, 3))
    names = ["a", "b", "c"][:number]
    kleene = {name for name in names if draw(st.booleans())} - ({"c"} if number == 3 else set())
    parts = [draw(st.sampled_from(["", "[k]", "[k]", "[ty]"]))]
    written: list[str] = []
    for at, name in enumerate(names):
        if at and draw(st.integers(0, 2)) == 0:
            negated = f"n{at}"
            written.append(f"~(S {negated})")
            parts.append(draw(st.sampled_from(["{n}.ty = 'A'", "{n}.ty = 'C'", "{n}.p > 1"])).format(n=negated))
        written.append(f"S+ {name}[]" if name in kleene else f"{draw(st.sampled_from('SST'))} {name}")
        event = f"{name}[1]" if name in kleene else name
        parts.append(draw(st.sampled_from(["", "{e}.ty = 'A'", "{e}.ty != 'C'", "{e}.p > 0.5"])).format(e=event))
        if at:
            other = f"{names[at - 1]}[{names[at - 1]}.LEN]" if names[at - 1] in kleene else names[at - 1]
            joins = ("", "", "{e}.p < {o}.p", "{e}.k = {o}.k", "{e}.w >= {o}.w")
            parts.append(draw(st.sampled_from(joins)).format(e=event, o=other))
        if name in kleene:
            parts.append(draw(st.sampled_from(SHARED_TAKING)).format(v=name))
            parts.append(draw(st.sampled_from(SHARED_ENDING)).format(v=name))
            parts.append(draw(st.sampled_from(SHARED_BOUNDS)).format(v=name))
    block = " AND ".join(part for part in parts if part)
    listed = ", ".join(f"{name}[]" if name in kleene else name for name in names)
    items = "".join(f", {n}.LEN AS {n}_n" if n in kleene else f", {n}.p AS {n}_p" for n in names)[2:]
    returned = draw(st.sampled_from(["", f" RETURN {items}"]))
    where = f" WHERE skip_till_any_match({listed}){f' {{ {block} }}' if block else ''}"
    output = draw(st.sampled_from(["", " OUTPUT compressed"]))
    window = draw(st.sampled_from([0, 1, 2, 3, 5, 8, 20]))
    return f"PATTERN SEQ({', '.join(written)}){where} WITHIN {window}{returned}{output}"
