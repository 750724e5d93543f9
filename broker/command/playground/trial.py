"""Runs a subscription file on some events for somebody who looks at the results: mistakes, matches, and the events.

Here: one run and the questions to it, in this process. Not here: who asks, and for how long (worker).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from ...engine.reasons.named_events import event_line
from ...events import Event, ForetellError, Row
from ...events.file_form import FileForm
from ..batch import EventBatch, answers
from ..complaint import one_line
from ..editing import looked_at
from ..questions import inputs_of
from ..reading import Reading
from ..results import Printable
from ..run import apply_control

if TYPE_CHECKING:
    from ...engine import Engine
    from ...engine.reasons import AskedInput
    from ..batch import Item
    from ..reading import EventReader

EVENTS_MAX: Final = 20_000
"""So many events of a file are read."""
RESULTS_MAX: Final = 2_000
"""So many results are listed; the others are counted."""
RUN_SECONDS_MAX: Final = 4.0
"""A run that takes longer ends there, and says so."""
ROWS_MAX: Final = 24
"""Rows of the timeline: the keys with the most events; the others share the last one."""
OTHERS: Final = "others"
_STEP: Final = 100
"""So many events are published at a time."""


@final
@dataclass(frozen=True, slots=True)
class Chosen:
    """What somebody wants to try: the text of a subscription file and a file of events, as `run` reads it.

    `called`: how messages call the file of events; `form`: the fields of a FileForm, in which it is written.
    """

    text: str
    events: str | None = None
    stream: str | None = None
    time: str | None = None
    called: str | None = None
    form: Mapping[str, Any] | None = None


@final
@dataclass(slots=True)
class PlaygroundRun:
    """What came of a run. `events` have the ids that the results name, `inputs` are these and all else; `trouble`:
    why it ended early; `options`: those of each subscription, as the file says them."""

    chosen: Chosen
    engine: Engine | None
    findings: list[dict[str, Any]]
    hidden: frozenset[str] = frozenset()
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    inputs: list[AskedInput] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    trouble: str | None = None
    cut: bool = False
    seconds: float = 0.0

    def add(self, inputs: Iterable[AskedInput]) -> None:
        """Note what the engine has been given."""
        for each in inputs:
            self.inputs.append(each)
            if isinstance(each, Event):
                self.events.append(each)

    def shown(self, event: Event) -> dict[str, Any]:
        """An event as an object."""
        assert self.engine is not None
        return event_line(self.engine.streams, event)


def tried(chosen: Chosen, clock: Callable[[], float] = time.process_time) -> PlaygroundRun:
    """Run subscriptions on events: as many as EVENTS_MAX, for at most RUN_SECONDS_MAX of a processor, for which it may
    have to wait, since it gives way to others. Mistakes are in the result. `clock`: that of the limit."""
    begun = time.monotonic()
    findings, checked, file = looked_at(chosen.text)
    lines = [{"line": f.place[0], "column": f.place[1], **_finding(f)} for f in findings]
    trial = PlaygroundRun(chosen, None if checked is None else _with_lineage(checked), lines)
    trial.hidden = frozenset() if file is None else frozenset(file.hidden)
    for each in () if file is None else file.subscriptions:
        said = {name: getattr(each, name) for name in ("lineage", "report", "forecast", "results")}
        trial.options[each.name] = {name: value for name, value in said.items() if value is not None}
    if trial.engine is not None and chosen.events is not None:
        try:
            until = clock() + RUN_SECONDS_MAX  # without what loading the languages takes, once
            _run(trial, trial.engine, lambda: clock() > until)
        except ForetellError as error:
            trial.trouble = called(trial.chosen, error)
    trial.seconds = time.monotonic() - begun
    return trial


def called(chosen: Chosen, error: Exception) -> str:
    """A message that calls the file of events as its user does."""
    message = one_line(str(error))
    if chosen.events is not None and chosen.called is not None:
        message = message.replace(chosen.events, chosen.called)
    return message


def _finding(found: Any) -> dict[str, Any]:
    line = asdict(found)
    del line["place"]
    return line


def _with_lineage(checked: Engine) -> Engine:
    """The same subscriptions, with results that name their events."""
    from ...engine import Engine, Options
    from ...engine.subscribing.loading import install_all

    engine = Engine(Options(cancelling=False))
    for stream in checked.streams.values():
        engine.declare(stream)
    install_all(engine, [replace(each, lineage=True) for each in checked.subscriptions.values()])
    return engine


def _run(trial: PlaygroundRun, engine: Engine, late: Callable[[], bool]) -> None:
    assert trial.chosen.events is not None
    form = FileForm(**(trial.chosen.form or {}))
    reading = Reading(engine.streams, None, trial.chosen.stream, trial.chosen.time, form=form)

    def publish(part: EventBatch) -> Sequence[Printable]:
        found = engine.publish(part.stream, part.times, part.rows, part.ids, part.starts)
        trial.add(inputs_of(part, source.where, len(trial.events) + 1))
        return found

    with reading.open(trial.chosen.events) as source:
        for item in _portions(trial, source):
            if late():
                trial.trouble = f"stopped after {RUN_SECONDS_MAX:g} s, at event {len(trial.events):,}"
                return
            if isinstance(item, EventBatch):
                for found in answers(item, source.where, publish):
                    _note(trial, found)
            else:
                _note(trial, apply_control(engine, item))
                trial.add(inputs_of(item, source.where))
    _note(trial, engine.finish())


def _portions(trial: PlaygroundRun, source: EventReader) -> Iterator[Item]:
    """What a file holds, in steps; no more than EVENTS_MAX events."""
    for item in source.items:
        if not isinstance(item, EventBatch):
            yield item
            continue
        for begin in range(0, len(item.times), _STEP):
            room = EVENTS_MAX - len(trial.events)
            part = item.part(begin, min(begin + _STEP, begin + room, len(item.times)))
            if part.times:
                yield part
            if room < min(_STEP, len(item.times) - begin):
                trial.cut = True
                return


def _note(trial: PlaygroundRun, found: Sequence[Printable]) -> None:
    from ...engine.results import expanded

    for match in expanded(found):
        line = match.line()
        trial.counts[line["subscription"], line["kind"]] += 1
        if len(trial.results) < RESULTS_MAX and line["subscription"] not in trial.hidden:
            trial.results.append(line)


def told(trial: PlaygroundRun) -> dict[str, Any]:
    """A run as one object, for the page: what there is to see without asking further."""
    names, rows = _rows(trial)
    by_id = {event.id: row for event, row in zip(trial.events, rows)}
    engine = trial.engine
    subscriptions = [] if engine is None else list(engine.subscriptions.values())
    kinds: dict[str, dict[str, int]] = {}
    for (name, kind), count in trial.counts.items():
        kinds.setdefault(name, {})[kind] = count
    return {
        "findings": trial.findings,
        "broken": engine is None,
        "subscriptions": [
            {
                "name": s.name,
                "language": s.language,
                "query": s.query,
                "options": trial.options.get(s.name, {}),
                "hidden": s.name in trial.hidden,
                "counts": kinds.get(s.name, {}),
            }
            for s in subscriptions
        ],
        "streams": {} if engine is None else {n: s.schema.declared() for n, s in engine.streams.items()},
        "rows": names,
        "events": {
            "id": [event.id for event in trial.events],
            "time": [event.time for event in trial.events],
            "row": rows,
        },
        "results": [{**each, "row": _row_of(each, by_id)} for each in trial.results],
        "more": sum(trial.counts.values()) - len(trial.results),
        "cut": trial.cut,
        "trouble": trial.trouble,
        "ms": round(1_000 * trial.seconds),
    }


def _row_of(line: dict[str, Any], by_id: Mapping[int | None, int]) -> int:
    """The row of a result's last event: it is where it became one."""
    lineage = line.get("lineage") or ()
    return next((by_id[each] for each in reversed(list(lineage)) if each in by_id), -1)


def key_of(trial: PlaygroundRun, row: int) -> object:
    """The value of the key whose events are in a row of the timeline; None if streams have no key."""
    assert trial.engine is not None
    _, rows = _rows(trial)
    for event, own in zip(trial.events, rows):
        key = trial.engine.streams[event.stream].key
        if own == row and key is not None:
            return trial.shown(event)["data"][key]
    return None


def _rows(trial: PlaygroundRun) -> tuple[list[str], list[int]]:
    """The names of the timeline's rows, and the row of each event: by the key of its stream, or what divides it.

    Keys with the most matches come before those with the most events, if there are too many.
    """
    if trial.engine is None or not trial.events:
        return [], []
    dividing = {name: _dividing(trial, name) for name in trial.engine.streams}
    names = [_named(event, dividing[event.stream]) for event in trial.events]
    by_id = {event.id: at for at, event in enumerate(trial.events)}
    matched = Counter(names[at] for line in trial.results if (at := _row_of(line, by_id)) >= 0)
    counts = Counter(names)
    ranked = sorted(counts, key=lambda name: (-matched[name], -counts[name], name))
    first = ranked[: ROWS_MAX - (len(counts) > ROWS_MAX)]
    ordered = sorted(first, key=lambda name: (len(name), name) if name.isdigit() else (0, name))
    if len(counts) > len(ordered):
        ordered.append(OTHERS)
    place = {name: at for at, name in enumerate(ordered)}
    return ordered, [place.get(name, len(ordered) - 1) for name in names]


def _dividing(trial: PlaygroundRun, stream: str) -> int | None:
    """The position of the attribute that divides a stream: its key, or the first text with a few values."""
    assert trial.engine is not None
    definition = trial.engine.streams[stream]
    if definition.key is not None:
        return definition.schema.position(definition.key)
    rows: list[Row] = [event.data for event in trial.events if event.stream == stream and isinstance(event.data, tuple)]
    for position, kind in enumerate(definition.schema.declared().values()):
        if kind in ("string", "string?"):
            values = {row[position] for row in rows}
            if 1 < len(values) <= max(ROWS_MAX, len(rows) // 4):
                return position
    return None


def _named(event: Event, position: int | None) -> str:
    if position is None or isinstance(event.data, dict):
        return event.stream
    return str(event.data[position])


def first_text(chosen: Chosen) -> dict[str, Any]:
    """A first subscription file for the events, and which options read them. Raises ForetellErrors."""
    from ..new import first_file, look_at

    assert chosen.events is not None
    form = FileForm(**(chosen.form or {}))
    guesses = look_at(chosen.events, chosen.stream or _stream(chosen), chosen.time, form=form)
    text = first_file(chosen.events, guesses, "SUBS.toml")
    timed = [(name, guess.time) for name, guess in guesses.items() if guess.time is not None]
    return {
        "text": text.replace(chosen.events, chosen.called or chosen.events),
        "stream": timed[0][0] if timed else None,
        "time": timed[0][1] if timed else None,
    }


def _stream(chosen: Chosen) -> str | None:
    from ..new import stream_name

    return None if chosen.called is None else stream_name(Path(chosen.called).name)
