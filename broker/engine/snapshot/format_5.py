"""Converts the form of versions up to 0.1.0, which had no sections, to sections.

In that form, composite subscriptions and patterns had a part each, in which machines were numbered apart; the sequences
of a lane, which are a machine now, had no number.

Here: reading that form, which is never written. Not here: the content of sections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..languages.table import LANGUAGES

FORMAT_5: Final = 5
NOWHERE: Final = -1


def sections_of_format_5(content: Mapping[str, Any]) -> dict[str, tuple[int, Any]]:
    """Version 1 of each section. Raises KeyError, IndexError, TypeError or ValueError for other data."""
    withdrawn, accounts = content.get("suspensions", ((), ()))  # the first versions have none
    definitions = {name: content[name] for name in ("streams", "published", "subscriptions")}
    epoch = {name: content[name] for name in ("now", "promised", "events", "matches", "begun", "tally")}
    machines = _Machines()
    texts = {name: (language, query) for name, language, query, *_ in content["subscriptions"]}
    machines.composites(content["composites"], texts)
    machines.patterns(content["kleenes"])
    sections = {
        "machines": [machines.states, machines.places],
        "definitions": {**definitions, "withdrawn": withdrawn},
        "machines: tuple_counts": [[number, kept] for number, kept in machines.partitions.items()],
        "machines: sequence_trie": machines.tries,
        "machines: kleene": machines.runs,
        "lanes": machines.lanes,
        "accounts": accounts,
        "epoch": epoch,
        "keyed runs": {name: content[name] for name in ("rows", "runs")},
        "forecasts": content["forecasts"],
    }
    return {name: (1, section) for name, section in sections.items()}


class _Machines:
    """The machines of both parts, numbered together."""

    def __init__(self) -> None:
        self.states: list[list[Any]] = []
        self.places: list[list[Any]] = []
        self.lanes: list[list[Any]] = []
        self.partitions: dict[int, list[Any]] = {}
        self.tries: list[list[Any]] = []
        self.runs: list[list[Any]] = []

    def composites(self, data: Sequence[Any], texts: Mapping[str, tuple[str, str]]) -> None:
        """Convert the part of composites. `texts`: language and query of each subscription, which name its stream."""
        places, lanes, losses, parts = data
        divided = dict(parts)
        numbers = [number for _, number, _, _ in places]
        numbers += [number for several in divided.values() for number in several]
        self.states = [[False, 0, 0] for _ in range(max(numbers, default=NOWHERE) + 1)]
        self.partitions = {number: [] for number in range(len(self.states))}
        for number, lost, told in losses:
            self.states[number][1:] = lost, told
        tries: dict[str, int] = {}
        for stream, positions, counts, words in lanes:
            keys = (positions,) if positions else ()
            for key, _, held in counts:
                for number, kept in held:
                    self.states[number][0] = True
                    self.partitions[number].append([key, kept])
            position = 0 if keys else counts[0][1]
            own = [(key, place) for key, place, _ in counts] if keys else []
            self.lanes.append(["composite", (stream,), keys, position, own])
            if words is not None:
                tries[stream] = len(self.states)
                self.tries.append([len(self.states), words])
                self.states.append([False, 0, 0])
        for name, number, term, symbols in places:
            if number == NOWHERE:
                language = LANGUAGES[texts[name][0]]
                (stream,) = language.reads(language.parse(texts[name][1]))
                self.places.append([name, tries[stream], [term, symbols], ()])
            else:
                self.places.append([name, number, None, divided.get(name, ())])

    def patterns(self, data: Sequence[Any]) -> None:
        places, lanes, machines = data
        before = len(self.states)
        self.places += [[name, before + number, None, ()] for name, number in places]
        self.lanes += [["pattern", *lane] for lane in lanes]
        for taken, lost, told, kept in machines:
            self.runs.append([len(self.states), kept])
            self.states.append([taken, lost, told])
