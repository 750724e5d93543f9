"""What a predictive subscription's form keeps: the settings, the chain's states, whose events it counts.

Here: this, found once when the text is compiled, with all that can be refused. Not here: anything that an event
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, Final, TypeAlias, final

from ...algebra.composite import Composite
from ...algebra.normal_form import duration_bound
from ...automaton.automaton import Automaton
from ...automaton.paths.path_automaton import PathAutomaton
from ...events.errors import DefinitionError
from ...events.instant import FOREVER
from ...events.schema import Schema
from ...forecast.settings import Settings, read_settings
from ...forecast.varying import check_varying
from .keys import Positions, key_of_automata, key_of_paths, unkeyed
from .parts import PRODUCT_STATES_MAX, Division, division
from .states import NONE, States, distances_of, states_of_automata, states_of_paths

Streams: TypeAlias = tuple[tuple[str, Schema | None], ...]

UNDIVIDED: Final = "no match"


@final
class Plan:
    """`numbers`: for each automaton of the subscription its states' elementary ones, of a composite subscription those
    of its paths. `windows` by elementary state: how long after its beginning a run is of use; empty for machines.

    With a `division` forecasts are put together from those of its parts: then the subscription's own chain says no more
    than how often it matches, and its numbers are for lineage, `left` being what they have left."""

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

    def version(self, name: str, text: str) -> str:
        """What counts are kept under: equal where states and contexts mean the same. Those of parts begin with it."""
        said = f"{text}\0{self.settings.states}\0{self.positions}"
        context = [(part.kind, part.name, part.cuts, part.length) for part in self.settings.context.parts]
        if context:  # the 7 of ["hour"] is not that of ["month"]
            said += f"\0{context}"
        if self.division is not None:
            said += "\0parts"
        return f"{name}@{blake2b(said.encode(), digest_size=8).hexdigest()}"

    def versions(self, name: str, text: str) -> list[str]:
        """The version, and those of the parts."""
        whole = self.version(name, text)
        parts = [] if self.division is None else self.division.parts
        return [whole, *[part.version(whole) for part in parts]]


def plan_of_automata(
    written: Mapping[str, Any],
    automata: tuple[Automaton, ...],
    sources: Streams,
    key_of: Callable[[str], str | None],
) -> Plan:
    """Raises DefinitionError or LimitExceeded. Automata have no parts, which is not judged here."""
    streams = {stream: schema for stream, schema in sources if schema is not None}
    keys = {stream: schema.position(key) for stream, schema in streams.items() if (key := key_of(stream)) is not None}
    positions = key_of_automata(automata, list(streams), keys)
    settings = _settings(written, streams, positions)
    if settings.per == "stream":
        positions = unkeyed(list(streams))
    states, numbers = states_of_automata(automata, settings.states == "set")
    check_varying(settings.context, [states.shape.states], settings.steps)
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
    sets, waiting = settings.states == "set", [not state.final for state in automaton.states]
    if settings.parts or (settings.parts is None and sum(waiting[1:]) > PRODUCT_STATES_MAX):
        found = division(composite, sets)
        if found is not None:
            check_varying(settings.context, [part.states.shape.states for part in found.parts], settings.steps)
            numbers = [number if waits else NONE for number, waits in enumerate(waiting)]
            return Plan(
                settings, States([1], [UNDIVIDED], False), positions, [numbers], [], distances_of(automaton), found
            )
        if settings.parts:
            raise DefinitionError('forecast: parts = true: expected AND, OR or a group with ";" beside it')
    states, numbers = states_of_paths(automaton, sets)
    check_varying(settings.context, [states.shape.states], settings.steps)
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
        loop = automaton.loop(depth)
        if loop is not None:
            limits.append(duration_bound(loop.guard))
        finite = [limit for limit in limits if limit is not None]
        if finite:
            found[depth] = min(finite)
        entry = duration_bound(automaton.forward(depth - 1).guard)
        finite += [] if entry is None else [entry]
        bound = min(finite) if finite else None
    return found
