"""Detection rules as subscriptions: `python -m benchmarks.detection.trial --data FOLDER [--verify] [--rules N]`

    pip install pyyaml
    python -m benchmarks.detection.trial --data FOLDER --events 2000 --verify

FOLDER has rules.jsonl, other.jsonl and events.jsonl. The rules of started processes on Windows are translated to CEL
and subscribed one after the other; then events are published in batches. The lines say how many rules are translated
and why the others are not, what loading takes, how many events a second of this process's processor time go through,
and how many matches there are. The test events must be found by their rules. With `--verify` a plain loop over all
rules and events must find the same matches. `PYTHONPATH` says which build is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from broker.collector import collect_rarely
from broker.engine import Engine
from broker.events import ForetellError

from .events import FIELDS, made_events, regression_events
from .naive import Event, matches
from .rules import Rule, Untranslated, attribute_of, fields_of, query_of, read_rule

STREAM: Final = "Process"
BATCH: Final = 1_000


def documents(path: Path) -> Iterator[dict[str, Any]]:
    """The first YAML document of each of a file's JSON lines; further ones are correlations."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for line in path.read_text("utf-8").splitlines():
        yield next(iter(yaml.load_all(json.loads(line)["yaml"], Loader=loader)))


def translated(path: Path) -> tuple[list[Rule], Counter[str]]:
    """The rules that can be translated, and how many others there are by what they need."""
    rules: list[Rule] = []
    refused: Counter[str] = Counter()
    for document in documents(path):
        try:
            rules.append(read_rule(document))
        except Untranslated as error:
            refused[str(error)] += 1
    return rules, refused


def schema(rules: list[Rule]) -> dict[str, str]:
    """The attributes of the stream: the fields of events, and those that rules read."""
    fields = [*FIELDS, *(field for rule in rules for field in fields_of(rule.condition))]
    return dict.fromkeys(map(attribute_of, fields), "string?")


def load(engine: Engine, rules: list[Rule]) -> tuple[list[Rule], Counter[str]]:
    """Subscribe the rules; those that the engine accepts, and why it refuses others."""
    accepted: list[Rule] = []
    refused: Counter[str] = Counter()
    for rule in rules:
        try:
            engine.subscribe(rule.id, "cayuga", query_of(rule, STREAM))
            accepted.append(rule)
        except ForetellError as error:
            refused[str(error).partition("column ")[2].partition(": ")[2][:90] or str(error)[:90]] += 1
    return accepted, refused


def rows_of(events: list[Event], names: list[str]) -> list[tuple[str | None, ...]]:
    kept = [{attribute_of(field): value for field, value in event.items()} for event in events]
    return [tuple([event.get(name) for name in names]) for event in kept]


def publish(engine: Engine, rows: list[tuple[str | None, ...]], first: int) -> list[tuple[str, int]]:
    """The matches of the rows, whose times begin with `first`: (rule, number of the event from 1), ordered."""
    found: list[tuple[str, int]] = []
    for at in range(0, len(rows), BATCH):
        batch = rows[at : at + BATCH]
        times = list(range(first + at, first + at + len(batch)))
        found += [(match.subscription, match.end - first + 1) for match in engine.publish(STREAM, times, batch)]
    return sorted(found)


def say(what: str, counted: Counter[str]) -> None:
    for reason, number in counted.most_common(8):
        print(f"  {what} {number:5,}  {reason}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with rules.jsonl and events.jsonl")
    parser.add_argument("--events", type=int, default=20_000, help="how many made events")
    parser.add_argument("--rules", type=int, default=None, help="so many rules, the first ones")
    parser.add_argument("--verify", action="store_true", help="compare the matches with those of a plain loop")
    options = parser.parse_args()
    collect_rarely()  # as a broker does

    for name in ("rules.jsonl", "other.jsonl"):
        rules, reasons = translated(options.data / name)
        print(f"{name}: {len(rules):,} of {len(rules) + reasons.total():,} rules translated")
        say("not", reasons)
        if name == "rules.jsonl":
            chosen = [rule for rule in rules if (rule.product, rule.category) == ("windows", "process_creation")]
    chosen = chosen[: options.rules]
    engine = Engine()
    attributes = schema(chosen)
    engine.add_stream(STREAM, attributes)
    before = time.process_time()
    accepted, reasons = load(engine, chosen)
    seconds = time.process_time() - before
    print(f"{len(accepted):,} of {len(chosen):,} rules of started processes loaded in {seconds:.2f} s")
    say("refused", reasons)

    tests = regression_events(options.data / "events.jsonl")
    attacks = [event for _, event in tests]
    names = list(attributes)
    known = {rule.id for rule in accepted}
    found = publish(engine, rows_of(attacks, names), 1)
    hits = {id for number, (id, _) in enumerate(tests, 1) if (id, number) in set(found)}
    tested = {id for id, _ in tests} & known
    print(f"{len(attacks)} test events: {len(found):,} matches; {len(hits)} of {len(tested)} rules find their own")

    events = made_events(options.events, attacks)
    rows = rows_of(events, names)
    before = time.process_time()
    made = publish(engine, rows, len(attacks) + 1)
    seconds = time.process_time() - before
    print(f"{len(events):,} events: {len(events) / seconds:,.0f} events/s, {len(made):,} matches")
    if options.verify:
        before = time.process_time()
        expected = matches(accepted, attacks), matches(accepted, events)
        seconds = time.process_time() - before
        same = expected == (found, made)
        rate = (len(attacks) + len(events)) / seconds
        print(f"plain loop: {rate:,.0f} events/s, {'the same' if same else 'OTHER'} matches")
        return 0 if same else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
