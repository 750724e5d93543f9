"""Takes the pictures of pages that the documents show: `python -m browser.pictures FOLDER`, as `make pictures` does.

Few colours are enough, and make small files. Look at them before they are committed.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Final

from doubles.browser import NARROW, browser, page_of
from doubles.playground_process import playground_process
from PIL import Image
from playwright.sync_api import Browser, Page, expect

SIZE: Final = (1_280, 860)
COLOURS: Final = 256


def save(page: Page, file: Path) -> None:
    """The window as a small PNG."""
    taken = Image.open(io.BytesIO(page.screenshot()))
    small = taken.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
    print(f"{file}: {file.stat().st_size // 1024} KiB")


def playground(chromium: Browser, folder: Path) -> None:
    """The playground: as it opens, why a match came, and on a small screen."""
    with playground_process() as running:
        with page_of(chromium, running.address, SIZE) as page:
            expect(page.locator("#timeline [role=option]").first).to_be_visible()
            expect(page.locator("#diagram svg")).to_be_visible()
            save(page, folder / "playground.png")
        with page_of(chromium, running.address, SIZE, dark=True) as page:
            page.get_by_label("Example").select_option("logins")
            expect(page.locator("#status")).to_contain_text("logins.jsonl")
            page.locator("#matches .ask").first.click()
            expect(page.locator("#reasons .steps").first).to_be_visible()
            page.locator("#matches").scroll_into_view_if_needed()
            page.mouse.wheel(0, 2_000)
            page.wait_for_timeout(500)
            save(page, folder / "playground-why.png")
        with page_of(chromium, running.address, NARROW) as page:
            expect(page.locator("#timeline [role=option]").first).to_be_visible()
            expect(page.locator("#diagram svg")).to_be_visible()
            save(page, folder / "playground-small.png")


def main() -> None:
    """Take all of them."""
    folder = Path(sys.argv[1])
    with browser() as chromium:
        playground(chromium, folder)


if __name__ == "__main__":
    main()
