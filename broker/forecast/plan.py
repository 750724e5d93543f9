"""What a predictive subscription's form keeps: the settings, the chain's states, whose events it counts.

Here: this, found once when the text is compiled, with all that can be refused. Not here: anything that an event
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, Final, TypeAlias, final

from ..automaton.analyses.chain import distances_of
from ..automaton.analyses.chain_keys import Positions, chain_keys, unkeyed
from ..automaton.analyses.window import state_windows
from ..automaton.automaton import Automaton
from ..events.errors import DefinitionError
from ..events.instant import FOREVER
from ..events.schema import Schema
from .exceeding import exceeding_of
from .model_form import model_form
from .parts import PRODUCT_STATES_MAX, Division, division
from .settings import Settings, read_settings
from .states import States, states_of

Streams: TypeAlias = tuple[tuple[str, Schema | None], ...]

UNDIVIDED: Final = "no match"


@final
class ForecastPlan:
    """`numbers`: for each automaton of the subscription its states' elementary ones. `windows` by elementary state: how
    long after its beginning a run is of use; empty where the machine that keeps the runs knows it.

    With a `division` forecasts are put together from those of its parts: then the subscription's own chain says no more
    than how often it matches, and its numbers are for lineage, `left` being what they have left. `models`: the form of
    packed models, if there is one."""

    def __init__(
        self,
        settings: Settings,
        states: States,
        positions: Positions,
        numbers: list[list[int]],
        windows: list[int],
        left: list[int] | None = None,
        division: Division | None = None,
    ) -> None:
        self.settings = settings
        self.states = states
        self.positions = positions
        self.numbers = numbers
        self.windows = windows
        self.left = left or states.left
        self.division = division
        self.models = None if division is not None else model_form(settings, states, numbers, windows)

    def version(self, name: str, text: str) -> str:
        """What counts are kept under: equal where states and contexts mean the same. Those of parts begin with it."""
        said = f"{text}\0{self.settings.states}\0{self.positions}"
        # What follows a name has said more of it before, and models that were trained then are still read.
        context = [(part.kind, part.name, (), 0) for part in self.settings.context.parts]
        if context:  # the 7 of ["hour"] is not that of ["month"]
            said += f"\0{context}"
        if self.division is not None:
            said += "\0parts"
        exceeding = self.states.exceeding
        if exceeding is not None:
            said += f"\0{exceeding.name} > {exceeding.cuts[-1]}"
        return f"{name}@{blake2b(said.encode(), digest_size=8).hexdigest()}"

    def versions(self, name: str, text: str) -> list[str]:
        """The version, and those of the parts."""
        whole = self.version(name, text)
        parts = [] if self.division is None else self.division.parts
        return [whole, *[part.version(whole) for part in parts]]


def forecast_plan(
    written: Mapping[str, Any],
    automata: tuple[Automaton, ...],
    sources: Streams,
    key_of: Callable[[str], str | None],
) -> ForecastPlan:
    """What a forecast of these automata is; `written` as the subscription has it. Raises DefinitionError or
    LimitExceeded. That automata without machines have no parts is not judged here."""
    streams = {stream: schema for stream, schema in sources if schema is not None}
    keys = {stream: schema.position(key) for stream, schema in streams.items() if (key := key_of(stream)) is not None}
    positions = chain_keys(automata, list(streams), keys)
    settings = _settings(written, streams, positions)
    merged = any(automaton.sources for automaton in automata)  # whose matches are told apart by the key itself
    if settings.per == "stream" and positions != unkeyed(list(streams)):
        if merged:
            raise DefinitionError("forecast: per = 'stream' is not for what BY or its variables part by key")
        positions = unkeyed(list(streams))
    sets, (first, *_) = settings.states == "set", automata
    if settings.parts or (settings.parts is None and len(first.states) - 1 > PRODUCT_STATES_MAX):
        found = division(first, sets)
        if found is not None:
            undivided = States([1], [UNDIVIDED], False)
            return ForecastPlan(settings, undivided, positions, [], [], distances_of(first), found)
        if settings.parts and first.machines is not None:
            raise DefinitionError('forecast: parts = true: expected AND, OR or a group with ";" beside it')
    exceeding = exceeding_of(written.get("exceeds"), first)
    states, numbers = states_of(automata, sets, exceeding)
    return ForecastPlan(settings, states, positions, numbers, [] if merged else _windows(automata, states, numbers))


def _windows(automata: tuple[Automaton, ...], states: States, numbers: list[list[int]]) -> list[int]:
    windows = [FOREVER] * len(states.left)
    for automaton, own in zip(automata, numbers):
        for depth, window in enumerate(state_windows(automaton)):
            if depth:
                windows[own[depth]] = window
    return windows


def _settings(written: Mapping[str, Any], streams: Mapping[str, Schema], positions: Positions) -> Settings:
    """Contexts are those of the first stream; of several, only the key and units of time are known at each event."""
    first, key_positions = positions[0]
    schema = streams[first]
    key = schema.names[key_positions[0]] if key_positions else None
    settings = read_settings(written, schema, key)
    if len(positions) > 1 and any(part.kind == "attribute" for part in settings.context.parts):
        raise DefinitionError("forecast: context: expected no attribute where several streams are read")
    return settings
