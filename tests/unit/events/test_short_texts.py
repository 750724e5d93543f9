"""The table of short texts, beside a dictionary."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker.events.batch import COMPILED
from broker.events.short_texts import NO_WORD, SHORT, UNKNOWN, ShortTexts, word_of

words = st.integers(1, 2**60)


@given(st.lists(st.tuples(st.sampled_from([1, 2, 256, 2**40, 2**56 + 7]) | words, st.integers(0, 9))))
def test_a_word_has_the_number_that_it_was_given_last(given: list[tuple[int, int]]) -> None:
    table, expected = ShortTexts(), {}
    for word, code in given:
        table.put(word, code)
        expected[word] = code
        assert table.code(word) == code
    assert table.count == len(expected)
    assert expected.get(3, UNKNOWN) == table.code(3)
    for word, code in expected.items():
        assert table.code(word) == code


@given(st.text(max_size=9), st.text(max_size=9))
def test_texts_of_one_word_are_equal(one: str, other: str) -> None:
    if not COMPILED:
        assert word_of(one) == NO_WORD
    elif len(one) > SHORT or not one.isascii():
        assert word_of(one) == NO_WORD
    else:
        assert word_of(one) > 0
        assert (word_of(one) == word_of(other)) == (one == other)
