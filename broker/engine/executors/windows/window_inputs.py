"""The events that a machine of windows needs: its inputs, or the only key whose events matter.

Here: what depends on the constants of a subscription. Not here: all else that a machine reads (tables), finding the key
(automaton/analyses/window_key).
"""

from __future__ import annotations

from typing import final

from ....algebra.normal_form import ALWAYS, Form, describe_form, narrowed
from ....algebra.predicate import All, condition
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
    satisfies, unless a machine sleeps. `key`: the only one that may have windows, if `keyed` asks for it. A machine is
    `filed` by it, and tries the conditions as `tests` with each of its events; a family is not, but all its inputs want
    the key's values. `asleep`: the interest while there are no windows, if a machine `sleeps`; otherwise `awake`.
    """

    def __init__(
        self, tables: WindowTables, automaton: Automaton, keyed: bool, family: WindowFamily | None = None
    ) -> None:
        windows = automaton.windows
        assert windows is not None
        self.key: tuple[Comparison, ...] = ()
        if keyed:
            self.key = window_key(windows, tables.positions, windows.atoms if family is None else family.rests())
        self.filed = _event_key(self.key) if self.key and family is None else None
        self.sleeps = tables.sleeps and self.filed is None
        self.awake = Interest(-1, _event_key(self.key)) if self.sleeps else SATISFYING
        self.asleep = Interest(tables.rousing)
        conditions = windows.atoms if family is None else family.apart()
        plain = [conditions[at] for at in tables.order[: int(tables.plain_bits)]]
        self.tests: list[All | None] = []
        self.all: list[Input] = []
        if self.filed is not None:
            self.tests = [condition(_without(form, self.key)) for form in plain]
        else:
            forms = plain if self.sleeps else [ALWAYS, *plain]
            self.all = [Input(tables.source.stream, narrowed(form, self.key)) for form in forms]

    def attention(self) -> str:
        """Which events are looked at, for users, behind other words."""
        home = f"; only events with {describe_form((self.key,))}" if self.key else ""
        return f"{home}; asleep until an event begins a window" if self.sleeps else home


def _without(form: Form, key: tuple[Comparison, ...]) -> Form:
    """The condition on an event that has the key."""
    return tuple([tuple([atom for atom in clause if atom not in key]) for clause in form])


def _event_key(key: tuple[Comparison, ...]) -> EventKey:
    parts = [pair for atom in key if (pair := equality(atom)) is not None]
    return EventKey(tuple([attribute.position for attribute, _ in parts]), tuple([value.value for _, value in parts]))
