"""A real browser for the tests of pages: Chromium, driven by Playwright; what it must not do; and axe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect, sync_playwright

from .chromium_package import MISSING, PACKAGE, SYSTEM

ROOT: Final = Path(__file__).parents[2]
BROUGHT: Final = ROOT / ".venv" / "chromium"
AXE: Final = ROOT / "tests" / "data" / "axe-core" / "axe.min.js"
ARGUMENTS: Final = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS: Final = 60_000
CLICKS_MAX: Final = 20
WIDE: Final = (1_280, 900)
NARROW: Final = (400, 800)
expect.set_options(timeout=PATIENCE_MS)


def chromium() -> tuple[str, dict[str, str]]:
    """The program, and the environment that it needs."""
    own = BROUGHT / "chromium"
    if own.exists():
        libraries, fonts = str(BROUGHT / "lib"), str(BROUGHT / "fonts.conf")
        return str(own), {"LD_LIBRARY_PATH": libraries, "FONTCONFIG_FILE": fonts}
    for name in SYSTEM:
        if os.path.exists(name):
            return name, {}
    pytest.fail(MISSING.format(package=PACKAGE))


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with nothing in it, that is ended with the block."""
    program, environment = chromium()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=program, args=ARGUMENTS, env={**os.environ, **environment}
        )
        yield launched
        launched.close()


@contextmanager
def page_of(
    browser: Browser, address: str, size: tuple[int, int] = WIDE, dark: bool = False, refused: bool = False
) -> Iterator[Page]:
    """A page in a profile of its own, which must ask no other host and report no error; with `refused` the server may
    refuse something, which the browser reports."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    wrong: list[str] = []
    host = urlsplit(address).netloc

    def asked(url: str) -> None:
        if urlsplit(url).scheme in ("http", "https", "ws") and urlsplit(url).netloc != host:
            wrong.append(f"asked {url}")

    page.on("request", lambda request: asked(request.url))
    def reported(text: str) -> None:
        if not (refused and "status of 4" in text):
            wrong.append(text)

    page.on("console", lambda message: reported(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(address)
    yield page
    assert wrong == []
    context.close()


def click_until(target: Locator, answer: Locator) -> None:
    """Click what may move while a page draws new matches, and again where the click met nothing, as people do."""
    for _ in range(CLICKS_MAX):
        target.click(force=True)
        try:
            answer.wait_for(timeout=PATIENCE_MS / CLICKS_MAX)
            return
        except TimeoutError:
            continue
    expect(answer).to_be_visible(timeout=0)


def violations(page: Page) -> list[str]:
    """What axe finds wrong with a page: rule and element."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("() => axe.run().then((found) => found.violations)")
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]


def overflow(page: Page) -> int:
    """By how many pixels a page is wider than its window."""
    root = "document.documentElement"
    return int(page.evaluate(f"() => {root}.scrollWidth - {root}.clientWidth"))
