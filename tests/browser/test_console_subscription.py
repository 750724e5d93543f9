"""The page of one subscription in a real browser: counts that move, matches with their reasons, forecasts, versions."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from typing import Final

import pytest
from browser.test_console_pages import SUBSCRIPTIONS, configuration, free_port
from doubles.broker_process import BrokerProcess, broker_process
from doubles.browser import NARROW, WIDE, click_until, overflow, page_of, violations
from playwright.sync_api import Browser, Page, expect

from client import Client

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

MORE: Final = """
[subscriptions.told]
language = "cayuga"
query = "SELECT * FROM FILTER{price > 101}(Stock) NEXT{$2.name = $1.name} FILTER{price > 101}(Stock)"
forecast = { within = 3, threshold = 0.35 }

[subscriptions.changing]
language = "afa"
query = '''
FROM Stock BY name
START begin FINAL done
one: begin -> high WHEN price > 104
two: high -> done WHEN price < 99
WITHIN 10 min
'''
"""
MINUTE: Final = 60_000_000
BEGIN: Final = 1_700_000_000_000_000
PASSED: Final = count()
"""Minutes: time does not go back between tests."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A folder with the subscriptions, and the port of the console."""
    folder = tmp_path_factory.mktemp("console")
    (folder / "subscriptions.toml").write_text(SUBSCRIPTIONS + MORE)
    (folder / "subscriptions.toml").chmod(0o600)
    return folder, free_port()


@pytest.fixture(scope="module")
def broker(place: tuple[Path, int]) -> Iterator[BrokerProcess]:
    with broker_process(configuration(place, f'[journal]\npath = "{place[0]}/data"\n')) as running:
        with Client(running.address) as client:
            feed(client, 60)
        yield running


@pytest.fixture
def pages(place: tuple[Path, int]) -> str:
    return f"http://127.0.0.1:{place[1]}/subscriptions"


def feed(client: Client, minutes: int) -> None:
    """Some prices a minute that come back to 100."""
    chance = random.Random(minutes)
    for minute in islice(PASSED, minutes):
        rows = [(chance.choice(("AAPL", "FB", "IBM")), round(100 + chance.gauss(0, 4), 2)) for _ in range(4)]
        client.publish_batch("Stock", [BEGIN + minute * MINUTE + at for at in range(len(rows))], rows)


def greatest(page: Page, kind: str) -> int:
    """The greatest number on the states or arcs of the picture."""
    found = page.locator(f".tally.on-{kind} text").all_text_contents()
    return max(int(each.replace(",", "")) for each in found)


def test_counts_move_and_a_match_says_why(broker: BrokerProcess, chromium: Browser, pages: str) -> None:
    with Client(broker.address) as client, page_of(chromium, f"{pages}/pairs") as page:
        expect(page.locator(".tally.on-state").first).to_be_visible()
        before = greatest(page, "state")
        assert greatest(page, "arc") > 0
        assert page.locator("[data-state]").count() == 3
        expect(page.get_by_role("region", name="Last matches")).to_contain_text("None since this page looks")
        feed(client, 3)
        bars = page.locator(".timeline [role=option]")
        expect(bars.first).to_be_visible()
        expect(page.get_by_role("region", name="Matches a minute").locator("b")).to_have_text(re.compile("^[1-9]"))
        assert greatest(page, "state") > before, "the results at the end"
        reasons = page.get_by_role("group", name="Reasons")
        click_until(bars.first.locator("circle"), reasons.locator(".steps > li").first)
        expect(reasons.locator(".steps > li")).to_have_count(2)
        expect(reasons.locator(".event").first).to_contain_text("price")
        expect(reasons.locator(".yes").first).to_be_visible()
        assert violations(page) == []
        waiting = page.get_by_role("region", name="Waiting runs").locator("tbody tr")
        expect(waiting.first).to_contain_text(re.compile(r"(AAPL|FB|IBM).*b.*a \d+"))


def test_why_not_is_asked_by_keys_alone(broker: BrokerProcess, chromium: Browser, pages: str) -> None:
    with Client(broker.address) as client, page_of(chromium, f"{pages}/pairs") as page:
        client.publish("Stock", {"name": "LONE", "price": 150.0}, time=BEGIN + next(PASSED) * MINUTE)
        expect(page.get_by_role("cell", name="LONE")).to_be_visible()
        page.get_by_label("name", exact=True).focus()
        page.keyboard.type("LONE")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Why not")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Why not LONE")).to_be_focused()
        expect(page.get_by_role("group", name="Reasons")).to_contain_text("It waits for")
        moment = BEGIN + next(PASSED) * MINUTE
        client.publish_batch("Stock", [moment] * 2, [("LONE", 151.0), ("LONE", 152.0)])
        listbox = page.get_by_role("listbox", name="Matches on the timeline")
        shown = datetime.fromtimestamp(moment / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")
        expect(listbox.get_by_role("option", name=shown)).to_have_count(2)
        listbox.focus()
        page.keyboard.press("ArrowLeft")  # from the newest: those of other tests may be there, too
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=re.compile("^Why at 2023-"))).to_be_visible()
        expect(page.get_by_role("group", name="Reasons")).to_contain_text("LONE")
        assert violations(page) == []


def test_forecasts_have_their_quality_and_runs_a_probability(
    broker: BrokerProcess, chromium: Browser, pages: str
) -> None:
    with Client(broker.address) as client, page_of(chromium, f"{pages}/told") as page:
        region = page.get_by_role("region", name="Forecasts")
        expect(region.get_by_role("img", name=re.compile("^Reliability"))).to_be_visible()
        expect(region).to_contain_text(re.compile(r"Brier score0\.\d+"))
        feed(client, 12)
        expect(region.get_by_role("cell", name=re.compile("came true|did not")).first).to_be_visible()
        expect(page.get_by_role("region", name="Waiting runs")).to_contain_text("P(match)")
        expect(page.get_by_role("region", name="Waiting runs").locator("tbody tr").first).to_contain_text("%")
        assert (violations(page), overflow(page)) == ([], 0)


def test_versions_of_arcs_are_shown(broker: BrokerProcess, chromium: Browser, pages: str) -> None:
    with Client(broker.address) as client:
        client.update("changing", insert=["three: high -> high WHEN price > 110"], delete=["two"])
    with page_of(chromium, f"{pages}/changing") as page:
        versions = page.get_by_role("region", name="Versions")
        updates = versions.get_by_role("group", name="Updates of changing")
        expect(updates.get_by_role("cell", name=re.compile("^three: high"))).to_be_visible()
        expect(versions.get_by_role("group", name="Changes of changing")).to_contain_text("update")
        expect(page.locator(".tally.on-state").first).to_be_visible()
        page.get_by_text("How it runs now, and what it shares").click()
        expect(page.locator(".lines").first).to_contain_text("executor speculative")


@pytest.mark.verify
def test_the_list_is_chosen_by_language_and_moves(broker: BrokerProcess, chromium: Browser, pages: str) -> None:
    with Client(broker.address) as client, page_of(chromium, pages) as page:
        rows = page.get_by_role("region", name="Subscriptions").locator("tbody tr")
        expect(rows).to_have_count(4)
        page.get_by_label("Language").select_option("sase")
        expect(rows).to_have_count(1)
        expect(page).to_have_url(re.compile("language=sase"))
        feed(client, 2)
        expect(rows.first.get_by_role("cell").nth(3)).to_have_text(re.compile("^[1-9]"))


@pytest.mark.verify
def test_the_page_on_a_small_screen(broker: BrokerProcess, chromium: Browser, pages: str) -> None:
    looked_through(broker, chromium, pages, NARROW, True)


@pytest.mark.verify
@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_of_all_sizes(
    broker: BrokerProcess, chromium: Browser, pages: str, size: tuple[int, int], dark: bool
) -> None:
    looked_through(broker, chromium, pages, size, dark)


def looked_through(broker: BrokerProcess, chromium: Browser, pages: str, size: tuple[int, int], dark: bool) -> None:
    """The pages of subscriptions of three languages, with matches and a reason, by axe."""
    for name in ("pairs", "told", "changing"):
        with Client(broker.address) as client, page_of(chromium, f"{pages}/{name}", size, dark) as page:
            expect(page.locator(".tally").first).to_be_visible()
            feed(client, 8)
            if name != "changing":
                expect(page.locator("[data-match]").first).to_be_visible()
                page.locator("[data-match]").first.click()
                expect(page.get_by_role("group", name="Reasons").locator(".steps").first).to_be_visible()
            assert (name, violations(page), overflow(page)) == (name, [], 0)
