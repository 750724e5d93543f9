"""What can be said comes back as it was; everything else is a WireError with a reason, and never anything worse."""

from __future__ import annotations

import math
import re
import tracemalloc
from dataclasses import replace
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.messages import messages

from broker.wire import (
    BATCH_EVENTS_MAX,
    FRAME_BYTES_MAX,
    RESULT_BYTES_MAX,
    TEXT_BYTES_MAX,
    VERSION,
    Hello,
    Message,
    Notifications,
    Publish,
    Published,
    Refusal,
    StatisticsReport,
    Subscribe,
    WireError,
    decode,
    decode_result,
    encode,
    encode_result,
)
from broker.wire.limits import MAP_LENGTH_MAX
from broker.wire.messages import TABLE, Numbered, Timed


@given(messages)
def test_every_message_comes_back_as_it_was(message: Message) -> None:
    assert decode(encode(message)) == message


@settings(max_examples=10 * settings().max_examples)
@given(messages, st.integers(0, 2**63 - 1), st.booleans())
def test_given_fields_are_sent_instead_of_the_messages_own(message: Any, number: int, numbered: bool) -> None:
    fields: dict[str, Any] = {"deadline": number} if isinstance(message, Timed) else {}
    if numbered and isinstance(message, Numbered):
        fields |= {"publisher": "p", "number": number}
    before = encode(message)
    assert encode(message, fields) == encode(replace(message, **fields))
    assert encode(message) == before


def test_the_strategy_knows_every_message() -> None:
    assert len(messages.branches) == len(TABLE)


@settings(max_examples=10 * settings().max_examples)
@given(st.binary(max_size=200))
def test_random_bytes_are_a_message_or_a_wire_error(garbage: bytes) -> None:
    _only_wire_errors(garbage)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=4)
    | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3) | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=10 * settings().max_examples)
@given(st.sampled_from(sorted(TABLE)) | st.integers(-1, 80), st.lists(plain, max_size=9))
def test_well_formed_nonsense_is_a_message_or_a_wire_error(number: int, rest: list[Any]) -> None:
    _only_wire_errors(msgpack.packb([number, *rest]))


@settings(max_examples=10 * settings().max_examples)
@given(messages, st.data())
def test_a_damaged_frame_is_a_message_or_a_wire_error(message: Message, data: st.DataObject) -> None:
    frame = bytearray(encode(message))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(frame) - 1))
        frame[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(frame)))
    _only_wire_errors(bytes(frame))
    _only_wire_errors(bytes(frame[:cut]))


def _only_wire_errors(garbage: bytes) -> None:
    for read in (decode, decode_result):
        try:
            read(garbage)
        except WireError as error:
            reason = str(error)
        else:
            continue
        assert reason
        assert "\n" not in reason


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"", "incomplete input"),
        (b"\xc1", "not msgpack"),
        (b"\x93\x01\x07", "incomplete input"),
        (msgpack.packb(7), "expected an array"),
        (msgpack.packb([1]), "expected an array"),
        (msgpack.packb({"a": 1}), "expected an array"),
        (msgpack.packb([1, -1]), "correlation"),
        (msgpack.packb([1, 2**63]), "correlation"),
        (msgpack.packb([1, True]), "correlation"),
        (msgpack.packb([999, 7]), "the type"),
        (msgpack.packb(["1", 7]), "the type"),
        (msgpack.packb([True, 7]), "the type"),
        (msgpack.packb([3, 7, None]), "Ping: expected 0 fields, found 1"),
        (msgpack.packb([7, 7]), "Unsubscribe: expected 1 fields, found 0"),
        (
            msgpack.packb([7, 7, b"x"]),
            "Unsubscribe.name: expected a string of at most 256 characters, found a byte string",
        ),
        (msgpack.packb([7, 7, "x" * 257]), "Unsubscribe.name"),
        (msgpack.packb([8, 7, "x", 0]), "Credit.credits"),
        (msgpack.packb([8, 7, "x", 1_000_001]), "Credit.credits"),
        (msgpack.packb([5, 7, "S", [1, 2], [[1]], *[None] * 6]), "Publish.times: expected 1 values"),
        (msgpack.packb([5, 7, "S", 1, [[1]], *[None] * 6]), "Publish.times: expected an array or"),
        (msgpack.packb([5, 7, "S", [1], 1, *[None] * 6]), "Publish.rows: expected an array or a byte string"),
        (msgpack.packb([5, 7, "S", [1], [[1]], [True], *[None] * 5]), "Publish.ids"),
        (msgpack.packb([5, 7, "S", [1], [[1]], None, [2**63], *[None] * 4]), "Publish.starts"),
        (msgpack.packb([5, 7, "S", [1], [[1]], [1, 2], *[None] * 5]), "Publish.ids: expected 1 values"),
        (msgpack.packb([5, 7, "S", [1], [[1]], None, [1, 2], *[None] * 4]), "Publish.starts: expected 1 values"),
        (msgpack.packb([39, 7, {"a": math.nan}]), "StatisticsReport.groups"),
        (msgpack.packb([39, 7, {"a": math.inf}]), "StatisticsReport.groups"),
        (msgpack.packb([39, 7, {"a": [[[[[[[[[1]]]]]]]]]}]), "StatisticsReport.groups"),
        (msgpack.packb([39, 7, {"a": [[[[[[[1]]]]]]]}]), "StatisticsReport.groups"),
        (msgpack.packb([39, 7, {"a": b"bytes"}]), "StatisticsReport.groups"),
        (b"\x93\x27\x07\x82\xa1a\x01\xa1a\x02", "each key of a map once"),
        (b"\x93\x27\x07\x81\x01\x02", "int is not allowed for map key"),
        (b"\x93\x27\x07\xd4\x05\x00", "max_ext_len"),
        (b"\x93\x27\x07\xc7\x00\x05", "no extension type"),
        (b"\x93\x27\x07\xd6\xff\x00\x00\x00\x00", "max_ext_len"),
        (b"\x93\x21\x07\xa2\xff\xff", "utf-8"),
        (b"\xdd\x05\xff\xff\xff", "max_array_len"),
        (b"\x91" * 5_000, "not msgpack within the limits"),
        (b"\x81\xa1a" * 5_000, "not msgpack within the limits"),
        (msgpack.packb([39, 7, {str(n): n for n in range(MAP_LENGTH_MAX + 1)}]), "max_map_len"),
        (msgpack.packb([5, 7, "S", None, [[]] * (BATCH_EVENTS_MAX + 1), *[None] * 6]), "max_array_len"),
        (msgpack.packb([66, 0, "x" * (TEXT_BYTES_MAX + 1)]), "max_str_len"),
        (bytes(FRAME_BYTES_MAX + 1), "bytes, expected at most"),
    ],
)
def test_what_is_no_message_is_refused_with_its_reason(frame: bytes, reason: str) -> None:
    with pytest.raises(WireError, match=re.escape(reason)):
        decode(frame)


def test_values_as_deep_as_is_promised_are_taken() -> None:
    deepest = StatisticsReport(7, {"a": ((((((1,),),),),),)})
    assert decode(encode(deepest)) == deepest


@pytest.mark.parametrize("values", [[7, 41, None], [7, 41], [999, 41], [5, 41, "S", [1, 2], [[1]], *[None] * 5]])
def test_a_readable_correlation_comes_with_the_error(values: list[Any]) -> None:
    with pytest.raises(WireError) as caught:
        decode(msgpack.packb(values))
    assert caught.value.correlation == 41


def test_hello_of_another_version_is_readable_whatever_else_it_says() -> None:
    assert decode(msgpack.packb([1, 7, VERSION + 1, {"new": "field"}, 3])) == Hello(7, VERSION + 1, "")


def test_times_and_rows_are_left_to_whoever_takes_the_events() -> None:
    batch = decode(msgpack.packb([5, 7, "S", [1, "x"], [[math.inf, b"x", [1]], None], *[None] * 6]))
    assert isinstance(batch, Publish)
    taken: tuple[Any, Any] = batch.times, batch.rows
    assert taken == ((1, "x"), ((math.inf, b"x", (1,)), None))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (Subscribe(9, "a", "cayuga", "x" * FRAME_BYTES_MAX, None, None, None, 1), "Subscribe takes 1,048,"),
        (Subscribe(9, "a", "cayuga", "x" * (TEXT_BYTES_MAX + 1), None, None, None, 1), "max_str_len"),
        (Publish(9, "S", (2**64,), ((1,),), None, None), "Publish cannot be encoded"),
        (Publish(9, "S", (1,), (("\ud800",),), None, None), "Publish cannot be encoded"),
        (StatisticsReport(9, {"a": object()}), "StatisticsReport cannot be encoded"),
    ],
)
def test_what_the_other_end_would_refuse_is_not_sent(message: Message, reason: str) -> None:
    with pytest.raises(WireError, match=re.escape(reason)):
        encode(message)


def test_a_batch_refused_as_a_whole_with_reasons_fits_a_frame() -> None:
    reason = f"expected a time of {-(2**61)} or later, found {-(2**61)}"
    answer = Published(7, 0, None, None, tuple(Refusal(n, "late", reason) for n in range(BATCH_EVENTS_MAX)))
    assert decode(encode(answer)) == answer


def test_full_notifications_fit_a_frame() -> None:
    largest = Notifications(0, "n" * 128, 1, tuple([bytes(127)] * 1_023 + [bytes(RESULT_BYTES_MAX)]))
    assert decode(encode(largest)) == largest


def test_results_come_back_as_json_would_have_them() -> None:
    line = {
        "kind": "match",
        "subscription": "s",
        "lineage": [1, 2],
        "bindings": {"a": [1]},
        "data": {"x": 1.5, "y": None},
    }
    assert decode_result(encode_result(line)) == line


@pytest.mark.parametrize("line", [{"x": "y" * RESULT_BYTES_MAX}, {"x": 2**64}, {"x": object()}, {"x": "\ud800"}])
def test_a_result_that_cannot_be_sent_is_a_wire_error(line: dict[str, Any]) -> None:
    with pytest.raises(WireError, match="a result"):
        encode_result(line)


def test_the_worst_frame_is_read_in_bounded_memory() -> None:
    # One-byte maps inside of allowed arrays: the most that msgpack builds of a frame before a field can be judged.
    rows = b"\xdc\x20\x00" + (b"\xdc\x00\x7c" + b"\x80" * 124) * 8_192
    frame = b"\x9b\x05\x07\xa1S\xc0" + rows + b"\xc0" * 6
    assert len(frame) <= FRAME_BYTES_MAX
    tracemalloc.start()
    try:
        assert isinstance(decode(frame), Publish)  # the schema will refuse its values
        assert tracemalloc.get_traced_memory()[1] < 100 * 1024 * 1024
    finally:
        tracemalloc.stop()


@given(st.integers(0, 2**200), st.integers(0, 2**70))
def test_counts_of_any_size_come_back_as_they_were(tuples: int, missed: int) -> None:
    line = {"kind": "match", "subscription": "s", "tuples": tuples, "missed": missed}
    before = dict(line)
    frame = encode_result(line)
    assert decode_result(frame) == line == before
    raw = msgpack.unpackb(frame)
    for name, count in (("tuples", tuples), ("missed", missed)):
        assert raw[name] == (count if count < 2**63 else str(count))


@pytest.mark.parametrize(
    "digits", ["", "-1", "1e9", "1_000", " 1", "\u0661", "1" * 4_301, "x", 1.5, True, None, [1], {}]
)
def test_a_count_that_is_none_is_refused(digits: Any) -> None:
    with pytest.raises(WireError, match=r"a result's tuples: expected an integer or at most 4,300 decimal digits"):
        decode_result(msgpack.packb({"kind": "match", "subscription": "s", "tuples": digits}))


@pytest.mark.parametrize("count", [10**4_300, -(10**4_300), 1.5, True, None, "7"], ids=type)
def test_a_count_that_cannot_be_told_is_refused(count: Any) -> None:
    with pytest.raises(WireError, match="a result cannot be encoded"):
        encode_result({"kind": "match", "subscription": "s", "tuples": count})


def test_other_integers_beyond_64_bits_are_refused() -> None:
    with pytest.raises(WireError, match="a result cannot be encoded"):
        encode_result({"kind": "match", "subscription": "s", "data": {"tuples": 2**64}})
