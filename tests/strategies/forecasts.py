"""Random predictive subscriptions of all languages with streams for them: the input of the laws of forecasts.

Here: strategies, and how a case becomes an engine. CEL queries join by the key that streams declare about as often as
they do anything else; hours and generations of counts change within a stream. Not here: what must hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from hypothesis import strategies as st
from strategies import composite_subscriptions as ptopss
from strategies import typed_queries as cayuga
from strategies import windows
from strategies.typed_queries import Happening, Side

from broker.engine import Engine, Match
from broker.events.errors import DefinitionError, LimitExceeded, QueryError
from broker.language import syntax as sy
from broker.language.cayuga import syntax as cel
from broker.language.cayuga.printer import print_query
from broker.language.window import print_query as print_window_query

HOUR: Final = 3_600_000_000
KEYS: Final = {"S": "k", "T": "k"}


@dataclass(frozen=True)
class Case:
    """A subscription; `streams` by name, with the key of each where `keyed`."""

    language: str
    query: str
    report: str | None
    forecast: dict[str, Any]
    keyed: bool = False

    @property
    def streams(self) -> dict[str, dict[str, str]]:
        if self.language == "window":
            return {"S": windows.SCHEMA.declared()}
        return cayuga.STREAMS if self.language == "cayuga" else ptopss.STREAMS


def engine_for(*cases: Case) -> Engine:
    """An engine with the streams of cases, which agree on them."""
    engine = Engine()
    for name, attributes in cases[0].streams.items():
        own = "ty" if cases[0].language == "window" else KEYS[name]
        engine.add_stream(name, attributes, key=own if cases[0].keyed else None)
    return engine


def subscribe(engine: Engine, name: str, case: Case, forecast: bool = True) -> bool:
    """Put a case in force; False where no such subscription can be, as where its conditions contradict each other."""
    told = case.forecast if forecast else None
    try:
        engine.subscribe(name, case.language, case.query, True, case.report, told)
    except (DefinitionError, LimitExceeded, QueryError):
        return False
    return True


def feed(engine: Engine, history: list[Happening]) -> list[Match]:
    """Publish in batches of one stream each, as long as they can be."""
    found: list[Match] = []
    at = 0
    while at < len(history):
        upto = at
        while upto < len(history) and history[upto].stream == history[at].stream:
            upto += 1
        part = history[at:upto]
        columns = [h.time for h in part], [h.row for h in part], [h.id for h in part], [h.start for h in part]
        found += engine.publish(part[0].stream, *columns)
        at = upto
    return found


@st.composite
def keyed_operands(draw: st.DrawFn, steps: int) -> cel.StreamExpression:
    """A chain of NEXT and FOLD whose joins all ask for the key, and often for more; windows inside and outside."""
    schemas = cayuga.SCHEMAS
    node: cel.StreamExpression = cel.StreamReference(draw(st.sampled_from("SST")))
    if draw(st.booleans()):
        node = cel.Filter(draw(cayuga.conditions([Side(None, cayuga.schema_of(node, schemas))], 1)), node)
    for _ in range(steps):
        right: cel.StreamExpression = cel.StreamReference(draw(st.sampled_from("SST")))
        left_schema, right_schema = cayuga.schema_of(node, schemas), cayuga.schema_of(right, schemas)
        join: sy.Expression = sy.ComparisonExpression("=", sy.Name("2", "k"), sy.Name("1", "k"))
        if draw(st.integers(0, 2)) == 0:
            sides = [Side("1", left_schema), Side("2", right_schema)]
            window = sy.ComparisonExpression(
                draw(st.sampled_from(["<", "<=", "="])), sy.DurationExpression(), sy.Number(draw(spans))
            )
            join = sy.And((join, draw(st.one_of(st.just(window), cayuga.comparisons(sides)))))
        if draw(st.integers(0, 3)) == 0 and right == cel.StreamReference("S"):
            node = draw(folds(node, right))
        else:
            node = cel.Next(join, node, right)
        if draw(st.integers(0, 3)) == 0:
            window = sy.ComparisonExpression(
                draw(st.sampled_from(["<", "<="])), sy.DurationExpression(), sy.Number(draw(spans))
            )
            more = cayuga.conditions([Side(None, cayuga.schema_of(node, schemas))], 1)
            node = cel.Filter(draw(st.one_of(st.just(window), more)), node)
    return node


spans = st.integers(1, 7)


@st.composite
def folds(draw: st.DrawFn, left: cel.StreamExpression, right: cel.StreamExpression) -> cel.StreamExpression:
    """A FOLD of events of one key; the left operand as it is where it does not have what a FOLD needs."""
    schemas = cayuga.SCHEMAS
    counted = cel.Select((cel.Star(), cel.SelectItem(sy.Number(1), "n")), left)
    try:
        here, there = cayuga.schema_of(counted, schemas), cayuga.schema_of(right, schemas)
        join = sy.ComparisonExpression("=", sy.Name("2", "k"), sy.Name(draw(st.sampled_from(["", "1"])), "k"))
        rebind = draw(st.one_of(st.none(), cayuga.conditions([Side("1", here), Side("", here), Side("2", there)], 1)))
        item = cel.SelectItem(sy.ArithmeticExpression("+", sy.Name("", "n"), sy.Number(1)), "n")
        node = cel.FoldExpression(join, rebind, (item,), counted, right)
        cayuga.schema_of(node, schemas)
    except (DefinitionError, QueryError):
        return left
    return node


@st.composite
def cayuga_texts(draw: st.DrawFn) -> str:
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return print_query(draw(cayuga.queries()))
    source = draw(keyed_operands(draw(st.sampled_from([0, 1, 1, 2, 2, 3]))))
    if kind == 1:
        schema = cayuga.schema_of(source, cayuga.SCHEMAS)
        scope = [Side(None, schema)]
        one, other = (cel.Filter(draw(cayuga.conditions(scope, 1)), source) for _ in range(2))
        source = cel.UnionExpression(one, other)
    return print_query(cel.CelQuery(source, None))


@st.composite
def contexts(draw: st.DrawFn, language: str, keyed: bool) -> list[str]:
    """Parts of a context; whether they can be asked of the subscription is not known."""
    if language == "cayuga":
        own = ["a", "b"]
    elif language == "window":
        own = ["ty", "v"]
    else:
        own = ["ty", "k"]
    parts = ["hour", *own]
    kind = draw(st.integers(0, 7))
    if kind >= 6:  # several, beside each other
        return [*(["key"] if keyed and kind == 6 else []), *(part for part in parts if draw(st.booleans()))]
    if kind <= 1:
        return []
    if kind == 2 and keyed:
        return ["key"]
    if kind == 3 and keyed:
        return ["key", draw(st.sampled_from(parts))]
    return [draw(st.sampled_from(parts))]


@st.composite
def settings_of(draw: st.DrawFn, language: str, keyed: bool, timed: bool = True) -> dict[str, Any]:
    """The table `forecast`."""
    steps = st.sampled_from([1, 2, 3, 5])
    durations = st.sampled_from(["1us", "2us", "5us", "9us"])
    found: dict[str, Any] = {"within": draw(st.one_of(steps, durations) if timed else steps), "effective": 0}
    found["threshold"] = draw(st.sampled_from([0, 0.2, 0.3, 0.5, 0.8]))
    found["context"] = draw(contexts(language, keyed))
    if draw(st.integers(0, 4)) == 0:
        found["states"] = "set"
    if draw(st.integers(0, 4)) == 0 and "key" not in found["context"]:
        found["per"] = "stream"
    if draw(st.integers(0, 3)) == 0:
        found["half_life"] = draw(st.sampled_from(["4us", "8us", "1 hour"]))
    for name in ("cautious", "recalibrate"):
        if draw(st.integers(0, 5)) == 0:
            found[name] = True
    if draw(st.integers(0, 5)) == 0:
        found["effective"] = draw(st.sampled_from([1, 3.5, 20]))
    return found


@st.composite
def cases(draw: st.DrawFn, languages: str = "ccpw", timed: bool = True) -> Case:
    """A predictive subscription; it may still be one that is refused."""
    language = draw(st.sampled_from(languages))
    if language == "w":
        return draw(window_cases(timed))
    if language == "c":
        keyed = draw(st.integers(0, 3)) > 0
        told = draw(settings_of("cayuga", keyed, timed))
        return Case("cayuga", draw(cayuga_texts()), None, told, keyed)
    text = draw(ptopss.subscriptions(most=4))
    report = draw(st.sampled_from(["all", "completions"]))
    keyed = " BY " in text or "= $" in text or "$y =" in text
    return Case("ptopss", text, report, draw(settings_of("ptopss", keyed, timed)))


@st.composite
def window_cases(draw: st.DrawFn, timed: bool = True) -> Case:
    """Windows that an event ends, most of them; some ask how large an aggregate becomes."""
    chosen: st.SearchStrategy[Any] = st.one_of(windows.pairs(), windows.by_events())
    query = draw(windows.queries(chosen))
    told = draw(settings_of("window", bool(query.partition), timed))
    numbers = [one.name for one in query.aggregates if one.name not in ("ht", "z", "t")]
    if draw(st.booleans()) and numbers:
        told["exceeds"] = {draw(st.sampled_from(numbers)): draw(st.sampled_from([-1, 0.25, 2, 3, 5]))}
    return Case("window", print_window_query(query), None, told, bool(query.partition))


@st.composite
def histories(draw: st.DrawFn, case: Case, most: int = 24) -> list[Happening]:
    """Events for a case, in order of their end; hours and generations change in some."""
    found: list[Happening] = []
    if case.language == "cayuga":
        found = draw(cayuga.histories(most=most))
    elif case.language == "window":
        events = draw(windows.streams(most))
        found = [Happening("S", time, time, at, row) for at, (time, row) in enumerate(events, 1)]
    else:
        rows = draw(ptopss.histories(most=most))
        found = [Happening(stream, time, time, at, row) for at, (stream, time, row) in enumerate(rows, 1)]
    offset = draw(st.sampled_from([0, 0, HOUR - 6, HOUR - 12]))
    leap = draw(st.sampled_from([0, 0, 0, 300]))  # beyond what a short half-life keeps
    middle = len(found) // 2
    return [
        replace(h, time=h.time + offset + leap * (at >= middle), start=h.start + offset + leap * (at >= middle))
        for at, h in enumerate(found)
    ]


@st.composite
def played(
    draw: st.DrawFn, languages: str = "ccpw", timed: bool = True, most: int = 24
) -> tuple[Case, list[Happening]]:
    """A case and events for it."""
    case = draw(cases(languages, timed))
    return case, draw(histories(case, most))
