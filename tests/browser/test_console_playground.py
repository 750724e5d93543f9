"""The playground of a console in a real browser: on events of the broker's journal, and from a subscription of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.test_console_pages import configuration, free_port
from doubles.broker_process import broker_process
from doubles.browser import NARROW, WIDE, overflow, page_of, violations
from playwright.sync_api import Browser, expect

from broker.console.signing_in import digest
from client import Client

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

SUBSCRIPTIONS = """
[streams.Stock]
attributes = { name = "string", price = "float" }
key = "name"

[subscriptions.rise]
language = "cayuga"
query = "FILTER{price > 1.02 * price_1}(Stock NEXT{$2.name = $1.name} Stock)"
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The console of a broker whose journal has forty prices of two names, each 1 higher than the one before."""
    folder, port = tmp_path_factory.mktemp("playground"), free_port()
    (folder / "subscriptions.toml").write_text(SUBSCRIPTIONS)
    (folder / "subscriptions.toml").chmod(0o600)
    journal = f'[journal]\npath = "{folder}/data"\n'
    with broker_process(configuration((folder, port), journal)) as running, Client(running.address) as client:
        rows = [("IBM" if at % 2 else "FB", 20.0 + at) for at in range(40)]
        client.publish_batch("Stock", [1_700_000_000_000_000 + 60_000_000 * at for at in range(40)], rows)
        yield f"http://127.0.0.1:{port}"


@pytest.mark.verify
def test_events_of_the_journal_are_taken_by_keys(chromium: Browser, address: str) -> None:
    with page_of(chromium, f"{address}/playground") as page:
        expect(page.locator("#status")).to_contain_text("stocks.csv")
        expect(page.get_by_role("link", name="Playground")).to_have_attribute("aria-current", "page")
        expect(page.get_by_role("button", name="Subscribe: this console is read-only")).to_be_disabled()
        page.locator("#journal summary").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_label("Streams")).to_be_focused()
        expect(page.get_by_label("Streams")).to_have_values(["Stock"])  # the only one
        assert violations(page) == []
        page.get_by_role("button", name="Take events").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#status")).to_contain_text("40 events of Stock from the journal · 38 matches")
        assert "[streams.Stock]" in page.get_by_label("Subscription file").input_value()
        page.locator("#matches .ask").first.click()
        expect(page.locator("#reasons .steps > li")).to_have_count(2)


def test_a_change_of_a_subscription_is_tried(chromium: Browser, address: str) -> None:
    with page_of(chromium, f"{address}/subscriptions/rise") as page:
        page.get_by_role("link", name="Try a change in the playground").click()
        expect(page.locator("#status")).to_contain_text("40 events of Stock from the journal · 38 matches")
        area = page.get_by_label("Subscription file")
        assert area.input_value().startswith("# rise, as it is in the broker.")
        area.fill(area.input_value().replace("1.02", "1.05"))
        expect(page.locator("#status")).to_contain_text("20 matches")


@pytest.mark.parametrize(("size", "dark"), [pytest.param(WIDE, False, marks=pytest.mark.verify), (NARROW, True)])
def test_the_page_is_without_violations(chromium: Browser, address: str, size: tuple[int, int], dark: bool) -> None:
    with page_of(chromium, f"{address}/playground", size, dark) as page:
        expect(page.locator("#matches tbody tr").first).to_be_visible()
        page.locator("#journal summary").click()
        assert (violations(page), overflow(page)) == ([], 0)


@pytest.mark.verify
def test_without_a_token_it_leads_to_signing_in(chromium: Browser, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "subscriptions.toml").write_text(SUBSCRIPTIONS)
    (tmp_path / "subscriptions.toml").chmod(0o600)
    (tmp_path / "tokens").write_text(f"anybody {digest('a long secret')}\n")
    with broker_process(configuration((tmp_path, port), f'tokens = "{tmp_path}/tokens"\n')):
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/playground")
        expect(page).to_have_url(f"http://127.0.0.1:{port}/")
        expect(page.get_by_label("Your token")).to_be_visible()
        context.close()


def test_what_is_right_is_subscribed_after_a_dry_run(chromium: Browser, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "subscriptions.toml").write_text(SUBSCRIPTIONS)
    (tmp_path / "subscriptions.toml").chmod(0o600)
    with (
        broker_process(configuration((tmp_path, port), "writes = true\n")),
        page_of(chromium, f"http://127.0.0.1:{port}/playground?subscription=rise") as page,
    ):
        area = page.get_by_label("Subscription file")
        expect(area).to_have_value(re.compile("^# rise, as it is in the broker"))
        area.fill(area.input_value().replace("[subscriptions.rise]", "[subscriptions.steep]").replace("1.02", "1.1"))
        expect(page.get_by_role("radio", name=re.compile("^steep"))).to_have_attribute("aria-checked", "true")
        expect(page.get_by_role("button", name="Subscribe")).to_be_disabled()
        page.get_by_role("button", name="Dry run").click()
        page.get_by_role("button", name="Subscribe").click()
        expect(page.locator("#outcome")).to_contain_text("It is subscribed: steep")
        assert violations(page) == []
        page.get_by_role("link", name="steep").click()
        expect(page.locator(".query")).to_contain_text("1.1 * price_1")
