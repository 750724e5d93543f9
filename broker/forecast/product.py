"""The chain over pairs of a state and a mark, within the fixed values of a context.

    p((s', m') | (s, m)) = p(s' | s, m) * p(m' | m, s')

The first factor is the row of the level whose context has these marks, the second that of the marks' moves; of the last
states it is certain. A level that nothing was counted in lends the row that it would have: that of its parents. So
h over the pairs follows by the same backward recursion as over states (passage), in two halves a step: over the marks
that may follow a state, then over the states. A pair whose state is final is where the next match is asked from; a
way that reaches a final state ends there, whatever the mark.

What is asked changes nothing that is seen elsewhere: all levels of these fixed values are brought up to date together,
so that estimates do not depend on which of them was asked for before.

Here: pairs, rows, passages. Not here: how far these may be off (spread), which contexts there are (forecaster).
"""

from __future__ import annotations

from typing import final

from ..events.batch import packed_floats
from .chain import MarkovChain, Shape, TransitionRow, mean_row, shrunk_row
from .counts import Context, Counts
from .level import Level
from .moves import Moves
from .passage import Passage
from .varying import Varying


@final
class Pool:
    """The levels of all marks that were seen beside some fixed values, by context. `strength`: what their parents weigh
    for one of them. `others`: the pool that a parent of each is from, of contexts without the key; `key`: the parent
    that all have in common, or `whole`, that of all, where there is no key."""

    def __init__(self, varying: Varying, strength: float, others: Pool | None, key: Level | None, whole: Level) -> None:
        self.varying = varying
        self.strength = strength
        self.others = others
        self.key = key
        self.whole = whole
        self.levels: dict[Context, Level] = {}

    def row(self, context: Context, state: int) -> TransitionRow:
        """Where a state leads with these marks. O(edges)."""
        level = self.levels.get(context)
        if level is not None:
            return level.rows[state]
        parent = self.whole.rows[state]
        if self.others is not None and self.key is not None:
            parent = mean_row([self.others.row(context[1:], state), self.key.rows[state]])
        return shrunk_row({}, parent, self.strength)

    def listed(self) -> list[Level]:
        """Every level that a row may come from."""
        found = [self.whole, *self.levels.values()]
        if self.key is not None:
            found.append(self.key)
        if self.others is not None:
            found += self.others.listed()
        return found


@final
class Product:
    """First passages from all pairs of one pool. `stamp` grows when any of its rows was published.

    `pairs` by number; the final state of its chain has the number behind the last of them. For pair i the edges
    begins[i] .. begins[i + 1] lead to `slots` with `chances`, and `ends[i]` to a match; slot j is a mark with the state
    that follows it, and its moves marks[j] .. marks[j + 1] lead to the pairs `onward` with `shares`.
    """

    def __init__(self, form: Shape, pool: Pool, moves: Moves | None) -> None:
        """`moves`: of cells of numbers; None where only the last states vary."""
        self.form = form
        self.pool = pool
        self.moves = moves
        self.stamp: int = 0
        self._seen: tuple[int, int] = (-1, -1)
        self._laid: int = -1
        self._asked: dict[tuple[int, Context], bool] = {}  # pairs beside those that the chain can be in
        self._passage: Passage | None = None
        self.numbers: dict[tuple[int, Context], int] = {}
        self.pairs: list[tuple[int, Context]] = []
        self.ends: list[float] = []
        self.begins: list[int] = [0]
        self.slots: list[int] = []
        self.chances: list[float] = []
        self.places: dict[tuple[int, Context], int] = {}
        self.rows: list[TransitionRow | None] = []  # of slots: the moves' row
        self.marks: list[int] = [0]
        self.onward: list[int] = []
        self.shares: list[float] = []

    def refresh(self) -> None:
        """Bring all rows up to date within the tolerance. O(marks) where nothing may have moved."""
        stamps = size = 0
        for level in self.pool.listed():
            level.refresh()
            stamps += level.stamp
            size += 1
        if self.moves is not None:
            self.moves.pool.refresh()
            stamps += self.moves.pool.stamp
            for level in self.moves.levels.values():
                level.refresh()
                stamps += level.stamp
                size += 1
        if (stamps, size) != self._seen:
            self._seen = stamps, size
            self.stamp += 1

    def number(self, state: int, context: Context) -> int:
        """The number of a pair, of the rows as they are. O(1) where nothing has moved, else O(pairs x edges)."""
        self.refresh()
        pair = state, context
        if self._laid != self.stamp:
            self._lay_out()
        if pair not in self.numbers:
            self._asked[pair] = True
            self._lay_out()
        return self.numbers[pair]

    def passage(self, horizon: int) -> Passage:
        """First passages from all pairs. O(1) where nothing has moved, else O(horizon x marks x edges)."""
        self.refresh()
        if self._laid != self.stamp:
            self._lay_out()
        found = self._passage
        if found is None or found.horizon < horizon:
            found = self._passage = self._first_passage(horizon)
        return found

    # --- pairs and edges ----------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """Number all pairs that can be reached from any that was seen."""
        self._laid, self._passage = self.stamp, None
        self.numbers, self.pairs, self.ends, self.begins, self.slots, self.chances = {}, [], [], [0], [], []
        self.places, self.rows, self.marks, self.onward, self.shares = {}, [], [0], [], []
        for context in self.pool.levels:
            for state in range(self.form.states):
                if self.pool.varying.remembers(context, state):
                    self._pair(state, context)
        for state, context in self._asked:
            self._pair(state, context)
        done = 0
        while done < len(self.pairs):
            state, context = self.pairs[done]
            row = self.pool.row(context, state)
            end = 0.0
            for target, chance in zip(row.targets, row.chances):
                if target in self.form.finals:
                    end += chance
                else:
                    self.slots.append(self._slot(target, context))
                    self.chances.append(chance)
            self.ends.append(end)
            self.begins.append(len(self.slots))
            done += 1

    def _pair(self, state: int, context: Context) -> int:
        pair = state, context
        found = self.numbers.get(pair)
        if found is None:
            found = self.numbers[pair] = len(self.pairs)
            self.pairs.append(pair)
        return found

    def _slot(self, following: int, context: Context) -> int:
        """The marks that may follow this one with that state."""
        found = self.places.get((following, context))
        if found is not None:
            return found
        found = self.places[following, context] = len(self.rows)
        varying = self.pool.varying
        row = None if self.moves is None else self.moves.row(varying.binned(context), following)
        if row is None:
            self.onward.append(self._pair(following, varying.onward(context, following, varying.code(context))))
            self.shares.append(1.0)
        else:
            for code, chance in zip(row.targets, row.chances):
                self.onward.append(self._pair(following, varying.onward(context, following, code)))
                self.shares.append(chance)
        self.rows.append(row)
        self.marks.append(len(self.onward))
        return found

    # --- passages -----------------------------------------------------------------------------------------------

    def _first_passage(self, horizon: int) -> Passage:
        pairs, width, slots = len(self.pairs), horizon + 1, len(self.rows)
        values = [0.0] * (pairs * width)
        now = [0.0] * pairs
        ahead = [0.0] * slots
        begins, places, chances, ends = self.begins, self.slots, self.chances, self.ends
        marks, onward, shares = self.marks, self.onward, self.shares
        for step in range(1, width):
            for slot in range(slots):
                total = 0.0
                for move in range(marks[slot], marks[slot + 1]):
                    total += shares[move] * now[onward[move]]
                ahead[slot] = total
            for pair in range(pairs):
                total = ends[pair]
                for edge in range(begins[pair], begins[pair + 1]):
                    total += chances[edge] * ahead[places[edge]]
                # What is true of the numbers is kept true of their roundings.
                total = min(max(total, now[pair]), 1.0)
                now[pair] = total
                values[pair * width + step] = total
        return Passage(horizon, packed_floats(values), {})

    def chain(self) -> MarkovChain:
        """The chain with a row for each pair, its last state being the only final one. O(pairs x edges)."""
        self.refresh()
        if self._laid != self.stamp:
            self._lay_out()
        last = len(self.pairs)
        rows: list[TransitionRow] = []
        for pair, (state, context) in enumerate(self.pairs):
            masses: dict[int, float] = {}
            for edge in range(self.begins[pair], self.begins[pair + 1]):
                slot = self.slots[edge]
                for move in range(self.marks[slot], self.marks[slot + 1]):
                    target = self.onward[move]
                    masses[target] = masses.get(target, 0.0) + self.chances[edge] * self.shares[move]
            if self.ends[pair] > 0.0:
                masses[last] = self.ends[pair]
            targets = sorted(masses)
            weight = self.pool.row(context, state).weight
            rows.append(TransitionRow(tuple(targets), tuple([masses[target] for target in targets]), weight))
        absorbing = TransitionRow((last,), (1.0,))
        return MarkovChain((*rows, absorbing), frozenset((last,)), {last: absorbing})

    def aside(self) -> Product:
        """The same of copies of all levels: what is asked of it changes nothing here. O(levels x states)."""
        copies: dict[Level, Level] = {}
        pool = _pool_aside(self.pool, copies)
        moves = self.moves
        if moves is not None:
            own = Moves("", moves.varying, Counts(), self.form.states, moves.tolerance)
            own.pool = copy_of(moves.pool, copies)
            own.levels = {binned: copy_of(level, copies) for binned, level in moves.levels.items()}
            moves = own
        return Product(self.form, pool, moves)


def _pool_aside(pool: Pool, copies: dict[Level, Level]) -> Pool:
    others = None if pool.others is None else _pool_aside(pool.others, copies)
    key = None if pool.key is None else copy_of(pool.key, copies)
    found = Pool(pool.varying, pool.strength, others, key, copy_of(pool.whole, copies))
    found.levels = {context: copy_of(level, copies) for context, level in pool.levels.items()}
    return found


def copy_of(level: Level, copies: dict[Level, Level]) -> Level:
    """A level's copy beside it, with those of its parents; `copies` are those that were made."""
    found = copies.get(level)
    if found is None:
        parents = tuple([copy_of(parent, copies) for parent in level.parents])
        found = copies[level] = level.aside(parents)
    return found
