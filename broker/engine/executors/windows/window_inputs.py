"""The events that a machine of windows needs: its inputs, and the only key whose events matter.

Here: what depends on the constants of a subscription. Not here: all else that a machine reads (tables), finding the key
(automaton/analyses/window_key).
"""

from __future__ import annotations

from typing import final

from ....algebra.normal_form import ALWAYS, Form, describe_form, narrowed
from ....algebra.terms import Comparison
from ....automaton.analyses.event_constants import equality
from ....automaton.analyses.window_family import WindowFamily
from ....automaton.analyses.window_key import window_key
from ....automaton.automaton import Automaton
from ..contract import SATISFYING, EventKey, Input, Interest
from .tables import WindowTables


@final
class WindowInputs:
    """`all`: the conditions that read the event alone, in the order of the tables; behind the input that every event
    satisfies, unless a machine sleeps. `key`: the only one that may have windows, if `keyed` asks for it; then all
    inputs want its values. `asleep`: the interest while there are no windows, if a machine sleeps; otherwise `awake`.
    """

    def __init__(
        self, tables: WindowTables, automaton: Automaton, keyed: bool, family: WindowFamily | None = None
    ) -> None:
        windows = automaton.windows
        assert windows is not None
        self.key: tuple[Comparison, ...] = ()
        if keyed:
            self.key = window_key(windows, tables.positions, windows.atoms if family is None else family.rests())
        self.awake = Interest(-1, _home(self.key)) if tables.sleeps else SATISFYING
        self.asleep = Interest(tables.rousing)
        conditions = windows.atoms if family is None else family.apart()
        forms: list[Form] = [] if tables.sleeps else [ALWAYS]
        forms += [conditions[at] for at in tables.order[: int(tables.plain_bits)]]
        self.all = [Input(tables.source.stream, narrowed(form, self.key)) for form in forms]
        self.sleeps = tables.sleeps

    def attention(self) -> str:
        """Which events are looked at, for users, behind other words."""
        home = f"; only events with {describe_form((self.key,))}" if self.key else ""
        return f"{home}; asleep until an event begins a window" if self.sleeps else home


def _home(key: tuple[Comparison, ...]) -> EventKey:
    parts = [pair for atom in key if (pair := equality(atom)) is not None]
    return EventKey(tuple([attribute.position for attribute, _ in parts]), tuple([value.value for _, value in parts]))
