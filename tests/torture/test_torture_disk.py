"""A real broker whose disk loses power: all that was answered is there. The long form is torture.disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from torture.disk import History, attack, history

LOSSES = 4
LOSSES_MAX = 60
"""So many may go well with syncs left out before the test says that nobody misses them."""

pytestmark = pytest.mark.xdist_group("torture of a disk")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> History:
    return history(tmp_path_factory.mktemp("disk"), 1)


def test_what_was_answered_outlives_a_loss_of_power(whole: History, tmp_path: Path) -> None:
    assert attack(whole, LOSSES, 1, tmp_path)["losses of power"] == LOSSES


@pytest.mark.verify
@pytest.mark.parametrize("left_out", [".journal", ".checkpoint", "journal.mark", "folder"])
def test_syncs_that_are_left_out_are_missed(left_out: str, whole: History, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        attack(whole, LOSSES_MAX, 1, tmp_path, left_out)
