"""Benchmarks of growth measure what they say: the first queries are those of the pages, and find what fits them."""

from __future__ import annotations

import pytest

from benchmarks.growth.first_queries import FIRST, HEAD, ROUNDS, lines, subscription
from benchmarks.growth.first_queries_trial import BATCH, Figures, loaded, measure

COUNT = 120


def figures(language: str, keys: int, rounds: int, **limits: float) -> Figures:
    job = {"language": language, "text": subscription(language), "keys": keys, "rounds": rounds}
    return measure({**job, "seconds": 60.0, "megabytes": 4_096, **limits})


@pytest.mark.parametrize(
    ("language", "one", "many"),
    [
        ("cayuga", COUNT // 2, 2 * COUNT),
        ("sase", COUNT - 3, COUNT),
        ("ptopss", 1, COUNT),
        ("afa", COUNT // 2, 2 * COUNT),
        ("window", COUNT // 3, COUNT * ROUNDS // 3),
    ],
)
def test_each_first_query_has_matches_of_one_key_and_of_many(language: str, one: int, many: int) -> None:
    of_one, of_many = figures(language, 1, COUNT), figures(language, COUNT, ROUNDS)
    assert [of_one["events"], of_many["events"]] == [COUNT, ROUNDS * COUNT]
    assert [of_one["matches"], of_many["matches"]] == [one, many]
    rows = list(lines(language, of_one, of_many, COUNT))
    assert [row.count("|") for row in rows] == [HEAD[0].count("|")] * 2


def test_the_queries_are_in_the_languages_that_they_stand_for() -> None:
    for language in FIRST:
        (found,) = loaded(subscription(language)).subscriptions.values()
        assert found.language == language


def test_what_takes_too_long_is_given_up() -> None:
    found = figures("cayuga", 1, 3 * BATCH, seconds=0.0)
    assert (found["events"], found["given_up"]) == (BATCH, "0 s")
