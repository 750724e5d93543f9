"""Models of subscriptions from objects to packed columns, and back.

A packed subscription has no forecaster, verification and notifier: who wants to read or change these has it unpacked
first, and its next step packs it again. Both ways keep all that forecasts depend on, to the last digit.

Here: both ways. Not here: when (subscription), what columns are (model_page, packed_outcomes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from .key_state import KeyState
from .keyed_stream import KeyedStream, StreamKey
from .level import Level
from .model_form import ModelForm
from .model_page import (
    ABOVE,
    BASE,
    DUE,
    ISSUED,
    MOVED,
    SEEN,
    SINCE,
    STATE,
    TOUCHED,
    UNKNOWN,
    WAITING,
    WAKE,
    ModelPage,
)

NOT_AWAKE: Final = -1

if TYPE_CHECKING:
    from .learning_observer import LearningObserver


def packed(own: LearningObserver, form: ModelForm, state: KeyState) -> bool:
    """Pack the model of a subscription whose only state this is, if its columns can hold it. O(edges + predictions)."""
    level = own.forecaster.pool
    kinds = _kinds(level, form)
    if kinds is None:
        return False
    key = state.key
    page = _page(form, own.stream, key)
    slot = page.begin(own)
    _write(page, slot, own, state, level, kinds)
    own.page, own.slot = page, slot
    del key.states[own.number]
    key.newest = None
    return True


def pack_blank(own: LearningObserver, form: ModelForm, key: StreamKey) -> None:
    """Begin a packed model that has learnt nothing, at that key. O(edges)."""
    page = _page(form, own.stream, key)
    slot = page.begin(own)
    _clear(page, slot)
    ints = page.ints
    at = slot * int(page.ints_each)
    ints[at + SINCE] = own.since
    ints[at + BASE] = ints[at + SEEN] = own.bases.get(key.key, 0)
    ints[at + WAKE] = NOT_AWAKE
    ints[at + MOVED] = form.states
    for state in range(form.states):
        ints[at + page.to_moved + state] = DUE
        ints[at + page.to_kinds + state] = UNKNOWN
    own.page, own.slot = page, slot


def unpack(own: LearningObserver) -> KeyState:
    """Make objects of a packed model; the subscription has new ones. O(edges + predictions)."""
    page = own.page
    assert page is not None
    slot, key, ints = int(own.slot), page.key, page.ints
    at = slot * int(page.ints_each)
    assert ints[at + TOUCHED] == 0, "a model is unpacked between events"
    _read(page, slot, own)
    queue = own.verification.open.of(key.run)
    page.outcomes.give(slot, queue)
    state = KeyState(own, key, own.forecaster.chain(), ints[at + SEEN], own.progress.elementary, queue)
    state.state, state.wake = ints[at + STATE], ints[at + WAKE]
    state.above, state.open = ints[at + ABOVE] == 1, ints[at + ISSUED] == 1
    for elementary in range(own.progress.elementary):
        state.waiting[elementary] = int(ints[at + WAITING + elementary])
    key.states[own.number] = state
    due = (page, slot)
    if due in key.due_models:
        key.due_models.remove(due)
        key.due.append(state)
    page.end(slot)
    if page.count == 0:
        key.pages.remove(page)
    own.page = None
    return state


def _page(form: ModelForm, stream: KeyedStream, key: StreamKey) -> ModelPage:
    """A page of the key with room for a model of that form."""
    for page in reversed(key.pages):
        if page.form is form and not page.full():
            return page
    page = ModelPage(form, stream, key)
    key.pages.append(page)
    return page


def _kinds(level: Level, form: ModelForm) -> list[int] | None:
    """Which rows are of what was counted; None if columns cannot hold the level."""
    successors = form.shape.successors
    assert successors is not None
    if 0 < len(level.rows) < form.states or len(level.table.generations) != 1 or level.table.generation != 0:
        return None
    if not level.rows:
        return [UNKNOWN] * int(form.states)
    fallbacks = form.shape.fallback
    return [
        int(row.targets == successors[state] or row.targets != (fallbacks[state],))
        for state, row in enumerate(level.rows)
    ]


def _write(
    page: ModelPage, slot: int, own: LearningObserver, state: KeyState, level: Level, kinds: list[int]
) -> None:
    form, ints, floats, verification = page.form, page.ints, page.floats, own.verification
    at, to = slot * int(page.ints_each), slot * int(page.floats_each)
    _clear(page, slot)
    ints[at + SINCE], ints[at + BASE] = own.since, own.bases.get(state.key.key, 0)
    ints[at + SEEN], ints[at + STATE], ints[at + WAKE] = state.seen, state.state, state.wake
    ints[at + ABOVE], ints[at + ISSUED] = int(state.above), int(state.open)
    for elementary, waiting in enumerate(state.waiting):
        ints[at + WAITING + elementary] = waiting
    rows, limits, moved = level.published()
    for number in range(form.states):
        floats[to + page.to_limits + number] = limits[number]
        ints[at + page.to_moved + number] = moved[number]
        ints[at + page.to_kinds + number] = kinds[number]
        ints[at + MOVED] += moved[number] < 0
    for number, row in enumerate(rows):
        place = form.place(number) * int(form.width)
        for target, chance in zip(row.targets, row.chances):
            floats[to + place + form.place(target)] = chance
        floats[to + page.to_weights + number] = row.weight
    for number, counted in level.table.rows.items():
        place = form.place(number) * int(form.width)
        for target, count in counted.items():
            ints[at + page.to_counts + place + form.place(target)] = count
    if own.notifier.is_used():
        page.notifiers[slot] = own.notifier
    page.outcomes.take(slot, verification.calibration, verification.after_match, state.predictions)


def _clear(page: ModelPage, slot: int) -> None:
    ints, floats = page.ints, page.floats
    at, to = slot * page.ints_each, slot * page.floats_each
    j: i64
    for j in range(at, at + page.ints_each):
        ints[j] = 0
    for j in range(to, to + page.floats_each):
        floats[j] = 0.0


def _read(page: ModelPage, slot: int, own: LearningObserver) -> None:
    """Have the subscription learn anew what its columns say."""
    form, ints, floats = page.form, page.ints, page.floats
    at, to = slot * int(page.ints_each), slot * int(page.floats_each)
    own.learn_anew()
    table = own.forecaster.pool.table
    for state in range(form.states):
        place = form.place(state) * int(form.width)
        for target in range(form.states):
            count = int(ints[at + page.to_counts + place + form.place(target)])
            if count > 0:
                table.put(0, state, target, count)
    if ints[at + page.to_kinds] != UNKNOWN:
        limits = [floats[to + page.to_limits + state] for state in range(form.states)]
        moved = [int(ints[at + page.to_moved + state]) for state in range(form.states)]
        own.forecaster.pool.publish_anew(page.rows(slot), limits, moved)
    notifier = page.notifiers[slot]
    if notifier is not None:
        own.notifier = notifier
    own.verification.calibration = page.outcomes.calibration(slot)
    after_match = page.outcomes.after_match[slot]
    if after_match is not None:
        own.verification.after_match = after_match
