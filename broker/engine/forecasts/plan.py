"""What a predictive subscription's form keeps: the settings, the chain's states, whose events it counts.

Here: this, found once when the text is compiled, with all that can be refused. Not here: anything that an event
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, TypeAlias, final

from ...algebra.composite import Composite
from ...algebra.normal_form import duration_bound
from ...automaton.automaton import Automaton
from ...automaton.paths.path_automaton import PathAutomaton
from ...events.errors import DefinitionError
from ...events.schema import Schema
from .keys import Positions, key_of_automata, key_of_paths, unkeyed
from .settings import Settings, read_settings
from .states import States, states_of_automata, states_of_paths
from .track import FOREVER

Streams: TypeAlias = tuple[tuple[str, Schema | None], ...]


@final
class Plan:
    """`numbers`: for each automaton of the subscription its states' elementary ones, of a composite subscription those
    of its paths. `windows` by elementary state: how long after its beginning a run is of use; empty for machines."""

    def __init__(
        self, settings: Settings, states: States, positions: Positions, numbers: list[list[int]], windows: list[int]
    ) -> None:
        self.settings = settings
        self.states = states
        self.positions = positions
        self.numbers = numbers
        self.windows = windows

    def version(self, name: str, text: str) -> str:
        """What counts are kept under: equal where the states mean the same."""
        said = f"{text}\0{self.settings.states}\0{self.positions}"
        return f"{name}@{blake2b(said.encode(), digest_size=8).hexdigest()}"


def plan_of_automata(
    written: Mapping[str, Any],
    automata: tuple[Automaton, ...],
    sources: Streams,
    key_of: Callable[[str], str | None],
) -> Plan:
    """Raises DefinitionError or LimitExceeded."""
    streams = {stream: schema for stream, schema in sources if schema is not None}
    keys = {stream: schema.position(key) for stream, schema in streams.items() if (key := key_of(stream)) is not None}
    positions = key_of_automata(automata, list(streams), keys)
    settings = _settings(written, streams, positions)
    if settings.per == "stream":
        positions = unkeyed(list(streams))
    states, numbers = states_of_automata(automata, settings.states == "set")
    windows = [FOREVER] * len(states.left)
    for automaton, own in zip(automata, numbers):
        for depth, window in enumerate(windows_of(automaton)):
            if depth:
                windows[own[depth]] = window
    return Plan(settings, states, positions, numbers, windows)


def plan_of_paths(written: Mapping[str, Any], composite: Composite, automaton: PathAutomaton, schema: Schema) -> Plan:
    """Raises DefinitionError or LimitExceeded."""
    positions = key_of_paths(composite, automaton)
    settings = _settings(written, {composite.stream: schema}, positions)
    if settings.per == "stream" and positions != unkeyed([composite.stream]):
        raise DefinitionError("forecast: per = 'stream' is not for what BY or its variables part by key")
    states, numbers = states_of_paths(automaton, settings.states == "set")
    return Plan(settings, states, positions, [numbers], [])


def _settings(written: Mapping[str, Any], streams: Mapping[str, Schema], positions: Positions) -> Settings:
    """Contexts are those of the first stream; of several, only the key and units of time are known at each event."""
    first, key_positions = positions[0]
    schema = streams[first]
    key = schema.names[key_positions[0]] if key_positions else None
    settings = read_settings(written, schema, key)
    if len(positions) > 1 and any(part.kind == "attribute" for part in settings.context.parts):
        raise DefinitionError("forecast: context: expected no attribute where several streams are read")
    return settings


def windows_of(automaton: Automaton) -> list[int]:
    """By depth, how long after its beginning a run can still come to something, in microseconds, or FOREVER.

    The bounds on DUR of all that a run must pass, as this automaton alone sees them: a place that it shares may keep
    runs for longer.
    """
    found = [FOREVER] * len(automaton.states)
    bound = duration_bound(automaton.forward(len(automaton.states) - 1).guard)
    for depth in range(len(automaton.states) - 1, 0, -1):
        limits = [bound, duration_bound(automaton.states[depth].theta)]
        loop = automaton.rebind(depth)
        if loop is not None:
            limits.append(duration_bound(loop.guard))
        finite = [limit for limit in limits if limit is not None]
        if finite:
            found[depth] = min(finite)
        entry = duration_bound(automaton.forward(depth - 1).guard)
        finite += [] if entry is None else [entry]
        bound = min(finite) if finite else None
    return found
