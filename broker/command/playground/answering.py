"""The questions of the page, each by its name, and what answers it. The last run is kept, so that a question to it is
answered without another.

Not here: the process in which this happens (worker).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, final

from ...events import Event, ForetellError
from ..complaint import of_file, one_line
from .trial import Chosen, PlaygroundRun, called, first_text, key_of, told, tried

if TYPE_CHECKING:
    from ...engine import Engine
    from ...engine.reasons import Why, WhyNot

MANY_EVENTS: Final = 2_000
"""Among so many, the events of a match alone are asked first: that is faster, and mostly enough."""
LISTED_MAX: Final = 100
"""Events of one page of the list."""


@final
class Answering:
    """The last run, and the answers to questions."""

    def __init__(self) -> None:
        self._last: PlaygroundRun | None = None

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one question, or an `error` in one line."""
        chosen = Chosen(**question["chosen"])
        try:
            return QUESTIONS[question["do"]](self, chosen, question)
        except ForetellError as error:
            return {"error": called(chosen, error)}
        except OSError as error:
            return {"error": called(chosen, ForetellError(of_file(error)))}
        except MemoryError:
            self._last = None
            return {"error": "expected a run that needs less memory"}

    def trial(self, chosen: Chosen) -> PlaygroundRun:
        """The run of what was chosen."""
        if self._last is None or self._last.chosen != chosen:
            self._last = tried(chosen)
        return self._last

    def _ran(self, chosen: Chosen) -> tuple[PlaygroundRun, Engine]:
        trial = self.trial(chosen)
        if trial.engine is None:
            raise ForetellError("expected a subscription file without mistakes")
        return trial, trial.engine

    def run(self, chosen: Chosen, question: Mapping[str, Any]) -> dict[str, Any]:
        """What a run finds."""
        return told(self.trial(chosen))

    def why(self, chosen: Chosen, question: Mapping[str, Any]) -> dict[str, Any]:
        """Why a match was reported. Among many events those between its ends are tried first."""
        trial, engine = self._ran(chosen)
        asked, name = question["match"], question["subscription"]
        result = next((each for each in trial.results if each["id"] == asked), None)
        if result is not None and len(trial.inputs) == len(trial.events) > MANY_EVENTS:
            with suppress(ForetellError):
                return self._told(trial, engine.why(asked, between(trial.events, result["start"], result["end"]), name))
        return self._told(trial, engine.why(asked, trial.inputs, name))

    def why_not(self, chosen: Chosen, question: Mapping[str, Any]) -> dict[str, Any]:
        """What stopped the partial matches that came nearest."""
        trial, engine = self._ran(chosen)
        wanted, until, row = question.get("wanted") or [], question.get("until"), question.get("row")
        key = None if row is None else key_of(trial, row)
        return self._told(trial, engine.why_not(question["subscription"], trial.inputs, key, wanted, until))

    def _told(self, trial: PlaygroundRun, reasons: Why | WhyNot) -> dict[str, Any]:
        """An answer, with the values of all events that it names."""
        found = reasons.line()
        numbers: set[int] = set()

        def collect(part: object) -> None:
            if isinstance(part, dict):
                for key, value in part.items():
                    if key in ("events", "ended by", "lineage") and isinstance(value, list):
                        numbers.update(each for each in value if isinstance(each, int))
                    collect(value)
            elif isinstance(part, list):
                for each in part:
                    collect(each)

        collect(found)
        return {**found, "values": {str(each.id): trial.shown(each) for each in trial.events if each.id in numbers}}

    def events(self, chosen: Chosen, question: Mapping[str, Any]) -> dict[str, Any]:
        """A page of the events, of one row of the timeline or of all."""
        trial, _ = self._ran(chosen)
        row, begin = question.get("row"), max(0, question.get("begin") or 0)
        rows = told(trial)["events"]["row"] if row is not None else []
        found = trial.events if row is None else [event for event, own in zip(trial.events, rows) if own == row]
        return {"total": len(found), "events": [trial.shown(each) for each in found[begin : begin + LISTED_MAX]]}

    def diagram(self, chosen: Chosen, question: Mapping[str, Any]) -> dict[str, Any]:
        """The automaton of a subscription, with those that publish what it reads."""
        from ...console.drawing import picture_of
        from ...engine import Engine
        from ...engine.reasons.rerun import needed_by

        _, engine = self._ran(chosen)
        name = question["subscription"]
        if name not in engine.subscriptions:
            raise ForetellError(f"expected a subscription of this file, found {name[:64]!r}")
        alone = Engine()
        for stream in engine.streams.values():
            alone.declare(stream)
        for needed in needed_by(engine, name):
            own = engine.subscriptions[needed]
            alone.subscribe(needed, own.language, own.query, own.lineage, own.report)
        return picture_of(alone, name)

    def first(self, chosen: Chosen, question: Mapping[str, Any]) -> dict[str, Any]:
        """A first subscription file for the events."""
        return first_text(chosen)

    def journal(self, chosen: Chosen, question: Mapping[str, Any]) -> dict[str, Any]:
        """The newest events of a broker's journal, in a file. `text`: the streams."""
        from .journal_events import taken

        out = Path(question["out"])
        return taken(Path(question["folder"]), chosen.text, question["since"], question["until"], out)

    def form(self, chosen: Chosen, question: Mapping[str, Any]) -> dict[str, Any]:
        """The text with each query as its language prints it."""
        from ..editing import formatted

        return {"text": formatted(chosen.text)}

    def complete(self, chosen: Chosen, question: Mapping[str, Any]) -> dict[str, Any]:
        """The words that may come at a place."""
        from ..editing import suggestions

        place = (max(0, question["line"]), max(0, question["column"]))
        found = suggestions(chosen.text, place)
        return {"words": [{"word": each.word, "kind": each.kind, "about": each.about} for each in found]}


QUESTIONS: Final[Mapping[str, Callable[[Answering, Chosen, Mapping[str, Any]], dict[str, Any]]]] = MappingProxyType(
    {
        "run": Answering.run,
        "why": Answering.why,
        "why-not": Answering.why_not,
        "events": Answering.events,
        "diagram": Answering.diagram,
        "first": Answering.first,
        "journal": Answering.journal,
        "format": Answering.form,
        "complete": Answering.complete,
    }
)


def between(events: Sequence[Event], start: int, end: int) -> list[Event]:
    """The events that were over within a time, both ends with it."""
    return [event for event in events if start <= event.time <= end]


def answered(answering: Answering, line: str) -> str:
    """A question as JSON, and its answer. A mistake of ours is an answer, too: the page goes on."""
    try:
        found = answering.answer(json.loads(line))
    except Exception as error:
        found = {"error": one_line(f"the playground failed: {type(error).__name__}: {error}")}
    return json.dumps(found, separators=(",", ":"))
