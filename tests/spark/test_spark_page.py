"""The page on history tells what is: its examples are played in order, its commands in the session of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from integration.pages import ROOT, Player, blocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE: Final = ROOT / "docs" / "spark.md"
HERE: Final = ("foretell prepare", "foretell train", "foretell backtest")


def test_examples_give_what_the_page_shows(spark: SparkSession, tmp_path: Path) -> None:
    with Player(PAGE, tmp_path, HERE) as player:
        for block in blocks(PAGE):
            assert player.play(block), f"{PAGE.name}, line {block.line}: a block of unknown kind {block.info!r}"
