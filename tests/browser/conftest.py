"""The browser of a module's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from doubles.browser import browser
from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as launched:
        yield launched
