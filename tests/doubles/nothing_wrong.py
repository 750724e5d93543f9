"""What `foretell run` says on standard error where nothing is wrong: nothing, or that its engine is not compiled."""

from __future__ import annotations

from typing import Final

from broker.build import COMPILED, UNCOMPILED, build

NOTHING_WRONG: Final = "" if build() == COMPILED else f"foretell: {UNCOMPILED}\n"
