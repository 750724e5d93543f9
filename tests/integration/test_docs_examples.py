"""The documentation tells what is: every example is run as it stands there; limits, links and the picture are checked.

The examples of the language are also evaluated by its executable meaning, so that no page blesses what the engine does.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from integration.pages import ROOT, Player, blocks

from broker.algebra import normal_form
from broker.algebra.afa import semantics as semantics_afa
from broker.algebra.afa.lowering import lower as lower_afa
from broker.algebra.cayuga import expansion as algebra_expansion
from broker.algebra.cayuga.lowering import lower
from broker.algebra.cayuga.semantics import evaluate
from broker.algebra.ptopss import semantics as semantics_ptopss
from broker.algebra.ptopss.composite import Composite
from broker.algebra.ptopss.lowering import lower as lower_ptopss
from broker.algebra.sase import semantics as semantics_sase
from broker.algebra.sase.lowering import lower as lower_sase
from broker.algebra.semantics import Bag, Occurrence
from broker.algebra.window import conditions as window_conditions
from broker.algebra.window import formulas as window_formulas
from broker.algebra.window import lowering as window_lowering
from broker.algebra.window import semantics as semantics_window
from broker.algebra.window.lowering import lower as lower_window
from broker.automaton import compilation
from broker.automaton.analyses import countable, window_bounds, window_chain, window_family
from broker.automaton.constructions.composite import conditions, exploration
from broker.automaton.constructions.windows import classes, construction, determinisation, marked, regular
from broker.automaton.diagram import draw
from broker.automaton.rewriting import alternatives, comparisons, facts, implied, known, moments, placement
from broker.automaton.rewriting import table as rules
from broker.automaton.rewriting import window as rule_of_windows
from broker.command import contributing, questions, scanning, sorting
from broker.command.playground import answering as playground_answering
from broker.command.playground import application as playground_application
from broker.command.playground import journal_events as playground_journal
from broker.command.playground import trial as playground_trial
from broker.command.playground import worker as playground_worker
from broker.console import drawing as console_drawing
from broker.console import playground_pages, signing_in, typed_fields
from broker.engine import Engine, Options, shares
from broker.engine.compiler import query_compiler, templates
from broker.engine.disorder import buffer, finality
from broker.engine.executors.groups import machine_plan as group_plans
from broker.engine.executors.kleene import kleene_plan
from broker.engine.executors.speculative import arcs as register_arcs
from broker.engine.executors.speculative import machine_plan as register_plans
from broker.engine.executors.speculative import speculation
from broker.engine.executors.speculative import together as register_results
from broker.engine.executors.tuple_counts import machine_plan as counting_plans
from broker.engine.executors.tuple_counts import tables as counting
from broker.engine.matches import match_graph
from broker.engine.reasons import budget as reasons_budget
from broker.engine.reasons import steps, told
from broker.engine.subscribing import subscriber as subscribers
from broker.events import (
    Event,
    Row,
    StreamDefinition,
    lines,
    parse_line,
    regular_expressions,
    row_from_mapping,
    text_automaton,
)
from broker.forecast import (
    calibration,
    contexts,
    forecaster,
    horizon,
    joint,
    judging,
    keyed_stream,
    model_file,
    parts,
    passage,
    settings,
    states,
)
from broker.kernel import (
    Limits,
    administration,
    consulting,
    noting,
    read_requests,
    receipts,
    recent_events,
    recent_notes,
    recent_results,
    subscribing,
    watching,
)
from broker.language import afa, ptopss, sase, window
from broker.language import limits as language_limits
from broker.language.cayuga import parse
from broker.language.subscription_file import read_subscription_file
from broker.server import admission_queue as waiting_line
from broker.server import (
    configuration,
    connections,
    console_connections,
    console_names,
    console_pages,
    console_playground,
    console_program,
    console_rates,
    console_sampler,
    console_subscription,
    console_writing,
    durability_gate,
    forking,
    inside_clients,
    journal_history,
    journal_reasons,
    rehearsal,
    router,
)
from broker.server.security import rates
from broker.wire import limits as wire_limits
from client import contexts as client_contexts
from spark_bridge import execution, shuffling
from spark_bridge.history import mapping, tables

PAGES: Final = sorted(
    [
        *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "examples/README.md")),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "uses").glob("*.md"),
    ]
)
LINKED: Final = [*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))]
"""Pages whose links are followed; those that are no PAGES have no examples to play."""

ON_SPARK: Final = "spark.md"
"""Played in tests/spark, in the session of these tests."""

NOT_RUN: Final[dict[tuple[str, str], str]] = {
    ("README.md", "make demo    # starts a broker, plays two days of real flights through it, prints the matches"): (
        "takes long"
    ),
    ("docs/getting-started.md", "make demo"): "takes long",
    ("docs/cayuga.md", 'query     = selection [ "PUBLISH" name ] ;'): "the grammar, for people",
    (
        "docs/ptopss.md",
        'query      = "FROM" stream { "," stream } [ "BY" attribute { "," attribute } ] definition { definition }',
    ): "the grammar, for people",
    ("docs/sase.md", 'query      = "PATTERN" "SEQ" "(" component { "," component } ")"'): "the grammar, for people",
    ("docs/windows.md", 'query     = "FROM" stream [ "BY" attribute { "," attribute } ] "WINDOW" windows'): (
        "the grammar, for people"
    ),
    (
        "docs/afa.md",
        'query    = "FROM" stream { "," stream } [ "BY" attribute { "," attribute } ]',
    ): "the grammar, for people",
    (
        "ARCHITECTURE.md",
        "text ──parse──> syntax ──lower──> typed form ──construct──> automaton ──rewrite──> normal form"
        " ──analyse──> facts",
    ): "a figure",
    (
        "ARCHITECTURE.md",
        "command > server > console > storage > kernel > engine > forecast > automaton > algebra > language | wire > "
        "events",
    ): ("a figure"),
    ("docs/indexes.md", "flowchart TD"): "a figure",
    ("docs/indexes.md", 'space "every event"             space "by name"                groups by name'): "a figure",
}
"""Blocks that are shown only, by page and first line, each with the reason."""

LIMIT_MODULES: Final = (
    language_limits,
    regular_expressions,
    text_automaton,
    normal_form,
    algebra_expansion,
    compilation,
    comparisons,
    moments,
    rule_of_windows,
    *(rules, facts, known, alternatives, implied, placement),
    kleene_plan,
    group_plans,
    register_plans,
    conditions,
    exploration,
    countable,
    window_conditions,
    window_formulas,
    window_lowering,
    window_bounds,
    window_family,
    window_chain,
    classes,
    construction,
    determinisation,
    marked,
    regular,
    query_compiler,
    match_graph,
    counting,
    administration,
    subscribing,
    sorting,
    scanning,
    playground_answering,
    playground_application,
    playground_journal,
    playground_trial,
    playground_worker,
    questions,
    steps,
    told,
    reasons_budget,
    contributing,
    counting_plans,
    group_plans,
    recent_events,
    templates,
    register_arcs,
    register_results,
    speculation,
    subscribers,
    finality,
    buffer,
    shares,
    settings,
    connections,
    console_connections,
    console_names,
    console_pages,
    console_playground,
    console_program,
    console_rates,
    console_sampler,
    console_subscription,
    console_writing,
    typed_fields,
    playground_pages,
    rehearsal,
    inside_clients,
    consulting,
    noting,
    recent_notes,
    recent_results,
    watching,
    signing_in,
    console_drawing,
    forking,
    journal_history,
    journal_reasons,
    read_requests,
    rates,
    states,
    keyed_stream,
    parts,
    joint,
    judging,
    contexts,
    forecaster,
    passage,
    horizon,
    calibration,
    model_file,
    lines,
    wire_limits,
    router,
    configuration,
    receipts,
    durability_gate,
    waiting_line,
    client_contexts,
    mapping,
    tables,
    shuffling,
    execution,
)
LIMIT_NAME: Final = re.compile(
    r"[A-Z_]+_(MAX|TARGET)|LONGEST_LINE|HIGH_WATER_MESSAGES|BACKLOG_CONNECTIONS|PART_(EVENTS|BYTES)|MERGED_PARTS"
)
LIMIT_ROW: Final = re.compile(r"^\| `(\w+)` \| ([0-9,]+)(?: (KiB|MiB|s|min))? \|", re.MULTILINE)
UNITS: Final = {"": 1, "KiB": 2**10, "MiB": 2**20, "s": 1, "min": 60}


def parameters(pages: list[Path]) -> list[object]:
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages]


@pytest.mark.parametrize("page", parameters([page for page in PAGES if page.name != ON_SPARK]))
def test_examples_give_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    not_run = {first for name, first in NOT_RUN if name == str(page.relative_to(ROOT))}
    seen = set()
    with Player(page, tmp_path) as player:
        for block in blocks(page):
            first = block.text.partition("\n")[0]
            if first in not_run:
                seen.add(first)
            else:
                assert player.play(block), f"{page.name}, line {block.line}: a block of unknown kind {block.info!r}"
    assert seen == not_run, "every block that is named as not run is there"


def test_the_examples_of_cel_mean_what_the_page_shows() -> None:
    streams: dict[str, StreamDefinition] = {}
    bags: dict[str, Bag] = {}
    text, compared = "", 0
    for block in blocks(ROOT / "docs" / "cayuga.md"):
        match block.info:
            case "toml streams":
                streams = {s.name: s for s in read_subscription_file(block.text, "streams").streams}
            case "json events" if {json.loads(line).get("stream") for line in block.text.splitlines()} <= set(streams):
                bags = occurrences(block.text, streams)  # others are those of a file with several languages
            case "cel":
                text = block.text
            case "json results" if text:
                schemas = {name: stream.schema for name, stream in streams.items()}
                query = lower(parse(text), text, schemas.get, list)
                meant = Counter((o.start, o.end, o.lineage, o.row) for o in evaluate(query.expression, bags))
                shown = [json.loads(line) for line in block.text.splitlines()]
                assert meant == Counter(
                    (r["start"], r["end"], tuple(r["lineage"]), tuple(map(listless, r["data"].values()))) for r in shown
                ), f"line {block.line}"
                text, compared = "", compared + 1
            case _:
                text = ""
    assert compared > 20


def listless(value: object) -> object:
    """A value as the engine has it: a list is a tuple."""
    return tuple(value) if isinstance(value, list) else value


def test_the_examples_of_ptopss_mean_what_the_page_shows() -> None:
    streams: dict[str, StreamDefinition] = {}
    events: list[semantics_ptopss.Event] = []
    text, compared = "", 0
    for block in blocks(ROOT / "docs" / "ptopss.md"):
        match block.info:
            case "toml streams":
                streams = {s.name: s for s in read_subscription_file(block.text, "streams").streams}
            case "json events":
                bags = occurrences(block.text, streams).items()
                happened = sorted((o.lineage[0], stream, o.end, o.row) for stream, bag in bags for o in bag)
                events = [(stream, time, row) for _, stream, time, row in happened]
            case "ptopss" | "ptopss completions":
                text = block.text
            case "json results" if text:
                schemas = {name: stream.schema for name, stream in streams.items()}
                composite = lower_ptopss(ptopss.parse(text), text, schemas.get, list)
                meant = semantics_ptopss.tuples(composite, events)
                counts = Counter(completed(tuple_, composite, events) for tuple_ in meant)
                told: Counter[object] = Counter()
                seen: set[semantics_ptopss.Assignment] = set()
                for result in map(json.loads, block.text.splitlines()):
                    ids = [result["bindings"].get(name, [0])[0] for name in composite.names]
                    tuple_ = tuple(number - 1 if number else None for number in ids)
                    assert tuple_ in meant - seen, f"line {block.line}"
                    seen.add(tuple_)
                    assert result["lineage"] == [number for number in ids if number]
                    told[completed(tuple_, composite, events)] += result.get("tuples", 1)
                assert told == counts, f"line {block.line}"
                text, compared = "", compared + 1
            case _:
                text = ""
    assert compared > 12


def test_the_examples_of_windows_mean_what_the_page_shows() -> None:
    streams: dict[str, StreamDefinition] = {}
    events: list[semantics_window.TimedEvent] = []
    text, compared = "", 0
    for block in blocks(ROOT / "docs" / "windows.md"):
        match block.info:
            case "toml streams":
                streams = {s.name: s for s in read_subscription_file(block.text, "streams").streams}
            case "json events" if not events:  # the first ones; others are in disorder
                (bag,) = occurrences(block.text, streams).values()
                events = [semantics_window.TimedEvent(o.lineage[0], o.end, o.row) for o in bag]
            case "window":
                text = block.text
            case "json results" if text:
                schemas = {name: stream.schema for name, stream in streams.items()}
                expression = lower_window(window.parse(text), text, schemas.get, list)
                found = semantics_window.results(expression, events)
                meant = Counter((one.start, one.end, one.lineage, one.values) for one in found)
                shown = [json.loads(line) for line in block.text.splitlines()]
                assert meant == Counter(
                    (r["start"], r["end"], tuple(r["lineage"]), tuple(r["data"].values())) for r in shown
                ), f"line {block.line}"
                text, compared = "", compared + 1
            case _:
                text = ""
    assert compared > 12


def test_the_examples_of_afa_mean_what_the_page_shows() -> None:
    streams: dict[str, StreamDefinition] = {}
    events: list[semantics_afa.LivingEvent] = []
    text, compared = "", 0
    for block in blocks(ROOT / "docs" / "afa.md"):
        match block.info:
            case "toml streams":
                streams = {s.name: s for s in read_subscription_file(block.text, "streams").streams}
            case "json events" if not events:
                (bag,) = occurrences(block.text, streams).values()
                events = [semantics_afa.LivingEvent(o.lineage[0], o.end, 0, o.row) for o in bag]
            case "afa":
                text = block.text
            case "json results" if text:
                schemas = {name: stream.schema for name, stream in streams.items()}
                automaton = lower_afa(afa.parse(text), text, schemas.get, list)
                found = semantics_afa.results(automaton, events)
                within = automaton.within
                meant = Counter((r.begin, None if within is None else r.end, r.lineage, r.registers) for r in found)
                shown = [json.loads(line) for line in block.text.splitlines()]
                assert meant == Counter(
                    (*r["lifetime"], tuple(r["lineage"]), tuple(r["data"].values())) for r in shown
                ), f"line {block.line}"
                text, compared = "", compared + 1
            case _:
                text = ""
    assert compared == 6


def test_the_examples_of_sase_mean_what_the_page_shows() -> None:
    written, log, compared = "", "", 0
    for block in blocks(ROOT / "docs" / "sase.md"):
        match block.info:
            case "toml subscriptions":
                written = block.text
            case "json events":
                log = block.text
            case "json results":
                file = read_subscription_file(written, "subscriptions")
                schemas = {stream.name: stream.schema for stream in file.streams}
                bags = occurrences(log, {stream.name: stream for stream in file.streams})
                several = [(o.lineage, (stream, o.end, o.row)) for stream, bag in bags.items() for o in bag]
                events = [event for _, event in sorted(several)]
                shown = [json.loads(line) for line in block.text.splitlines()]
                for definition in file.subscriptions:
                    query = sase.parse(definition.query)
                    if not schemas.keys() >= {component.stream for component in query.components}:
                        continue  # it reads what another one publishes
                    variants = lower_sase(query, definition.query, schemas.get, list)
                    meant = Counter(
                        (
                            events[assignment[0][0]][1],
                            events[assignment[-1][-1]][1],
                            tuple(index + 1 for indices in assignment for index in indices),
                            semantics_sase.returned(pattern, events, assignment),
                        )
                        for pattern, assignment in semantics_sase.matches_of_variants(variants, events)
                    )
                    own = [r for r in shown if r.get("subscription", definition.name) == definition.name]
                    assert meant == Counter(
                        (r["start"], r["end"], tuple(r["lineage"]), tuple(r["data"].values())) for r in own
                    ), f"line {block.line}: {definition.name}"
                    compared += 1
    assert compared > 15


def completed(
    tuple_: semantics_ptopss.Assignment, composite: Composite, events: list[semantics_ptopss.Event]
) -> tuple[int, Row]:
    """The completing event and the values of the variables."""
    last = max(index for index in tuple_ if index is not None)
    return last, semantics_ptopss.binding(composite, tuple_, events)


def occurrences(text: str, streams: dict[str, StreamDefinition]) -> dict[str, Bag]:
    bags: dict[str, Bag] = {}
    for number, line in enumerate(text.splitlines(), 1):
        event = parse_line(line, number)
        assert isinstance(event, Event)
        assert isinstance(event.data, dict)
        row = row_from_mapping(streams[event.stream], event.data)
        bags.setdefault(event.stream, []).append(Occurrence(row, event.start, event.time, (number,)))
    return bags


@pytest.mark.parametrize("page", parameters(LINKED))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        there = page.parent / file if file else page
        assert there.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}, target


def test_the_page_of_limits_has_every_limit_with_its_value() -> None:
    expected: dict[str, int] = {}
    for module in LIMIT_MODULES:
        for name, value in vars(module).items():
            if type(value) is int and not name.startswith("_") and LIMIT_NAME.fullmatch(name):
                expected.setdefault(name, value)
    admission = [name for name in Options.__dataclass_fields__ if name.endswith(("_max", "_earned"))]
    expected |= {name: getattr(Options(), name) for name in admission}
    expected |= {name: getattr(Limits(), name) for name in Limits.__dataclass_fields__}
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    written = [(name, int(value.replace(",", "")) * UNITS[unit]) for name, value, unit in LIMIT_ROW.findall(text)]

    assert set(expected) - {name for name, _ in written} == set(), "limits that the page does not name"
    for name, value in written:
        known = {getattr(module, name) for module in LIMIT_MODULES if hasattr(module, name)}
        known |= {expected[name]} if name in expected else set()
        assert value in known or value * 1_000 in known, f"{name}: the page says {value}, the code {known}"


def test_every_file_that_the_architecture_names_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for row in re.findall(r"^\| [^|]+ \| (.*) \|$", text.partition("## Where do I find")[2], re.MULTILINE):
        folder = ROOT
        for name in re.findall(r"`([\w./-]+)`", row):
            path = ROOT / name if "/" in name else folder / name
            assert path.exists(), name
            folder = path.parent


@pytest.mark.parametrize("name", ["desk", "machines", "query-3", "stocks"])
def test_the_pictures_are_what_the_project_draws_today(name: str) -> None:
    pictures = ROOT / "docs" / "pictures"
    drawn = draw(Engine.load(pictures / f"{name}.toml").diagram(), "svg")
    assert (pictures / f"{name}.svg").read_text(encoding="utf-8") == drawn, (
        f"draw it again: foretell explain docs/pictures/{name}.toml --format svg > docs/pictures/{name}.svg"
    )


@pytest.mark.parametrize(("page", "name"), [("indexes", "desk"), ("ptopss", "machines"), ("sase", "query-3")])
def test_the_page_shows_the_file_of_its_picture(page: str, name: str) -> None:
    shown = next(b.text for b in blocks(ROOT / "docs" / f"{page}.md") if b.info == f"toml file={name}.toml")
    assert (ROOT / "docs" / "pictures" / f"{name}.toml").read_text(encoding="utf-8") == shown
