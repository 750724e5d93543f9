"""What a person changes by the console of a real broker in a real browser, by the keyboard alone where it says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from browser.test_console_pages import SUBSCRIPTIONS, configuration, free_port
from doubles.broker_process import BrokerProcess, broker_process
from doubles.browser import NARROW, WIDE, overflow, page_of, violations
from playwright.sync_api import Browser, Page, expect

from client import Client

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

ARCS: Final = """
[streams.Reading]
attributes = { sensor = "string", x = "int?", ok = "bool?" }
disorder = "speculate"

[subscriptions.high]
language = "afa"
query = "FROM Reading START a FINAL b up: a -> b WHEN x > 5"
"""
RISING: Final = "FILTER{price > 2 * price_1}(Stock NEXT{$2.name = $1.name} Stock)"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"http://127.0.0.1:{free_port()}"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, address: str) -> Iterator[BrokerProcess]:
    folder: Path = tmp_path_factory.mktemp("changes")
    (folder / "subscriptions.toml").write_text(SUBSCRIPTIONS + ARCS)
    (folder / "subscriptions.toml").chmod(0o600)
    with broker_process(configuration((folder, int(address.rpartition(":")[2])), "writes = true\n")) as running:
        yield running


def until_focused(page: Page, name: str) -> None:
    """Press Tab until the element of this name, which is there or comes soon, has the focus."""
    button, link = [page.get_by_role(role, name=name, exact=True) for role in ("button", "link")]
    expect(button.or_(link).first).to_be_enabled()
    for _ in range(60):
        if page.evaluate(
            "([name]) => (document.activeElement.ariaLabel ?? document.activeElement.textContent) === name", [name]
        ):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"nothing is {name!r} by the keyboard")


def test_a_subscription_is_made_tried_and_ended_by_keys(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    with page_of(chromium, f"{address}/subscriptions") as page:
        until_focused(page, "Subscribe…")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Name")).to_be_focused()
        page.keyboard.type("typed")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.type(RISING.replace("price >", "prise >"))
        finding = page.locator("#findings li")
        expect(finding).to_have_text(re.compile(r"^error in line 1 .*did you mean 'price'"))
        page.get_by_label("Query").fill(RISING)
        expect(finding).to_have_count(0)
        page.get_by_label("Query").focus()
        until_focused(page, "Dry run")
        page.keyboard.press("Enter")
        expect(page.locator(".outcome")).to_contain_text("nothing has changed")
        assert violations(page) == []
        until_focused(page, "Subscribe")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="typed").click()
        expect(page.get_by_role("region", name="Versions")).to_contain_text("subscribe")
        page.get_by_role("button", name="Unsubscribe").focus()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("the subscription ends")
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        page.keyboard.press("Enter")
        until_focused(page, "Unsubscribe")
        expect(dialog.get_by_role("button", name="Unsubscribe")).to_be_enabled()
        dialog.get_by_role("button", name="Unsubscribe").press("Enter")
        expect(page).to_have_url(f"{address}/subscriptions")
        expect(page.get_by_role("link", name="typed")).to_have_count(0)


def test_an_event_is_published_and_a_mistake_is_at_its_field(
    broker: BrokerProcess, chromium: Browser, address: str
) -> None:
    with Client(broker.address) as client, page_of(chromium, f"{address}/streams", refused=True) as page:
        client.publish_batch("Stock", [1_000, 1_500], [("IBM", 1.0), ("IBM", 2.0)])  # an event waits for time to pass
        page.get_by_role("button", name="Tail Stock").click()
        form = page.get_by_role("region", name="Publish on Stock")
        form.get_by_label("name string").fill("IBM")
        form.get_by_label("price float").fill("2.5")
        form.get_by_label("time").fill("2000")
        form.get_by_role("button", name="Dry run").click()
        expect(form.get_by_role("status")).to_contain_text("1 result of rise")
        form.get_by_role("button", name="Publish").click()
        expect(form.get_by_role("status")).to_contain_text(re.compile(r"Accepted as event \d+"))
        last = page.get_by_role("region", name="Last events of Stock").locator("tbody tr").first
        expect(last).to_contain_text("price 2.5")
        form.get_by_label("time").fill("5")
        form.get_by_role("button", name="Publish").click()
        expect(form.get_by_label("time")).to_have_attribute("aria-invalid", "true")
        expect(form.get_by_label("time")).to_be_focused()
        page.get_by_role("button", name="Look again").click()
        expect(page.get_by_role("region", name="Refused events of Stock")).to_contain_text("expected a time of 2000")
        assert violations(page) == []


@pytest.mark.verify
def test_a_wrong_value_is_refused_at_its_field(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    with page_of(chromium, f"{address}/streams", refused=True) as page:
        page.get_by_role("button", name="Tail Reading").click()
        form = page.get_by_role("region", name="Publish on Reading")
        form.get_by_label("x int?").fill("many")
        form.get_by_role("button", name="Publish").click()
        expect(form.locator(".bad", has_text="expected a whole number of 64 bits, found string 'many'")).to_be_visible()


def test_a_constant_is_changed_after_a_dry_run(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    with (
        Client(broker.address) as client,
        client.subscribe("rising", query=RISING),
        page_of(chromium, f"{address}/subscriptions/rising") as page,
    ):
        card = page.get_by_role("region", name="Change rising")
        apply = card.get_by_role("button", name="Apply")
        expect(apply).to_be_disabled()
        card.get_by_label("FILTER{price >").fill("3")
        card.get_by_role("button", name="Dry run").click()
        expect(card.locator("ins")).to_contain_text("price > 3 * price_1")
        expect(card.locator(".outcome")).to_contain_text("it concerns 1 client")
        apply.click()
        expect(card.get_by_role("status")).to_have_text("It has the new text.")
        page.reload()
        expect(page.locator(".query").first).to_contain_text("price > 3 * price_1")
        expect(page.get_by_role("region", name="Versions").locator("ins")).to_contain_text("3 * price_1")


@pytest.mark.verify
def test_arcs_are_changed_after_a_dry_run(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    with Client(broker.address) as client, page_of(chromium, f"{address}/subscriptions/high") as page:
        client.publish_batch("Reading", [10_000, 20_000, 30_000], [("s", 7, None), ("s", 8, None), ("s", 9, None)])
        card = page.get_by_role("region", name="Arcs of high")
        card.get_by_label("Delete arcs by name").fill("up")
        card.get_by_label("For events from").fill("20000")
        card.get_by_role("button", name="Dry run").click()
        expect(card.locator(".outcome")).to_contain_text("2 earlier results would be withdrawn")
        card.get_by_role("button", name="Update").click()
        expect(card.get_by_role("status")).to_have_text("The arcs are changed.")
        page.reload()
        expect(page.get_by_role("group", name="Updates of high").locator("tbody tr")).to_have_count(1)


PAGES: Final = ("/subscribe", "/users", "/clients", "/subscriptions/high", "/streams")


@pytest.mark.verify
def test_pages_that_change_are_without_violations(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    looked_through(chromium, address, NARROW, True)


@pytest.mark.verify
@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("dark", [False, True])
def test_pages_that_change_of_all_sizes_are_without_violations(
    broker: BrokerProcess, chromium: Browser, address: str, size: tuple[int, int], dark: bool
) -> None:
    looked_through(chromium, address, size, dark)


def looked_through(chromium: Browser, address: str, size: tuple[int, int], dark: bool) -> None:
    """Every page, with axe."""
    for path in PAGES:
        with page_of(chromium, address + path, size, dark) as page:
            expect(page.locator("main .card").first).to_be_visible()
            page.wait_for_timeout(1_500)
            if path == "/streams":
                page.get_by_role("button", name="Tail Reading").click()
                expect(page.get_by_role("region", name="Publish on Reading")).to_be_visible()
            assert (path, violations(page), overflow(page)) == (path, [], 0)
