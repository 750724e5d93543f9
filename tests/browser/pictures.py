"""Takes the pictures of pages that the documents show: `python -m browser.pictures FOLDER`, as `make pictures` does.

Few colours are enough, and make small files. Look at them before they are committed.
"""

from __future__ import annotations

import io
import random
import sys
import tempfile
from pathlib import Path
from typing import Final

from browser.test_console_pages import SUBSCRIPTIONS, configuration, free_port
from browser.test_console_subscription import MORE
from doubles.broker_process import broker_process
from doubles.browser import NARROW, browser, page_of
from doubles.playground_process import playground_process
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from client import Client

SIZE: Final = (1_280, 860)
TALL: Final = (1_280, 1_150)
COLOURS: Final = 256
PAGES: Final = {
    "streams": "Last events of Stock", "subscriptions": "Subscriptions", "program": "Machines", "clients": "Clients",
    "users": "Users",
}  # fmt: skip
"""Pages of the console with a part that has rows."""


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


def console(chromium: Browser, folder: Path) -> None:
    """The console of a broker that is fed with prices: the overview, and subscriptions, also on a small screen."""
    with tempfile.TemporaryDirectory() as place:
        subscriptions = Path(place, "subscriptions.toml")
        subscriptions.write_text(SUBSCRIPTIONS + MORE)
        subscriptions.chmod(0o600)
        own = Path(place), free_port()
        address = f"http://127.0.0.1:{own[1]}"
        with (
            broker_process(configuration(own, f'writes = true\n[journal]\npath = "{place}/data"\n')) as broker,
            Client(broker.address) as client,
            client.subscribe("watched", query="FILTER{price > 1.03 * price_1}(Stock NEXT{$2.name = $1.name} Stock)"),
            page_of(chromium, f"{address}/", SIZE) as page,
            page_of(chromium, f"{address}/subscriptions/pairs", TALL) as pairs,
            page_of(chromium, f"{address}/subscriptions/pairs", NARROW, dark=True) as small,
            page_of(chromium, f"{address}/subscriptions/told", SIZE, dark=True) as told,
        ):
            chance, prices = random.Random(5), dict.fromkeys(("AAPL", "FB", "GOOG", "IBM"), 100.0)
            for second in range(60):
                names = [chance.choice(list(prices)) for _ in range(20 + second % 13)]
                for name in names:
                    prices[name] = 100 + 0.9 * (prices[name] - 100) + chance.gauss(0, 2)
                times = [1_700_000_000_000_000 + 60_000_000 * second + at for at in range(len(names))]
                client.publish_batch("Stock", times, [(name, round(prices[name], 2)) for name in names])
                page.wait_for_timeout(500)
            save(page, folder / "console.png")
            for name, rows in PAGES.items():
                page.goto(f"{address}/{name}")
                if name == "streams":
                    page.get_by_role("button", name="Tail Stock").click()
                expect(page.get_by_role("region", name=rows).locator("tbody tr").first).to_be_visible()
                page.wait_for_timeout(2_500)
                save(page, folder / f"console-{name}.png")
            changed(chromium, f"{address}/subscriptions/watched", folder)
            for each in (pairs, small):
                expect(each.locator("[data-match]").first).to_be_visible()
                each.locator("[data-match]").first.click()
                expect(each.get_by_role("group", name="Reasons").locator(".steps").first).to_be_visible()
            save(pairs, folder / "console-subscription.png")
            small.evaluate("scrollTo(0, 0)")
            save(small, folder / "console-small.png")
            region = told.get_by_role("region", name="Forecasts")
            expect(region.get_by_role("cell", name="came true").first).to_be_visible()
            region.evaluate("(region) => region.scrollIntoView()")
            save(told, folder / "console-forecasts.png")


def changed(chromium: Browser, address: str, folder: Path) -> None:
    """A subscription gets another constant: the dry run."""
    with page_of(chromium, address, SIZE) as page:
        card = page.get_by_role("region", name="Change watched")
        card.get_by_label("FILTER{price >").fill("1.05")
        card.get_by_role("button", name="Dry run").click()
        expect(card.locator(".outcome")).to_be_visible()
        card.scroll_into_view_if_needed()
        page.mouse.wheel(0, 2_000)
        page.wait_for_timeout(500)
        save(page, folder / "console-change.png")


def main() -> None:
    """Take all of them."""
    folder = Path(sys.argv[1])
    with browser() as chromium:
        playground(chromium, folder)
        console(chromium, folder)


if __name__ == "__main__":
    main()
