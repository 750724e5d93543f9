"""Many simulated histories of a broker with disordered, changing streams; each from one seed, named where one fails."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings
from simulation.revision_lives import RevisionStory

STORIES = max(120, settings().max_examples)
MET = (
    "answered Publish", "answered Retract", "answered Punctuate", "answered Update", "refused alone", "repeated",
    "answered DeclareGap",
    "told match of afa", "told retraction of afa", "told match of window", "told retraction of window",
    "told punctuation", "by the clock", "checked", "from a checkpoint", "closed",
    "killed", "refused query", "refused definition", "replaced",
)  # fmt: skip


@pytest.mark.parametrize("part", range(4))
def test_after_any_end_insertions_and_retractions_are_those_of_a_run_without_one(part: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(part, STORIES, 4):
        story = RevisionStory(seed)
        try:
            story.run()
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
        met.update(story.met)
    for kind in MET:
        assert met[kind] > 0, (kind, met)
