"""Installs the streams and subscriptions of a file into an engine, in the order in which they read each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..language.subscription import SubscriptionDefinition
from .catalog import in_order
from .target import ALWAYS_SINCE

if TYPE_CHECKING:
    from .engine import Engine


def install_all(engine: Engine, definitions: Iterable[SubscriptionDefinition]) -> None:
    """Install subscriptions whose streams are declared or published by others of them. They see events of any time.

    O(size of the queries). Raises ForetellError without a place.
    """
    parsed = [engine.catalog.parse(definition) for definition in definitions]
    for one in parsed:
        engine.catalog.check_publish(one.definition.name, one.publish)
    for one in in_order(parsed):
        engine.install(one, ALWAYS_SINCE)
