"""The table of short texts, beside a dictionary."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker.events.batch import COMPILED
from broker.events.short_texts import NO_WORD, SHORT, UNKNOWN, ShortTexts, word_of

words = st.integers(1, 2**60)


@given(st.lists(st.tuples(st.sampled_from([1, 2, 256, 2**40, 2**56 + 7]) | words, st.integers(UNKNOWN, 9))))
def test_a_word_has_the_number_that_it_was_given_last(given: list[tuple[int, int]]) -> None:
    table, expected = ShortTexts(), {}
    for word, code in given:
        table.give(word, code)
        expected[word] = code
        assert table.code(word) == code
    for word, code in expected.items():
        assert table.code(word) == code


def test_words_that_have_lost_their_numbers_cost_no_room() -> None:
    table = ShortTexts()
    for word in range(1, 20_000):
        table.give(word, word)
        if word > 10:
            table.give(word - 10, UNKNOWN)
    assert [int(table.code(word)) for word in range(19_985, 20_000)] == [UNKNOWN] * 5 + list(range(19_990, 20_000))
    assert len(table._words) == 256


@given(st.text(max_size=9), st.text(max_size=9))
def test_texts_of_one_word_are_equal(one: str, other: str) -> None:
    if not COMPILED:
        assert word_of(one) == NO_WORD
    elif len(one) > SHORT or not one.isascii():
        assert word_of(one) == NO_WORD
    else:
        assert word_of(one) > 0
        assert (word_of(one) == word_of(other)) == (one == other)
