"""The open predictions of many models, and what became of those that are not open any more, in packed columns.

A model's open predictions are a chain of chunks, the oldest first. Its bins (calibration) are pages of ten, as the
probabilities of one model lie close to each other: most models need two or three of the ten pages. What happens rarely
is kept by a Calibration object of its own: outcomes right after a match, those of notices, and sums that are too large.

Here: these columns. Hot. Not here: what a prediction is (model_page), the measures (calibration).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ..events.batch import Floats, Integers, packed_floats, packed_integers
from .calibration import BINS, MILLIONTHS, Calibration, bin_of, millionths, surprise
from .columns import with_room, with_room_for_floats
from .pending import PredictionQueue

CHUNK: Final = 8  # predictions
PAGES: Final = 10  # of bins
BINS_A_PAGE: Final = BINS // PAGES
PAGE: Final = 3 * BINS_A_PAGE  # how many, how many came true, the sum of millionths
NONE: Final = -1
SUM_MAX: Final = 1 << 60  # beyond it, sums go to the object

# The integers of a model; its pages of bins follow.
HEAD: Final = 0  # the first chunk, and the place of the oldest prediction in it
FIRST: Final = 1
TAIL: Final = 2  # the last chunk, and the place behind the newest prediction in it
LAST: Final = 3
OPEN: Final = 4
BRIER: Final = 5
LOG: Final = 6
BIN_PAGES: Final = 7
EACH: Final = BIN_PAGES + PAGES


@final
class PackedOutcomes:
    """By slot. `rare`: of predictions of patterns that have begun and of notices, beside the columns; `after_match`."""

    def __init__(self) -> None:
        self._models: Integers = packed_integers([])
        self._chances: Floats = packed_floats([])
        self._clocks: Integers = packed_integers([])  # twice the clock, and whether it was made right after a match
        self._next: Integers = packed_integers([])
        self._chunks: i64 = 0
        self._free: i64 = NONE
        self._bins: Integers = packed_integers([])
        self._pages: i64 = 0
        self._free_pages: list[int] = []
        self.rare: list[Calibration | None] = []
        self.after_match: list[Calibration | None] = []

    def begin(self, slot: i64) -> None:
        """A model takes the slot, which is empty."""
        while len(self.rare) <= slot:
            self.rare.append(None)
            self.after_match.append(None)
        size = (slot + 1) * EACH
        if len(self._models) < size:
            self._models = with_room(self._models, size)
        models, at = self._models, slot * EACH
        j: i64
        for j in range(EACH):
            models[at + j] = NONE
        models[at + FIRST] = models[at + OPEN] = models[at + BRIER] = models[at + LOG] = 0
        models[at + LAST] = CHUNK

    def end(self, slot: i64) -> None:
        """The model leaves. O(chunks)."""
        models, at = self._models, slot * EACH
        while models[at + HEAD] != NONE:
            self._drop(at)
        j: i64
        for j in range(at + BIN_PAGES, at + EACH):
            if models[j] != NONE:
                self._free_pages.append(int(models[j]))
        self.rare[slot] = self.after_match[slot] = None

    # --- predictions --------------------------------------------------------------------------------------------

    def predict(self, slot: i64, clock: i64, chance: float, after_match: bool) -> None:
        """A prediction was made. O(1)."""
        at = slot * EACH
        models = self._models
        if models[at + LAST] == CHUNK:
            self._extend(at)
        place = models[at + TAIL] * CHUNK + models[at + LAST]
        self._chances[place] = chance
        self._clocks[place] = clock << 1
        if after_match:
            self._clocks[place] |= 1
        models[at + LAST] += 1
        models[at + OPEN] += 1

    def _extend(self, at: i64) -> None:
        chunk = self._free
        if chunk == NONE:
            chunk = self._chunks
            self._chunks += 1
            if len(self._next) < self._chunks:
                self._next = with_room(self._next, self._chunks)
                self._chances = with_room_for_floats(self._chances, len(self._next) * CHUNK)
                self._clocks = with_room(self._clocks, len(self._next) * CHUNK)
        else:
            self._free = self._next[chunk]
        self._next[chunk] = NONE
        models = self._models
        if models[at + HEAD] == NONE:
            models[at + HEAD], models[at + FIRST] = chunk, 0
        else:
            self._next[models[at + TAIL]] = chunk
        models[at + TAIL], models[at + LAST] = chunk, 0

    def _drop(self, at: i64) -> None:
        """Let go of the first chunk."""
        models = self._models
        chunk = models[at + HEAD]
        following = self._next[chunk]
        models[at + HEAD], models[at + FIRST] = following, 0
        if following == NONE:
            models[at + TAIL], models[at + LAST] = NONE, CHUNK
        self._next[chunk] = self._free
        self._free = chunk

    def open(self, slot: i64) -> i64:
        """How many are open. O(1)."""
        return self._models[slot * EACH + OPEN]

    def newest(self, slot: i64) -> i64:
        """The clock of the newest one, of which there is one at least. O(1)."""
        at = slot * EACH
        return self._clocks[self._models[at + TAIL] * CHUNK + self._models[at + LAST] - 1] >> 1

    def resolve(self, slot: i64, over: i64, matched: bool) -> None:
        """As Verification.resolve. O(predictions that this resolves)."""
        at = slot * EACH
        models = self._models
        while models[at + OPEN] > 0:
            place = models[at + HEAD] * CHUNK + models[at + FIRST]
            clock = self._clocks[place]
            missed = clock >> 1 <= over
            if not missed and not matched:
                return
            chance = self._chances[place]
            models[at + OPEN] -= 1
            models[at + FIRST] += 1
            if models[at + FIRST] == CHUNK or models[at + OPEN] == 0:
                self._drop(at)
            if clock & 1 == 1:
                found = self.after_match[slot]
                if found is None:
                    found = self.after_match[slot] = Calibration()
                found.record(chance, not missed)
            else:
                self._record(slot, at, chance, not missed)

    def _record(self, slot: i64, at: i64, probability: float, outcome: bool) -> None:
        """As Calibration.record."""
        said = millionths(probability)
        bin = bin_of(probability)
        models = self._models
        page = models[at + BIN_PAGES + bin // BINS_A_PAGE]
        if page == NONE:
            page = self._new_page()
            models[at + BIN_PAGES + bin // BINS_A_PAGE] = page
        place = page * PAGE + bin % BINS_A_PAGE
        bins = self._bins
        bins[place] += 1
        bins[place + 2 * BINS_A_PAGE] += said
        error = said
        chance = 1.0 - probability
        if outcome:
            bins[place + BINS_A_PAGE] += 1
            error = MILLIONTHS - said
            chance = probability
        models[at + BRIER] += error * error
        models[at + LOG] += surprise(chance)
        if models[at + BRIER] > SUM_MAX:
            rare = self.rarely(slot)
            rare.brier += int(models[at + BRIER])
            models[at + BRIER] = 0

    def _new_page(self) -> i64:
        page: i64 = self._pages
        if len(self._free_pages) > 0:
            page = self._free_pages.pop()
        else:
            self._pages += 1
            if len(self._bins) < self._pages * PAGE:
                self._bins = with_room(self._bins, self._pages * PAGE)
        bins = self._bins
        j: i64
        for j in range(page * PAGE, (page + 1) * PAGE):
            bins[j] = 0
        return page

    def rarely(self, slot: i64) -> Calibration:
        """The object beside the columns, made when it is first needed."""
        found = self.rare[slot]
        if found is None:
            found = self.rare[slot] = Calibration()
        return found

    # --- objects ------------------------------------------------------------------------------------------------

    def calibration(self, slot: i64) -> Calibration:
        """All outcomes of patterns that have begun, as an object of its own. O(BINS)."""
        found = Calibration()
        rare = self.rare[slot]
        if rare is not None:
            found.add(rare)
        at = slot * EACH
        number: i64
        j: i64
        for number in range(PAGES):
            page = self._models[at + BIN_PAGES + number]
            if page != NONE:
                found.own_bins()
                for j in range(BINS_A_PAGE):
                    bin, place = int(number * BINS_A_PAGE + j), page * PAGE + j
                    found.counts[bin] += int(self._bins[place])
                    found.hits[bin] += int(self._bins[place + BINS_A_PAGE])
                    found.said[bin] += int(self._bins[place + 2 * BINS_A_PAGE])
        found.brier += int(self._models[at + BRIER])
        found.log += int(self._models[at + LOG])
        return found

    def take(self, slot: i64, begun: Calibration, after_match: Calibration, queue: PredictionQueue) -> None:
        """Go on with what objects have, which are not used any more. The model has begun. O(BINS + predictions)."""
        at = slot * EACH
        for bin, count in enumerate(begun.counts):
            if count > 0:
                number = bin // BINS_A_PAGE
                page = self._models[at + BIN_PAGES + number]
                if page == NONE:
                    page = self._new_page()
                    self._models[at + BIN_PAGES + number] = page
                place = page * PAGE + bin % BINS_A_PAGE
                self._bins[place], self._bins[place + BINS_A_PAGE] = count, begun.hits[bin]
                self._bins[place + 2 * BINS_A_PAGE] = begun.said[bin]
        self._models[at + LOG] = begun.log
        begun.clear_bins()
        if begun.brier < SUM_MAX:
            self._models[at + BRIER] = begun.brier
            begun.brier = 0
        begun.log = 0
        if begun.is_used():
            self.rare[slot] = begun
        if after_match.is_used():
            self.after_match[slot] = after_match
        for clock, chance, after in queue.open():
            self.predict(slot, clock, chance, after)

    def give(self, slot: i64, queue: PredictionQueue) -> None:
        """Write the open predictions to a queue. O(predictions)."""
        at = slot * EACH
        chunk, place = self._models[at + HEAD], self._models[at + FIRST]
        for _ in range(self._models[at + OPEN]):
            if place == CHUNK:
                chunk, place = self._next[chunk], 0
            clock = self._clocks[chunk * CHUNK + place]
            queue.predict(int(clock >> 1), self._chances[chunk * CHUNK + place], clock & 1 == 1)
            place += 1
