"""The console of a real broker in a real browser: values that move, search, tokens, and a broker that begins anew."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from doubles.broker_process import BrokerProcess, broker_process
from doubles.browser import NARROW, WIDE, overflow, page_of, violations
from playwright.sync_api import Browser, Page, expect

from broker.console.signing_in import digest
from client import Client

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

SUBSCRIPTIONS: Final = """
[streams.Stock]
attributes = { name = "string", price = "float" }
key = "name"

[subscriptions.rise]
language = "cayuga"
query = "FILTER{price > price_1}(Stock NEXT{$2.name = $1.name} Stock)"

[subscriptions.pairs]
language = "sase"
query = '''
PATTERN SEQ(Stock a, Stock b)
WHERE skip_till_next_match(a, b) { [name] AND a.price < b.price AND a.price > 100 }
WITHIN 10 min
'''
"""
PAGES: Final = ("/", "/streams", "/subscriptions", "/subscriptions/pairs", "/program", "/clients", "/users")
PATIENCE_MS: Final = 60_000


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A folder with the subscriptions, and the port of the console."""
    folder = tmp_path_factory.mktemp("console")
    (folder / "subscriptions.toml").write_text(SUBSCRIPTIONS)
    (folder / "subscriptions.toml").chmod(0o600)
    return folder, free_port()


def configuration(place: tuple[Path, int], more: str = "") -> str:
    folder, port = place
    return f'address = "tcp://127.0.0.1:0"\nsubscriptions = "{folder}/subscriptions.toml"\n[console]\naddress = "http://127.0.0.1:{port}"\n{more}'


@pytest.fixture(scope="module")
def broker(place: tuple[Path, int]) -> Iterator[BrokerProcess]:
    with broker_process(configuration(place)) as running:
        yield running


@pytest.fixture
def address(place: tuple[Path, int]) -> str:
    return f"http://127.0.0.1:{place[1]}"


def test_values_move_and_a_stream_is_looked_at(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    with Client(broker.address) as client, page_of(chromium, address) as page:
        expect(page.locator("#status")).to_contain_text("up ")
        for at in range(60):
            client.publish_batch("Stock", [10 * at, 10 * at + 1], [("IBM", 100.0 + at), ("FB", 90.0 + at)])
            page.wait_for_timeout(60)
        busy = page.get_by_role("region", name="Busiest streams")
        expect(busy.get_by_role("cell", name=re.compile(r"^[1-9]")).first).to_be_visible()
        expect(page.get_by_role("region", name="Events a second").locator("b")).to_have_text(re.compile(r"\d"))
        page.get_by_role("link", name="Streams").click()
        page.get_by_role("button", name="Tail Stock").click()
        expect(page.get_by_role("region", name="Last events of Stock").locator("tbody tr")).to_have_count(20)
        page.get_by_label("Filter").fill("fb")
        expect(page.get_by_role("region", name="Last events of Stock").locator("tbody tr")).to_have_count(10)
        client.publish("Stock", {"name": "FB", "price": 1.0}, time=1_000)
        expect(page.get_by_role("region", name="Last events of Stock").locator("tbody tr")).to_have_count(11)


def test_a_stream_that_others_wait_for_says_so(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    with Client(broker.address) as client:
        client.add_stream("Late", {"n": "int"}, disorder="buffer")
        client.add_stream("Held", {"n": "int"})
        with client.subscribe("both", "sase", "PATTERN SEQ(Late a, Held b) WITHIN 2 s"):
            client.publish("Late", {"n": 1}, time=1_001)
            client.publish_batch("Held", [1_002, 1_003], [(1,), (2,)])
            with page_of(chromium, f"{address}/streams") as page:
                said = page.get_by_role("row").filter(has_text="Late")
                expect(said).to_contain_text(re.compile(r"2 events of related streams wait for .* since \d+ s"))
                expect(page.locator(".warned")).to_have_count(1)
                assert violations(page) == []


def test_subscriptions_are_searched_and_opened_by_keys(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    with page_of(chromium, f"{address}/subscriptions") as page:
        rows = page.get_by_role("region", name="Subscriptions").locator("tbody tr")
        expect(rows).to_have_count(2)
        page.get_by_label("Search names").focus()
        page.keyboard.type("pai")
        expect(rows).to_have_count(1)
        for _ in range(4):
            page.keyboard.press("Tab")
            if page.get_by_role("link", name="pairs").evaluate("(link) => link === document.activeElement"):
                break
        page.keyboard.press("Enter")
        expect(page.locator(".diagram svg")).to_be_visible()
        expect(page.locator(".query .word").first).to_have_text("PATTERN")
        expect(page).to_have_url(f"{address}/subscriptions/pairs")
        page.go_back()
        expect(page.get_by_label("Search names")).to_have_value("pai")


def test_the_program_is_drawn_and_says_what_runs_what(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    with page_of(chromium, f"{address}/program") as page:
        merged = page.get_by_role("region", name="Merged automata")
        expect(merged.locator("svg")).to_contain_text("rise")
        expect(merged.locator("svg")).to_contain_text("pairs")
        row = page.get_by_role("region", name="Machines").locator("tbody tr")
        expect(row).to_have_count(1)
        expect(row).to_contain_text("cost of an event")
        merged.get_by_label("Search names").fill("ris")
        expect(merged.locator("svg")).not_to_contain_text("pairs")
        row.get_by_role("link", name="pairs").click()
        expect(page).to_have_url(f"{address}/subscriptions/pairs")
        page.get_by_role("link", name="All subscriptions").click()
        expect(page.get_by_role("row", name="pairs")).to_contain_text("cost of an event")


@pytest.mark.verify
def test_runs_that_wait_are_listed(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    with Client(broker.address) as client, page_of(chromium, f"{address}/subscriptions/pairs") as page:
        expect(page.locator(".facts")).to_contain_text("results")
        client.publish("Stock", {"name": "GOOG", "price": 500.0}, time=2_000)
        waiting = page.get_by_role("region", name="Waiting runs")
        expect(waiting.locator("tbody tr").first).to_be_visible()


def test_a_page_goes_on_when_the_broker_has_begun_anew(place: tuple[Path, int], chromium: Browser) -> None:
    own = place[0], free_port()
    with broker_process(configuration(own)) as first:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{own[1]}/")
        expect(page.locator("#status")).to_contain_text("up ")
        first.process.kill()
        first.process.wait(30)
    expect(page.locator("#status")).to_contain_text("does not answer")
    with broker_process(configuration(own)):
        expect(page.locator("#status")).to_contain_text("up ")
    context.close()


@pytest.mark.verify
def test_a_token_is_asked_for_and_ends_with_signing_out(place: tuple[Path, int], chromium: Browser) -> None:
    folder, port = place[0], free_port()
    (folder / "tokens").write_text(f"anybody {digest('a long secret')}\n")
    with broker_process(configuration((folder, port), f'tokens = "{folder}/tokens"\n')):
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/subscriptions")
        page.get_by_label("Your token").fill("a wrong secret")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("nobody has this token")
        assert violations(page) == []
        page.get_by_label("Your token").fill("a long secret")
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="pairs")).to_be_visible()
        assert "a long secret" not in page.content()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Your token")).to_be_visible()
        context.close()


@pytest.mark.verify
def test_pages_are_without_violations(broker: BrokerProcess, chromium: Browser, address: str) -> None:
    looked_through(chromium, address, NARROW, False)


@pytest.mark.verify
@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("dark", [False, True])
def test_pages_of_all_sizes_are_without_violations(
    broker: BrokerProcess, chromium: Browser, address: str, size: tuple[int, int], dark: bool
) -> None:
    looked_through(chromium, address, size, dark)


def looked_through(chromium: Browser, address: str, size: tuple[int, int], dark: bool) -> None:
    """Every page, with axe."""
    for path in PAGES:
        with page_of(chromium, address + path, size, dark) as page:
            settled(page)
            assert (path, violations(page), overflow(page)) == (path, [], 0)
            if path == "/streams":
                page.get_by_role("button", name="Tail Stock").click()
                expect(page.get_by_label("Filter")).to_be_visible()
                page.wait_for_timeout(1_500)
                assert (path, violations(page), overflow(page)) == (path, [], 0)


def settled(page: Page) -> None:
    """Wait until a page shows what it has asked for."""
    expect(page.locator("main .card").first).to_be_visible()
    page.wait_for_timeout(2_500)
