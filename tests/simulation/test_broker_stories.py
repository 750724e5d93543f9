"""Many simulated histories of a broker on its journal; each from one seed, which is named where one fails."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings
from simulation.broker_lives import Story

READER = ("replayed", "came again", "refused", "given up", "dead letters listed", "forgotten")
OPERATOR = (
    "move-cursor", "replace-subscription", "add-attribute", "delete-stream", "declared", "refused definition",
    "refused unsupported",
)  # fmt: skip
STORIES = max(200, 2 * settings().max_examples) if settings().max_examples >= 60 else 120


@pytest.mark.parametrize("part", range(4))
def test_nothing_answered_is_lost_or_taken_twice_and_matches_keep_their_ids(part: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(part, STORIES, 4):
        story = Story(seed)
        try:
            story.run()
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
        met.update(story.met)
    # Every kind of end and refusal is met in so many stories, whichever they are.
    kinds = ("answered", "notified", "repeated", "checked", "from a checkpoint", "closed", "killed")
    windows = ("notified of windows",)
    pieces = ("pieces", "waited", "ended within a batch")
    guest = ("guest attached", "guest read", "guest dead letters", "guest refused permission", "host feed.h", "reset")
    refused = ("host refused permission", "early")
    operator = [f"operator {each}" for each in OPERATOR]
    others = ("read", "acknowledged", "attached again", "dropped", "missed", "ended")
    for kind in (*kinds, *windows, *pieces, *guest, *refused, *others, *operator, *READER):
        assert met[kind] > 0, kind
