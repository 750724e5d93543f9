"""Estimates a Markov chain from counts: rows of probabilities.

A row has the shares of counted departures (semantics 3.7): p_ij = N_ij / sum_k N_ik. P-ToPSS 5.2.1 prints the arrivals
at i as the denominator; these differ from the departures for the initial state and for runs that are still there, and
rows would not sum to one (forecasting 2.1). Discarding, expiry and reset are transitions like any other.

Smoothing adds a pseudo-count to every known successor (1/2: Krichevsky and Trofimov); a row without counts leads to the
state's fallback: it stays if it can, else the partial match is discarded. Shrinkage draws a row towards that of a
larger pool: p = (n + k * parent) / (sum n + k), the mean of a Dirichlet posterior (forecasting 3).

A final state is absorbing: passages ask for the first arrival. Transitions after a match are kept beside it as its
continuation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

from .counts import CountTable

KRICHEVSKY_TROFIMOV: Final = 0.5


@final
class TransitionRow:
    """Where a state leads: `targets` ascending, their `chances`, which sum to one, and the effective count behind.
    Immutable; a plain class, since rows are made for every few transitions."""

    __slots__ = ("chances", "targets", "weight")

    def __init__(self, targets: tuple[int, ...], chances: tuple[float, ...], weight: float = 0.0) -> None:
        self.targets = targets
        self.chances = chances
        self.weight = weight

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, TransitionRow) and self.targets == other.targets and self.chances == other.chances
        return same and isinstance(other, TransitionRow) and self.weight == other.weight

    def __hash__(self) -> int:
        return hash((self.targets, self.chances, self.weight))

    def __repr__(self) -> str:
        return f"Row({self.targets}, {self.chances}, {self.weight})"

    def chance(self, target: int) -> float:
        """The probability of a next state; 0 for one that is not in the row. O(edges)."""
        return self.chances[self.targets.index(target)] if target in self.targets else 0.0


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of a chain before anything was counted. States are 0 .. states - 1, 0 is the initial one.

    `fallback[i]`: where state i is thought to lead while nothing is known of it; for a final state, where the search
    for the next match goes on. `successors[i]`: the states that can follow at all; None: those that were counted.
    Raises ValueError where a state does not exist.
    """

    states: int
    finals: frozenset[int]
    fallback: tuple[int, ...]
    successors: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        tables = [self.fallback] if self.successors is None else [self.fallback, self.successors]
        if any(len(table) != self.states for table in tables):
            raise ValueError(f"expected an entry for each of {self.states} states")
        named = [*self.finals, *self.fallback, *(s for row in self.successors or () for s in row)]
        if any(not 0 <= state < self.states for state in named):
            raise ValueError(f"expected states from 0 to {self.states - 1}, found {sorted(set(named))}")


@final
@dataclass(frozen=True, slots=True)
class MarkovChain:
    """A row for each state; those of final states lead to themselves. `continuations`: what follows a final state."""

    rows: tuple[TransitionRow, ...]
    finals: frozenset[int]
    continuations: Mapping[int, TransitionRow]


def shape(
    states: int,
    finals: Collection[int],
    waiting: Collection[int] = (),
    successors: Sequence[Sequence[int]] | None = None,
) -> Shape:
    """A shape whose `waiting` states fall back on themselves (they have a star edge), all others on state 0."""
    fallback = tuple(state if state in waiting else 0 for state in range(states))
    known = None if successors is None else tuple(tuple(sorted(set(row))) for row in successors)
    return Shape(states, frozenset(finals), fallback, known)


def pooled_row(counted: Mapping[int, float], form: Shape, state: int, smoothing: float) -> TransitionRow:
    """The row of a state from its weighted counts alone. O(edges).

    `smoothing` is the pseudo-count of each known successor; 0 leaves the plain fractions.
    """
    targets = sorted(counted)
    weight = 0.0
    for target in targets:
        weight += counted[target]
    if weight <= 0.0:
        return TransitionRow((form.fallback[state],), (1.0,))
    if smoothing <= 0.0:
        return normalised(counted, weight)
    known = (form.fallback[state],) if form.successors is None else form.successors[state]
    missing = [target for target in known if target not in counted]
    if len(missing) > 0:
        targets = sorted(targets + missing)
    masses: list[float] = []
    total = 0.0
    for target in targets:
        mass = counted.get(target, 0.0) + smoothing
        masses.append(mass)
        total += mass
    return TransitionRow(tuple(targets), tuple([mass / total for mass in masses]), weight)


def known_row(counted: dict[int, int], known: tuple[int, ...], smoothing: float) -> TransitionRow | None:
    """The same of counts that weigh one each, of known successors only, ascending; otherwise None. O(edges)."""
    masses: list[float] = []
    total = weight = 0.0
    found = 0
    for target in known:
        count = float(counted.get(target, 0))
        if count > 0.0:
            found += 1
            weight += count
        mass = count + smoothing
        masses.append(mass)
        total += mass
    if found < len(counted) or found == 0:
        return None
    for at, mass in enumerate(masses):
        masses[at] = mass / total
    return TransitionRow(known, tuple(masses), weight)


def shrunk_row(counted: Mapping[int, float], parent: TransitionRow, strength: float) -> TransitionRow:
    """The row of a state from its own weighted counts and the row of a larger pool, which weighs `strength` counts.

    Its effective count is its own, and what the pool knows up to `strength`. O(edges).
    """
    weight = _total(counted)
    effective = weight + min(strength, parent.weight)
    if weight <= 0.0 or not counted:
        return TransitionRow(parent.targets, parent.chances, effective)
    masses = dict(counted)
    for target, chance in zip(parent.targets, parent.chances):
        masses[target] = masses.get(target, 0.0) + strength * chance
    return normalised(masses, effective)


def mean_row(rows: Sequence[TransitionRow]) -> TransitionRow:
    """The mean of several rows; its effective count is the least of theirs. O(edges)."""
    if len(rows) == 1:
        return rows[0]
    weight = min(row.weight for row in rows)
    if len(rows) == 2 and rows[0].targets == rows[1].targets:
        return TransitionRow(
            rows[0].targets, tuple([0.5 * (p + q) for p, q in zip(rows[0].chances, rows[1].chances)]), weight
        )
    masses: dict[int, float] = {}
    for row in rows:
        for target, chance in zip(row.targets, row.chances):
            masses[target] = masses.get(target, 0.0) + chance
    return normalised(masses, weight)


def normalised(masses: Mapping[int, float], weight: float) -> TransitionRow:
    """Masses that are not all zero as a row that sums to one."""
    targets: list[int] = []
    chances: list[float] = []
    total = 0.0
    for target in sorted(masses):
        mass = masses[target]
        if mass > 0.0:
            targets.append(target)
            chances.append(mass)
            total += mass
    return TransitionRow(tuple(targets), tuple([chance / total for chance in chances]), weight)


def _total(masses: Mapping[int, float]) -> float:
    """In the order of targets, so that it depends on the masses and on nothing else."""
    total = 0.0
    for target in sorted(masses):
        total += masses[target]
    return total


def distance(one: TransitionRow, other: TransitionRow) -> float:
    """Half the sum of absolute differences: the most by which any event's probability can differ. O(edges)."""
    if one is other:
        return 0.0
    if one.targets is other.targets or one.targets == other.targets:
        total = 0.0
        for p, q in zip(one.chances, other.chances):
            total += abs(p - q)
        return 0.5 * total
    differences = dict(zip(one.targets, one.chances))
    for target, chance in zip(other.targets, other.chances):
        differences[target] = differences.get(target, 0.0) - chance
    return 0.5 * sum(abs(differences[target]) for target in sorted(differences))


def chain_of(form: Shape, rows: Sequence[TransitionRow]) -> MarkovChain:
    """A chain from the rows of all states, those of final states being their continuations."""
    absorbing = [
        TransitionRow((state,), (1.0,), row.weight) if state in form.finals else row for state, row in enumerate(rows)
    ]
    return MarkovChain(tuple(absorbing), form.finals, {state: rows[state] for state in sorted(form.finals)})


def counted_chain(table: CountTable, form: Shape, smoothing: float = KRICHEVSKY_TROFIMOV) -> MarkovChain:
    """The chain of one table of counts. O(states + edges)."""
    return chain_of(form, [pooled_row(table.weighted(state), form, state, smoothing) for state in range(form.states)])
