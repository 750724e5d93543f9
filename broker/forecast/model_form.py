"""What the packed models of a forecast plan have in common: states, edges, the horizon, when estimates are published.

A model is packed where its forecast needs no more than counts, rows and the numbers of a horizon in events: one
context, no forgetting, no correction, and runs that stay of use until an event takes them.

Here: these constants. Not here: the models themselves (model_page).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ..events.batch import Integers, packed_integers
from ..events.instant import FOREVER
from .chain import KRICHEVSKY_TROFIMOV, Shape
from .forecaster import DEPTH, TOLERANCE
from .passage import FEW
from .settings import Settings
from .states import States

STATES_MAX: Final = 8  # of a chain whose model is packed: a model has a number for each pair of them


@final
class ModelForm:
    """A chain's states have *places* in a matrix of `width`: the final one is the last, whatever lies between.

    `follows`: whether a place can follow a state, `width` numbers each; simultaneous events may lead elsewhere, too.
    `fallback`: where it leads while nothing is known. `order`: the elementary states, the most advanced first;
    `numbers`: the elementary state after so many steps of a run.
    """

    def __init__(self, settings: Settings, shape: Shape, order: list[int], numbers: list[int]) -> None:
        assert shape.successors is not None
        self.shape = shape
        self.states: i64 = shape.states
        self.final: i64 = shape.states - 1
        self.width: i64 = max(shape.states, FEW + 1)
        self.within: i64 = settings.within
        self.threshold = settings.threshold
        self.effective = settings.effective
        self.smoothing = KRICHEVSKY_TROFIMOV
        self.tolerance = TOLERANCE / (DEPTH * max(settings.within, 1))
        self.order: Integers = packed_integers(order)
        self.numbers: Integers = packed_integers(numbers)
        self.fallback: Integers = packed_integers([self.place(state) for state in shape.fallback])
        follows = [0] * (shape.states * int(self.width))
        for state, row in enumerate(shape.successors):
            for following in row:
                follows[state * int(self.width) + self.place(following)] = 1
        self.follows: Integers = packed_integers(follows)

    def place(self, state: int) -> int:
        """Where a state stands in the matrix."""
        return int(self.width) - 1 if state == self.final else state

    def state(self, place: int) -> int:
        """The inverse of `place`."""
        return int(self.final) if place == self.width - 1 else place


def model_form(settings: Settings, states: States, numbers: list[list[int]], windows: list[int]) -> ModelForm | None:
    """The form of a plan's packed models; None where they have to be objects."""
    plain = settings.steps > 0 and settings.half_life is None and not settings.context.parts
    asked = settings.cautious or settings.recalibrate
    if not plain or asked or states.sets or states.exceeding is not None or states.shape.successors is None:
        return None
    if len(numbers) != 1 or len(windows) != len(states.left) or states.shape.states > STATES_MAX:
        return None
    if any(window != FOREVER for window in windows):
        return None
    return ModelForm(settings, states.shape, states.order, numbers[0])
