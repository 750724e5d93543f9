"""The buffer of events that are not final is a sorted list of them, wherever an event is kept."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from broker.engine.disorder.buffer import ReorderBuffer
from broker.engine.disorder.held_columns import HeldColumns, HeldEvent
from broker.events.instant import FOREVER

TIMES = st.integers(0, 12)


def rows_of(columns: HeldColumns) -> list[HeldEvent]:
    return [columns.event(at) for at in range(len(columns.times))]


@given(st.data(), st.sampled_from([0, 1, 3, 512]))
def test_a_buffer_is_a_sorted_list(data: st.DataObject, near: int) -> None:
    """`near` decides only where an event is kept. Events of T are not known by their ids, which may be those of S."""
    buffer, model, known = ReorderBuffer(near), list[HeldEvent](), dict[int, HeldEvent]()
    arrival = safe = 0
    for _ in range(data.draw(st.integers(1, 25))):
        choice = data.draw(st.integers(0, 9))
        if choice < 6:
            stream = data.draw(st.sampled_from(["S", "S", "T"]))
            times = [safe + time for time in data.draw(st.lists(TIMES, max_size=8))]
            free = st.sampled_from([number for number in range(241) if stream == "T" or number not in known])
            ids = data.draw(st.lists(free, min_size=len(times), max_size=len(times), unique=stream == "S"))
            rows: list[tuple[Any, ...]] = [(arrival + at,) for at in range(len(times))]
            early = data.draw(st.integers(0, 1))
            starts = [time - early for time in times] if early else times
            before = buffer.dump()
            if stream == "S" and known and times and data.draw(st.booleans()):
                taken = [*ids[1:], data.draw(st.sampled_from([*known, *ids[1:]]))]
                assert buffer.add(stream, times, taken, starts, rows, True) is None
                assert buffer.dump() == before
            newest = buffer.add(stream, times, ids, starts, rows, stream == "S")
            assert newest == max(times, default=-FOREVER)
            for at, (time, number) in enumerate(zip(times, ids)):
                event = HeldEvent(time, number, stream, time - early, rows[at])
                model.append(event)
                if stream == "S":
                    known[number] = event
            arrival += len(times)
        elif choice < 8:
            safe += data.draw(TIMES)
            released = rows_of(buffer.release(safe))
            assert released == [event for event in model if event.time < safe]
            for event in released:
                buffer.count_out(event.stream, 1)
            model = [event for event in model if event.time >= safe]
            known = {number: event for number, event in known.items() if event.time >= safe}
        elif choice == 8:
            number = data.draw(st.sampled_from([*known, 241]))
            found = known.pop(number, None)
            assert buffer.find(number) == found
            assert buffer.withdraw(number) == found
            model = [event for event in model if event != found]
        elif data.draw(st.booleans()):
            again = ReorderBuffer(near)
            again.load(buffer.dump())
            assert again.dump() == buffer.dump()
            buffer = again
        else:
            stream = data.draw(st.sampled_from(["S", "T"]))
            buffer.forget(stream)
            model = [event for event in model if event.stream != stream]
            known = {number: event for number, event in known.items() if event.stream != stream}
        if data.draw(st.booleans()):  # from then on it counts
            assert buffer.of_others("S") == sum(event.stream != "S" for event in model)
        buffer.check_invariants()
        model.sort(key=lambda event: event[:2])
        assert len(buffer) == len(model)
        assert buffer.first() == (model[0].time if model else FOREVER)
        assert set(buffer.known) == set(known)
        begin = safe + data.draw(TIMES)
        assert list(buffer.since(begin)) == [event for event in model if event.time >= begin]
        assert buffer.before(begin) == [event for event in model if event.time < begin]
    buffer.widen("S", 2)
    assert all(event.row[1:] == ((None,) if event.stream == "S" else ()) for event in buffer.since(-FOREVER))
